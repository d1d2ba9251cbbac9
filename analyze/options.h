/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that several commands share. A command's own struct begins with struct common_opts. */
#ifndef ANALYZE_OPTIONS_H
#define ANALYZE_OPTIONS_H

#include "../format/option.h"
#include "load.h"

#define MAX_DEBUG_DIRS 15

struct common_opts {
	struct load_opts load;
	const char *debug_dirs[MAX_DEBUG_DIRS + 2]; /* /usr/lib/debug comes last */
	size_t debug_dir_cnt;
	const char *cache_dir;
	bool no_cache;
	char *default_cache_dir; /* owned */
};

enum common_option {
	OPTION_DEBUG_DIR,
	OPTION_DEBUGINFOD,
	OPTION_NO_INLINES,
	OPTION_CACHE_DIR,
	OPTION_NO_CACHE,
	OPTION_JOBS,
	OPTION_KIND,
	OPTION_FROM,
	OPTION_TO,
};

int common_option_set(void *ctx, const struct option_def *def, const char *arg);

/* For the end of an option table, before {0}. */
#define SYMBOL_OPTIONS                                                                             \
	{.help = "Symbols"},                                                                       \
		{"debug-dir",                                                                      \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "DIR",                                                                            \
		 "more debug files, laid out like /usr/lib/debug (repeatable)",                    \
		 common_option_set,                                                                \
		 OPTION_DEBUG_DIR},                                                                \
		{"debuginfod",                                                                     \
		 0,                                                                                \
		 ARG_NONE,                                                                         \
		 NULL,                                                                             \
		 "ask the servers of DEBUGINFOD_URLS for what is missing",                         \
		 common_option_set,                                                                \
		 OPTION_DEBUGINFOD},                                                               \
		{"no-inlines",                                                                     \
		 0,                                                                                \
		 ARG_NONE,                                                                         \
		 NULL,                                                                             \
		 "do not expand inlined calls",                                                    \
		 common_option_set,                                                                \
		 OPTION_NO_INLINES},                                                               \
		{"cache-dir",                                                                      \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "DIR",                                                                            \
		 "where found symbols are kept (default ~/.cache/obana/symbols)",                  \
		 common_option_set,                                                                \
		 OPTION_CACHE_DIR},                                                                \
		{"no-cache",                                                                       \
		 0,                                                                                \
		 ARG_NONE,                                                                         \
		 NULL,                                                                             \
		 "neither read nor keep found symbols",                                            \
		 common_option_set,                                                                \
		 OPTION_NO_CACHE},                                                                 \
	{                                                                                          \
		"jobs", 'j', ARG_REQUIRED, "N", "threads (default: all CPUs)", common_option_set,  \
			OPTION_JOBS                                                                \
	}

#define SAMPLE_KIND_TEXT_(name, number) " " #name
#define FILTER_OPTIONS                                                                             \
	{"kind",                                                                                   \
	 0,                                                                                        \
	 ARG_REQUIRED,                                                                             \
	 "KIND[,KIND]",                                                                            \
	 "only samples of these kinds:" SAMPLE_KINDS(SAMPLE_KIND_TEXT_),                           \
	 common_option_set,                                                                        \
	 OPTION_KIND},                                                                             \
		{"from",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "TIME",                                                                           \
		 "only from here: 10s after the start, 15:04:05, or 2025-12-31 15:04:05",          \
		 common_option_set,                                                                \
		 OPTION_FROM},                                                                     \
	{                                                                                          \
		"to", 0, ARG_REQUIRED, "TIME", "only until here, likewise", common_option_set,     \
			OPTION_TO                                                                  \
	}

/* Fills in what was left to defaults; after parsing. */
int common_opts_finish(struct common_opts *o);
void common_opts_fini(struct common_opts *o);

/* An exit code for cli_parse's and other functions' results. */
int exit_code(int err);

#endif
