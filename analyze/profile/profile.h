/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profile output: stacks with values, passed one by one to a sink that writes a format. All
 * arguments are borrowed for the duration of the call; a sink copies what it needs later.
 */
#ifndef ANALYZE_PROFILE_H
#define ANALYZE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum profile_kind {
	PROFILE_USER,
	PROFILE_INLINED, /* inlined into the previous frame, its caller */
	PROFILE_KERNEL,
	PROFILE_JIT,
	PROFILE_GROUP, /* not code: group of the stack, such as process, thread, cgroup */
	PROFILE_NOTE,  /* not code: why a stack is truncated, what was omitted */
};

/* One level of a stack. Only `name` is required. */
struct profile_frame {
	const char *name;
	const char *system_name; /* mangled; NULL: as name */
	const char *binary;	 /* path or "[kernel]" */
	const char *build_id;	 /* hex, of the binary */
	const char *file;	 /* source file */
	uint32_t line;		 /* executing line, or line of the call; 0: not known */
	enum profile_kind kind;
	uint64_t address; /* ELF virtual; same for a function and its inlined calls; 0: not */
};

/* Either `str`, or a number with a unit ("" or NULL: none). */
struct profile_label {
	const char *key, *str;
	int64_t num;
	const char *num_unit;
};

struct profile_stack {
	const struct profile_frame *frames; /* root first; may begin with PROFILE_GROUP frames */
	size_t cnt;
	size_t same; /* leading frames that are those of the stack before; 0 is always right */
	const uint64_t *values; /* one per type in profile_info.types */
	size_t primary;		/* of values, the one to be shown if only one can be */
	uint32_t part;		/* PROFILE_PARTS: of the capture */
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
	size_t primary;	    /* of types, the one shown if only one can be */
	int64_t started_ns; /* CLOCK_REALTIME; 0: not known */
	int64_t duration_ns;
	int64_t period_ns; /* between samples on one CPU; 0: not known */
	bool inverted;	   /* graphs: start at the leaves */
	bool full_names;   /* graphs: see struct flame_style */
};

/* What a sink gets instead of one value per stack and kind. */
enum profile_want {
	PROFILE_KINDS = 1,  /* all kinds, each with types of its own; else kinds are groups */
	PROFILE_LABELS = 2, /* threads as labels; else as groups, if there are several programs */
	PROFILE_TIMES = 4,  /* stacks of a kind by time; else aggregated */
	PROFILE_PARTS = 8,  /* stacks by part of the capture */
};
enum { PROFILE_PART_CNT = 16 };

/* An output format. Extended sinks embed this struct and find themselves by `self`. begin()
 * allocates *state. end() finishes the file and frees the state, also after an error. 0 or negative
 * errno. */
struct profile_sink {
	const char *name; /* "pprof" */
	unsigned wants;	  /* enum profile_want */
	int (*begin)(const struct profile_sink *self, void **state, const struct profile_info *info,
		     FILE *out);
	int (*stack)(void *state, const struct profile_stack *stack);
	int (*end)(void *state);
};

extern const struct profile_sink profile_pprof, profile_folded, profile_svg, profile_speedscope,
	profile_tree;

/* An SVG for an HTML page (html.h), which provides style and script. */
extern const struct profile_sink profile_svg_inline;

#endif
