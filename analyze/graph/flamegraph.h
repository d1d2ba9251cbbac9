/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flame graphs: converts stacks to one self-contained SVG. Independent of archives and SQL: a tree
 * of frames is built by adding stacks, then drawn. A flamegraph copies everything it is given.
 */
#ifndef ANALYZE_FLAMEGRAPH_H
#define ANALYZE_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/profile/profile.h"

struct flamegraph;

/*
 * FLAME_INVERTED: the tree starts at the leaves, with callers below. Leading PROFILE_GROUP frames
 * stay first. 0 or -ENOMEM.
 */
enum { FLAME_INVERTED = 1 };
int flamegraph__new(struct flamegraph **f, unsigned flags);
void flamegraph__free(struct flamegraph *f);

/*
 * Adds one stack, root first. `weight` is in the graph's unit. `weight2`: weight in the other
 * capture of a diff, else 0. Frames with the same name, kind and binary are merged. 0 or -ENOMEM.
 */
int flamegraph__add(struct flamegraph *f, const struct profile_stack *stack, uint64_t weight,
		    uint64_t weight2);

struct flame_style {
	const char *title, *subtitle; /* subtitle: host, time span, losses */
	const char *unit; /* "samples" (also "count"), "ns" (shown as time), "bytes" (as size),
			     "faults", ... */
	bool diff;	  /* weight: old capture, weight2: new; red: increased, blue: decreased */
	bool full_names;  /* full names in boxes; otherwise short ones (name_short.h) */
	bool embedded;	  /* for an HTML page that includes flamegraph_css and flamegraph_js */
};

int flamegraph__write_svg(const struct flamegraph *f, const struct flame_style *style, FILE *out);
/* Writes "root;...;leaf N" lines sorted by name. `;` and control bytes in names are replaced. */
int flamegraph__write_folded(const struct flamegraph *f, FILE *out);

/* Sum of the first (0) or second (1) weights. */
uint64_t flamegraph__weight(const struct flamegraph *f, int which);
/* Scales these weights so that their sum is `total`. */
void flamegraph__scale(struct flamegraph *f, int which, uint64_t total);

/* Sums of a function over all stacks. In total, a recursive function counts once per stack. */
struct flame_function {
	const char *name, *binary; /* valid as long as the graph */
	enum profile_kind kind;
	uint32_t id; /* of the function in the graph */
	uint64_t self[2], total[2];
};
/* Malloc'ed list. The graph must not be inverted. 0 or -ENOMEM. */
int flamegraph__functions(const struct flamegraph *f, struct flame_function **list, size_t *cnt);

extern const char flamegraph_css[], flamegraph_js[];

#endif
