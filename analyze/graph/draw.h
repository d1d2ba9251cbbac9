/* SPDX-License-Identifier: BSD-2-Clause */
/* Feeds the loaded stacks to a profile writer (profile.h): flame graph, folded lines, pprof. */
#ifndef ANALYZE_DRAW_H
#define ANALYZE_DRAW_H

#include "format/option.h"
#include "analyze/load/analysis.h"
#include "analyze/profile/profile.h"

enum draw_group { DRAW_BY_PROCESS = 1, DRAW_BY_THREAD, DRAW_BY_CGROUP };
#define DRAW_MAX_GROUPS 4

struct draw_opts {
	enum draw_group by[DRAW_MAX_GROUPS]; /* outermost first; 0 ends */
	uint64_t kinds; /* bit per enum sample_kind; 0: what was loaded, as draw_write finds best */
	bool inverted;
	const char *title; /* NULL: says what is shown */
};

/* A comma list of thread, process, cgroup; for an option's `set`. */
int draw_parse_by(struct draw_opts *o, const struct option_def *def, const char *arg);

/* The tables and the model this needs; before load__run. */
int draw_prepare(struct load *l, const struct draw_opts *o);

/* After load__run, as often as there are formats. 0 or negative errno, reported. */
int draw_write(const struct analysis *a, const struct draw_opts *o, const struct profile_sink *sink,
	       FILE *out);

#endif
