/* SPDX-License-Identifier: BSD-2-Clause */
/* Options shared by commands. The option struct of a command begins with this one. */
#ifndef ANALYZE_COMMON_OPTS_H
#define ANALYZE_COMMON_OPTS_H

#include "analyze/l7/engine/l7.h"
#include "analyze/load/load.h"

#define MAX_DEBUG_DIRS 15
#define MAX_THRIFT_ARGS 32

struct common_opts {
	struct load_opts load;
	const char *debug_dirs[MAX_DEBUG_DIRS + 2]; /* /usr/lib/debug is last */
	size_t debug_dir_cnt;
	const char *cache_dir;
	bool no_cache;
	char *default_cache_dir;		    /* owned */
	struct services *services;		    /* owned; load.traffic refers to it */
	struct l7_arg thrift_args[MAX_THRIFT_ARGS]; /* strings owned, likewise */
	size_t thrift_arg_cnt;
	const char *by_names[MAX_THRIFT_ARGS]; /* of --by thrift:NAME */
	size_t by_lens[MAX_THRIFT_ARGS], by_cnt;
};

#endif
