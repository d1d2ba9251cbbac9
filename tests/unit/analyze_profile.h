/* SPDX-License-Identifier: BSD-2-Clause */
/* A small profile used by the tests of all profile sinks. */
#ifndef TESTS_ANALYZE_PROFILE_H
#define TESTS_ANALYZE_PROFILE_H

#include <assert.h>

#include "analyze/profile/profile.h"

static inline int feed_profile(const struct profile_sink *sink, FILE *out)
{
	static const struct profile_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
	static const struct profile_info info = {.title = "demo \"quoted\"",
						 .subtitle = "host, 10 s",
						 .types = types,
						 .type_cnt = 2,
						 .primary = 1,
						 .started_ns = 1700000000000000000,
						 .duration_ns = 10000000000,
						 .period_ns = 10101010};
#define MAIN                                                                                       \
	{                                                                                          \
		.name = "main", .binary = "/usr/bin/demo", .build_id = "abcdef0123",               \
		.file = "/src/demo.cc", .line = 20, .address = 0x1234                              \
	}
#define EVAL                                                                                       \
	{                                                                                          \
		.name = "eval(int)", .system_name = "_Z4evali", .binary = "/usr/bin/demo",         \
		.build_id = "abcdef0123", .file = "/src/eval.cc", .line = 31, .address = 0x2000    \
	}
#define STEP                                                                                       \
	{                                                                                          \
		.name = "step", .binary = "/usr/bin/demo", .build_id = "abcdef0123",               \
		.file = "/src/eval.h", .line = 5, .address = 0x2000, .kind = PROFILE_INLINED       \
	}
#define LEAF                                                                                       \
	{                                                                                          \
		.name = "leaf", .binary = "/usr/bin/demo", .build_id = "abcdef0123",               \
		.file = "/src/eval.h", .line = 9, .address = 0x2000, .kind = PROFILE_INLINED       \
	}
#define WRITE                                                                                      \
	{                                                                                          \
		.name = "vfs_write", .binary = "[kernel]", .address = 0xffffffff81234567,          \
		.kind = PROFILE_KERNEL                                                             \
	}
#define JIT                                                                                        \
	{                                                                                          \
		.name = "bad \xff\x01 \"name\" ;", .kind = PROFILE_JIT, .address = 0x7f0000001000  \
	}
	static const struct profile_frame inlined[] = {MAIN, EVAL, STEP, LEAF},
					  kernel[] = {MAIN, WRITE}, jit[] = {MAIN, JIT};
	const struct profile_label labels[] = {{.key = "thread", .str = "worker"},
					       {.key = "tid", .num = 4711}};
	const uint64_t values[][2] = {{3, 30000000}, {1, 10000000}, {2, 20000000}, {1, 5000000}};
	const struct profile_stack stacks[] = {
		{.frames = inlined,
		 .cnt = 4,
		 .values = values[0],
		 .primary = 1,
		 .labels = labels,
		 .label_cnt = 2},
		{.frames = kernel, .cnt = 2, .values = values[1], .primary = 1},
		{.frames = jit, .cnt = 2, .values = values[2], .primary = 1},
		{.frames = inlined, .cnt = 4, .values = values[3], .primary = 1},
	};
	void *state;

	assert(!sink->begin(sink, &state, &info, out));
	for (size_t i = 0; i < sizeof(stacks) / sizeof(*stacks); i++) {
		int err = sink->stack(state, &stacks[i]);

		if (err) {
			sink->end(state);
			return err;
		}
	}
	return sink->end(state);
}

#endif
