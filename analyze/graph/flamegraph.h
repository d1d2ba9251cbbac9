/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flame graphs: stacks in, one self-contained SVG out. Knows nothing of archives or SQL: a tree of
 * frames is built by adding stacks, then drawn. A flamegraph owns copies of all it is given.
 */
#ifndef ANALYZE_FLAMEGRAPH_H
#define ANALYZE_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/profile/profile.h"

struct flamegraph;

/*
 * FLAME_INVERTED grows the tree from the leaves, callers below; leading PROFILE_GROUP frames stay
 * first. 0 or -ENOMEM.
 */
enum { FLAME_INVERTED = 1 };
int flamegraph__new(struct flamegraph **f, unsigned flags);
void flamegraph__free(struct flamegraph *f);

/*
 * Adds one stack, frames root first. `weight` is in the graph's unit; `weight2` is the other
 * capture's in a diff, else 0. Frames are one when name, kind and binary agree. 0 or -ENOMEM.
 */
int flamegraph__add(struct flamegraph *f, const struct profile_frame *frames, size_t cnt,
		    uint64_t weight, uint64_t weight2);

struct flame_style {
	const char *title, *subtitle; /* subtitle: host, time span, losses */
	const char *unit; /* "samples" (also "count"), "ns" (shown as time), "bytes" (as size) */
	bool diff;	  /* weight is the old, weight2 the new capture's: red grew, blue shrank */
	bool full_names;  /* in boxes too; else short ones (name_short.h) there */
	bool embedded;	  /* goes into an HTML page that has flamegraph_css and flamegraph_js */
};

int flamegraph__write_svg(const struct flamegraph *f, const struct flame_style *style, FILE *out);
/* "root;...;leaf N" lines in order of names; `;` and control bytes in names are replaced. */
int flamegraph__write_folded(const struct flamegraph *f, FILE *out);

/* Sum of the first (0) or second (1) weights. */
uint64_t flamegraph__weight(const struct flamegraph *f, int which);
/* Multiplies those weights so that they add up to `total`. */
void flamegraph__scale(struct flamegraph *f, int which, uint64_t total);

/* A function over all stacks; a recursive one's total counts once a stack. */
struct flame_function {
	const char *name, *binary; /* live as long as the graph */
	enum profile_kind kind;
	uint64_t self[2], total[2];
};
/* Malloc'ed list, of a graph not inverted. 0 or -ENOMEM. */
int flamegraph__functions(const struct flamegraph *f, struct flame_function **list, size_t *cnt);

extern const char flamegraph_css[], flamegraph_js[];

#endif
