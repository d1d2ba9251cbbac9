/* SPDX-License-Identifier: BSD-2-Clause */
/* Passes the loaded stacks to a profile writer (profile.h): flame graph, folded lines, pprof. */
#ifndef ANALYZE_DRAW_H
#define ANALYZE_DRAW_H

#include "format/option.h"
#include "analyze/load/analysis.h"
#include "analyze/profile/profile.h"

enum draw_group {
	DRAW_BY_PROGRAM = 1,
	DRAW_BY_PROCESS,
	DRAW_BY_THREAD,
	DRAW_BY_CGROUP,
	DRAW_BY_NONE /* by itself */
};
#define DRAW_MAX_GROUPS 4

struct draw_opts {
	enum draw_group by[DRAW_MAX_GROUPS]; /* outermost first; none: by process if there are
					      * several programs */
	uint64_t kinds;			     /* bit mask of kinds; 0: chosen by draw_write */
	bool inverted;
	const char *title; /* NULL: generated */
};

extern const char draw_by_help[], draw_by_values[];
/* Parses a comma-separated list of program, process, thread, cgroup, or none; for an option's
 * `set`. */
int draw_parse_by(struct draw_opts *o, const struct option_def *def, const char *arg);

/* Adds the tables and the model that a sink needs. Call before load__run. */
int draw_prepare(struct load *l, const struct draw_opts *o, const struct profile_sink *sink);

/* Sets o->by to what it is by default for these samples, so that other captures are grouped alike.
 * 0 or -ENOMEM. */
int draw_choose_groups(const struct analysis *a, struct draw_opts *o,
		       const struct profile_sink *sink);

/* Call after load__run, once per format. 0 or negative errno, reported. */
int draw_write(const struct analysis *a, const struct draw_opts *o, const struct profile_sink *sink,
	       FILE *out);

#endif
