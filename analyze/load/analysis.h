/* SPDX-License-Identifier: BSD-2-Clause */
/* What every command does: parse, open the archives, load, show, close. */
#ifndef ANALYZE_ANALYSIS_H
#define ANALYZE_ANALYSIS_H

#include "analyze/load/load.h"

struct common_opts;

struct analysis {
	struct captures captures;
	struct store *store;
	struct load load;
};

/* Opens archives and an empty store (sqlite_path: as store__open). Reported on failure; negative
 * errno. */
int analysis__open(struct analysis *a, const struct common_opts *opts, char *const *paths,
		   size_t cnt, const char *sqlite_path);
/* Frees all; an exit code: EXIT_PARTIAL when the work succeeded on archives that are cut or
 * damaged. */
int analysis__close(struct analysis *a, int err);

/* An exit code for a function's result: 0 or more, or negative errno. */
int exit_code(int err);

/* "host a, 60 s, 2 losses": what a picture's subtitle says of all captures. Malloc'ed. */
char *analysis__subtitle(const struct analysis *a);

/* One line on stderr for each archive that is cut or damaged. */
void analysis__warn(const struct analysis *a);

#endif
