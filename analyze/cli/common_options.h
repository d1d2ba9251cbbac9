/* SPDX-License-Identifier: BSD-2-Clause */
/* Options shared by several commands. A command's own struct must begin with struct common_opts. */
#ifndef ANALYZE_OPTIONS_H
#define ANALYZE_OPTIONS_H

#include "format/option.h"
#include "analyze/load/common_opts.h"

enum common_option {
	OPTION_DEBUG_DIR,
	OPTION_DEBUGINFOD,
	OPTION_NO_INLINES,
	OPTION_CACHE_DIR,
	OPTION_NO_CACHE,
	OPTION_JOBS,
	OPTION_NAMES,
	OPTION_KIND,
	OPTION_WAKERS,
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
	OPTION_BY,
	OPTION_DETAIL,
	OPTION_PID,
	OPTION_COMM,
	OPTION_THREAD,
	OPTION_EXE,
	OPTION_CGROUP,
	OPTION_FOCUS,
	OPTION_IGNORE,
	OPTION_CALLERS,
	OPTION_CALLEES,
};

int common_option_set(void *ctx, const struct option_def *def, const char *arg);

/* To be used at the end of an option table, before {0}. */
#define SYMBOL_OPTIONS                                                                             \
	SERVICES_OPTION, {.help = "Symbols"},                                                      \
		{"debug-dir",                                                                      \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "DIR",                                                                            \
		 "search debug files here, laid out like /usr/lib/debug; repeatable",              \
		 common_option_set,                                                                \
		 OPTION_DEBUG_DIR},                                                                \
		{"debuginfod",                                                                     \
		 0,                                                                                \
		 ARG_NONE,                                                                         \
		 NULL,                                                                             \
		 "query the servers of DEBUGINFOD_URLS for missing debug files",                   \
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
		 "cache symbols here (default ~/.cache/obana/symbols)",                            \
		 common_option_set,                                                                \
		 OPTION_CACHE_DIR},                                                                \
		{"no-cache",                                                                       \
		 0,                                                                                \
		 ARG_NONE,                                                                         \
		 NULL,                                                                             \
		 "do not use the symbol cache",                                                    \
		 common_option_set,                                                                \
		 OPTION_NO_CACHE},                                                                 \
		{"names",                                                                          \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "short|full",                                                                     \
		 "names of functions in text and drawings (default: short on a terminal and in "   \
		 "drawings; exports and SQL are always full)",                                     \
		 common_option_set,                                                                \
		 OPTION_NAMES,                                                                     \
		 .values = "short, full"},                                                         \
	{                                                                                          \
		"jobs", 'j', ARG_REQUIRED, "N", "number of threads (default: all CPUs)",           \
			common_option_set, OPTION_JOBS                                             \
	}

#define TIME_OPTIONS                                                                               \
	{"from",                                                                                   \
	 0,                                                                                        \
	 ARG_REQUIRED,                                                                             \
	 "TIME",                                                                                   \
	 "start here: 10s after the start, 15:04:05, or 2025-12-31 15:04:05",                      \
	 common_option_set,                                                                        \
	 OPTION_FROM},                                                                             \
	{                                                                                          \
		"to", 0, ARG_REQUIRED, "TIME", "end here, likewise", common_option_set, OPTION_TO  \
	}

extern const char common_kind_help[]; /* lists the known kinds */
extern const char common_kinds[], common_protocols[];
#define FILTER_OPTIONS                                                                             \
	{.help = "Samples (LIST: comma-separated, with * and ?; RE: extended regular "             \
		 "expression)"},                                                                   \
		{"kind",	   0,                                                              \
		 ARG_REQUIRED,	   "KIND[,KIND]",                                                  \
		 common_kind_help, common_option_set,                                              \
		 OPTION_KIND,	   .values = common_kinds,                                         \
		 .list = true},                                                                    \
		{"pid",	    0, ARG_REQUIRED, "LIST", "only of these processes", common_option_set, \
		 OPTION_PID},                                                                      \
		{"comm",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "only of processes of these names",                                               \
		 common_option_set,                                                                \
		 OPTION_COMM},                                                                     \
		{"thread",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "only of threads of these names or ids",                                          \
		 common_option_set,                                                                \
		 OPTION_THREAD},                                                                   \
		{"exe",                                                                            \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "only of these programs, by path or file name",                                   \
		 common_option_set,                                                                \
		 OPTION_EXE},                                                                      \
		{"cgroup",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "only of these cgroups and those below",                                          \
		 common_option_set,                                                                \
		 OPTION_CGROUP},                                                                   \
		{"focus",                                                                          \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "RE",                                                                             \
		 "only stacks with a function that matches",                                       \
		 common_option_set,                                                                \
		 OPTION_FOCUS},                                                                    \
		{"ignore",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "RE",                                                                             \
		 "no stacks with a function that matches",                                         \
		 common_option_set,                                                                \
		 OPTION_IGNORE},                                                                   \
		{"callers",                                                                        \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "FUNCTION",                                                                       \
		 "of each stack only this function and its callers; * and ? as above",             \
		 common_option_set,                                                                \
		 OPTION_CALLERS},                                                                  \
		{"callees",                                                                        \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "FUNCTION",                                                                       \
		 "of each stack only this function and what it calls",                             \
		 common_option_set,                                                                \
		 OPTION_CALLEES},                                                                  \
		TIME_OPTIONS

#define WAKERS_OPTION                                                                              \
	{                                                                                          \
		"wakers", 0, ARG_NONE, NULL,                                                       \
			"off-CPU waits, each with the stack that ended it on top (recorded with "  \
			"-e offcpu,wakers)",                                                       \
			common_option_set, OPTION_WAKERS                                           \
	}

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
			"argument 1 of get; lists by index, maps by key; repeatable",              \
			common_option_set, OPTION_THRIFT_ARG                                       \
	}

/* Words of --by that tell callers of a name apart; the last one ends with a colon and a name. */
#define CALLER_KEYS "process, unit, client, thrift:"
#define BY_HELP                                                                                    \
	"tell callers of the same name apart: process (NAME(PID)), unit (systemd unit or cgroup), " \
	"client (address), thrift:NAME (value of that --thrift-arg)"
#define BY_OPTION                                                                                  \
	{                                                                                          \
		"by", 0, ARG_REQUIRED, "LIST", BY_HELP, common_option_set, OPTION_BY,              \
			.values = CALLER_KEYS, .list = true                                        \
	}
/* Takes a word of --by. -EINVAL: reported. */
struct common_opts;
int common_set_by(struct common_opts *o, const struct option_def *def, struct span word);
bool common_is_caller_key(struct span word);
/* To be called when all options are known. 0 or -EINVAL, reported. */
int common_check_by(struct common_opts *o, const char *command);

#define MESSAGE_OPTIONS                                                                            \
	{.help = "Message filters (lists are comma-separated patterns with * and ?)"},             \
		{"protocol",                                                                       \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with these protocols",                                                           \
		 common_option_set,                                                                \
		 OPTION_PROTOCOL,                                                                  \
		 .values = common_protocols,                                                       \
		 .list = true},                                                                    \
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
		 "with these paths, keys, statements, topics",                                     \
		 common_option_set,                                                                \
		 OPTION_TARGET},                                                                   \
		{"status",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with these status codes: 404, 5xx, ERR",                                         \
		 common_option_set,                                                                \
		 OPTION_STATUS},                                                                   \
		{"errors", 0, ARG_NONE, NULL, "only errors", common_option_set, OPTION_ERRORS},    \
		{"slower",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "TIME",                                                                           \
		 "with at least this latency, as in 10ms",                                         \
		 common_option_set,                                                                \
		 OPTION_SLOWER},                                                                   \
		{"role",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "ROLE",                                                                           \
		 "client: requests made; server: requests served",                                 \
		 common_option_set,                                                                \
		 OPTION_ROLE,                                                                      \
		 .values = "client, server"},                                                      \
		{"service",                                                                        \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "of these recorded services; a prefix up to a slash may be omitted",              \
		 common_option_set,                                                                \
		 OPTION_SERVICE},                                                                  \
		{"peer",                                                                           \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with these peers, by name (likewise) or address",                                \
		 common_option_set,                                                                \
		 OPTION_PEER},                                                                     \
		{"detail",                                                                         \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "LIST",                                                                           \
		 "with such a field of detail: NAME=VALUE",                                        \
		 common_option_set,                                                                \
		 OPTION_DETAIL},                                                                   \
		{"connection",                                                                     \
		 0,                                                                                \
		 ARG_REQUIRED,                                                                     \
		 "N",                                                                              \
		 "of this connection only",                                                        \
		 common_option_set,                                                                \
		 OPTION_CONNECTION},                                                               \
		TIME_OPTIONS

/* Sets defaults. Call after parsing. */
int common_opts_finish(struct common_opts *o);
void common_opts_fini(struct common_opts *o);

#endif
