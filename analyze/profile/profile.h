/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of a profile: stacks with values, fed one by one to a sink that writes some format.
 * Everything passed in is borrowed for the call only; a sink copies what it keeps.
 */
#ifndef ANALYZE_PROFILE_H
#define ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum profile_kind {
	PROFILE_USER,
	PROFILE_INLINED, /* inlined into its caller, the frame before it */
	PROFILE_KERNEL,
	PROFILE_JIT,
	PROFILE_GROUP, /* not code: a process, thread, cgroup, ... that the stack belongs to */
	PROFILE_NOTE,  /* not code: why a stack is cut, what was left out */
};

/* One level of a stack. Only `name` is required. */
struct profile_frame {
	const char *name;
	const char *binary;   /* path or "[kernel]" */
	const char *build_id; /* hex, of the binary */
	const char *file;     /* source file */
	uint32_t line;	      /* the line executing in it, or of the call; 0: not known */
	enum profile_kind kind;
	uint64_t address; /* ELF virtual; the same for a function and those inlined in it; 0: not
			     known */
};

/* Either `str` or a number with its unit ("" or NULL: none). */
struct profile_label {
	const char *key, *str;
	int64_t num;
	const char *num_unit;
};

struct profile_stack {
	const struct profile_frame
		*frames; /* root first; leading PROFILE_GROUP frames tell whose it is */
	size_t cnt;
	const uint64_t *values; /* one for each of profile_info.types */
	const struct profile_label *labels;
	size_t label_cnt;
};

struct profile_type {
	const char *name; /* "samples", "cpu", "offcpu" */
	const char *unit; /* "count", "nanoseconds", "bytes" */
};

struct profile_info {
	const char *title, *subtitle; /* subtitle: host, time span, losses */
	const struct profile_type *types;
	size_t type_cnt;
	size_t primary;	    /* the type shown where only one can be */
	int64_t started_ns; /* CLOCK_REALTIME; 0: not known */
	int64_t duration_ns;
	int64_t period_ns; /* between samples of one CPU; 0: not known */
	bool inverted;	   /* graphs: from the leaves */
	bool full_names;   /* graphs: see struct flame_style */
};

/* A format; one that is more than a format embeds this and finds itself by `self`. begin() makes
 * *state, end() finishes the file and frees it, also after an error. 0 or -errno. */
struct profile_sink {
	const char *name;   /* "pprof" */
	int (*begin)(const struct profile_sink *self, void **state, const struct profile_info *info,
		     FILE *out);
	int (*stack)(void *state, const struct profile_stack *stack);
	int (*end)(void *state);
};

extern const struct profile_sink profile_pprof, profile_folded, profile_svg, profile_speedscope;

/* An SVG for an HTML page (html.h), which has its style and script. */
extern const struct profile_sink profile_svg_inline;

#endif
