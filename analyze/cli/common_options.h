/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that several commands share. A command's own struct begins with struct common_opts. */
#ifndef ANALYZE_OPTIONS_H
#define ANALYZE_OPTIONS_H

#include "format/option.h"
#include "analyze/l7/engine/l7.h"
#include "analyze/load/load.h"

#define MAX_DEBUG_DIRS 15
#define MAX_THRIFT_ARGS 32

struct common_opts {
	struct load_opts load;
	const char *debug_dirs[MAX_DEBUG_DIRS + 2]; /* /usr/lib/debug comes last */
	size_t debug_dir_cnt;
	const char *cache_dir;
	bool no_cache;
	char *default_cache_dir;		    /* owned */
	struct services *services;		    /* owned; load.traffic refers to it */
	struct l7_arg thrift_args[MAX_THRIFT_ARGS]; /* strings owned; likewise */
	size_t thrift_arg_cnt;
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
	OPTION_SERVICES,
	OPTION_PROTOCOL,
	OPTION_METHOD,
	OPTION_TARGET,
	OPTION_STATUS,
	OPTION_SLOWER,
	OPTION_ERRORS,
	OPTION_PEER,
	OPTION_SERVICE,
	OPTION_ROLE,
	OPTION_CONNECTION,
	OPTION_THRIFT_ARG,
};

int common_option_set(void *ctx, const struct option_def *def, const char *arg);

/* For the end of an option table, before {0}. */
#define SYMBOL_OPTIONS                                                                             \
	SERVICES_OPTION, {.help = "Symbols"},                                                      \
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

#define TIME_OPTIONS                                                                               \
	{"from",                                                                                   \
	 0,                                                                                        \
	 ARG_REQUIRED,                                                                             \
	 "TIME",                                                                                   \
	 "only from here: 10s after the start, 15:04:05, or 2025-12-31 15:04:05",                  \
	 common_option_set,                                                                        \
	 OPTION_FROM},                                                                             \
	{                                                                                          \
		"to", 0, ARG_REQUIRED, "TIME", "only until here, likewise", common_option_set,     \
			OPTION_TO                                                                  \
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
		TIME_OPTIONS

#define SERVICES_OPTION                                                                            \
	{                                                                                          \
		"services", 0, ARG_REQUIRED, "FILE",                                               \
			"names of addresses, a CSV file: "                                         \
			"cidr-or-ip[:port],service[,region[,cluster]]",                            \
			common_option_set, OPTION_SERVICES                                         \
	}

#define THRIFT_OPTION                                                                              \
	{                                                                                          \
		"thrift-arg", 0, ARG_REQUIRED, "METHOD:PATH=NAME",                                 \
			"show an argument of Thrift calls in detail: get:1.3=user is field 3 of "  \
			"argument 1 of get; lists by index, maps by key (repeatable)",             \
			common_option_set, OPTION_THRIFT_ARG                                       \
	}

#define MESSAGE_OPTIONS                                                                            \
	{.help = "Which messages (lists are comma-separated patterns of * and ?)"},                \
		{"protocol",	 0, ARG_REQUIRED, "LIST", "of these protocols", common_option_set, \
		 OPTION_PROTOCOL},                                                                 \
		{"method",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with these methods or commands",                                                 \
		 common_option_set,                                                                \
		 OPTION_METHOD},                                                                   \
		{"target",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "of these paths, keys, statements, topics",                                       \
		 common_option_set,                                                                \
		 OPTION_TARGET},                                                                   \
		{"status",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "answered so: 404, 5xx, ERR",                                                     \
		 common_option_set,                                                                \
		 OPTION_STATUS},                                                                   \
		{"errors",     0, ARG_NONE, NULL, "only those that failed", common_option_set,     \
		 OPTION_ERRORS},                                                                   \
		{"slower",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "TIME",                                                                           \
		 "only those that took at least so long: 10ms",                                    \
		 common_option_set,                                                                \
		 OPTION_SLOWER},                                                                   \
		{"role",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "ROLE",                                                                           \
		 "client: requests made; server: requests served",                                 \
		 common_option_set,                                                                \
		 OPTION_ROLE},                                                                     \
		{"service",                                                                        \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "of these recorded services; what stands before a slash may be left out",         \
		 common_option_set,                                                                \
		 OPTION_SERVICE},                                                                  \
		{"peer",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with these others, by name (likewise) or address",                               \
		 common_option_set,                                                                \
		 OPTION_PEER},                                                                     \
		{"connection",                                                                     \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "N",                                                                              \
		 "of this connection alone",                                                       \
		 common_option_set,                                                                \
		 OPTION_CONNECTION},                                                               \
		TIME_OPTIONS

/* Fills in what was left to defaults; after parsing. */
int common_opts_finish(struct common_opts *o);
void common_opts_fini(struct common_opts *o);

/* An exit code for cli_parse's and other functions' results. */
int exit_code(int err);

#endif
