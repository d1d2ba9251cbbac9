/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flame graphs: stacks in, one self-contained SVG out. Knows nothing of archives or SQL: a tree of frames is built
 * by adding stacks, then drawn. Also the writers that need nothing but that tree (folded) live beside it.
 */
#ifndef ANALYZE_FLAMEGRAPH_H
#define ANALYZE_FLAMEGRAPH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum flame_kind { FLAME_USER, FLAME_INLINED, FLAME_KERNEL, FLAME_JIT, FLAME_GROUP /* thread, process, ... */ };

/* One level of a stack. Strings are copied once (interned). */
struct flame_frame {
	const char *name;
	const char *detail; /* binary, file:line for the tooltip; may be NULL */
	enum flame_kind kind;
};

struct flamegraph;

int flamegraph__new(struct flamegraph **f);
void flamegraph__free(struct flamegraph *f);

/* Frames root first. `weight` counts in the graph's unit; `weight2` is the other capture's in a diff (else 0). */
int flamegraph__add(struct flamegraph *f, const struct flame_frame *frames, size_t cnt, uint64_t weight, uint64_t weight2);

struct flame_style {
	const char *title, *subtitle; /* subtitle: host, time span, losses */
	const char *unit;	      /* "samples", "ns" (shown as time), "bytes" (shown as size) */
	bool inverted;		      /* icicle from leaves: callers below */
	bool diff;		      /* colour by weight2 - weight */
	unsigned width;		      /* 0: 1200, the SVG scales anyway */
};

int flamegraph__write_svg(const struct flamegraph *f, const struct flame_style *style, FILE *out);
/* "root;...;leaf N" lines, sorted; `;` and newlines in names are replaced. */
int flamegraph__write_folded(const struct flamegraph *f, FILE *out);

#endif
