/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps locations to frames: the code at each location, with inlined calls expanded and functions
 * interned. */
#ifndef ANALYZE_FRAMES_H
#define ANALYZE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/load/binaries.h"
#include "analyze/load/captures.h"
#include "analyze/load/stacks.h"
#include "analyze/base/strings.h"
#include "analyze/symbol/symbol.h"

enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_JIT };
extern const char *const frame_kind_names[];

struct frame {
	uint64_t address;
	uint32_t function, binary, file, line; /* file: string */
	uint8_t kind;			       /* enum frame_kind */
	bool inlined;			       /* inlined into the next frame */
};

struct function {
	uint32_t name, file, binary, line; /* name, file: strings */
	uint32_t linkage;		   /* string: the mangled name; 0: not mangled */
};

struct frames;

int frames__new(struct frames **f, struct strings *strings, struct binaries *binaries);
void frames__free(struct frames *f);

/* Sets first_frame and frame_cnt of every location, and the symbol status of each binary. To be
 * called once. */
int frames__resolve(struct frames *f, struct stacks *stacks, const struct captures *captures,
		    const struct symbolizer_opts *opts);

size_t frames__cnt(const struct frames *f);
const struct frame *frames__get(const struct frames *f, uint32_t frame);
size_t frames__function_cnt(const struct frames *f); /* numbered from 0 */
const struct function *frames__function(const struct frames *f, uint32_t function);

#endif
