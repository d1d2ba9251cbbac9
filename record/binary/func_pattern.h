/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Patterns for names of functions: fnmatch(3) on the symbol, with and without what compilers append
 * for adapted copies (.constprop.0). Patterns are also compared with the C++ or Rust name that the
 * symbol stands for, as a programmer writes it: with or without parameters and template arguments.
 * Those without "::" mean functions of the global namespace then.
 *
 *	app::Server::*          int app::Server::handle<int>(std::vector<int> const&)
 *	dispatch                dispatch(int, long)
 *	std::sync::*::recv      std::sync::mpmc::list::Channel<T>::recv
 */
#ifndef RECORD_FUNC_PATTERN_H
#define RECORD_FUNC_PATTERN_H

#include <stdbool.h>

struct func_pattern {
	const char *text; /* borrowed */
	bool exact;	  /* without wildcards */
	bool scoped;	  /* with "::" */
	bool typed;	  /* with parameters or template arguments; or of an operator */
	char part[64];	  /* the last identifier, which mangled names contain, too; "": not known */
};

void func_pattern_init(struct func_pattern *p, const char *text);
bool func_pattern_matches(const struct func_pattern *p, const char *symbol);

#endif
