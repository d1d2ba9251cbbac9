// SPDX-License-Identifier: BSD-2-Clause
/* runs: 1000 */
// Hostile names, kinds, weights and shapes through every profile sink. Input: records of one
// control byte, then a name up to the next zero; bit 7 of the control byte ends the stack.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cli/export.h"
#include "analyze/graph/diff.h"

#define MAX_FRAMES 64

static const struct profile_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};

// One frame; returns the bytes it took.
static size_t take_frame(const char *p, size_t len, struct profile_frame *f)
{
	const char *end = memchr(p + 1, 0, len - 1);
	unsigned char control = p[0];

	*f = (struct profile_frame){
		.name = p + 1,
		.binary = control & 8	 ? p + 1
			  : control & 16 ? "/a/b"
					 : NULL,
		.file = control & 32 ? "f.c" : NULL,
		.line = control & 64 ? UINT32_MAX : control,
		.kind = control % 6,
		.address = control & 2 ? UINT64_MAX : control,
	};
	return end + 1 - p;
}

static void feed(const struct profile_sink *sink, const char *p, size_t len, FILE *out,
		 bool inverted)
{
	const struct profile_info info = {.title = p,
					  .subtitle = p,
					  .types = types,
					  .type_cnt = 2,
					  .primary = 1,
					  .inverted = inverted,
					  .period_ns = 1};
	struct profile_frame frames[MAX_FRAMES];
	size_t cnt = 0;
	void *state;

	assert(!sink->begin(sink, &state, &info, out));
	while (len > 1) {
		bool last = *p & 0x80 || cnt == MAX_FRAMES - 1;
		size_t took = take_frame(p, len, &frames[cnt++]);

		if (last) {
			const uint64_t values[] = {1, (uint64_t)(unsigned char)*p << (p[1] & 63)};
			const struct profile_label label = {.key = "k", .str = frames[0].name};
			const struct profile_stack stack = {.frames = frames,
							    .cnt = cnt,
							    .values = values,
							    .labels = &label,
							    .label_cnt = 1};

			assert(!sink->stack(state, &stack));
			cnt = 0;
		}
		p += took;
		len -= took;
	}
	assert(!sink->end(state));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct flamegraph *f;
	struct diff_parts *parts;
	sqlite3 *db;
	struct flame_style style = {.title = "t", .diff = true, .embedded = true};
	char *text = malloc(size + 2);

	if (!null)
		null = fopen("/dev/null", "w");
	assert(text && null);
	memcpy(text, data, size);
	text[size] = text[size + 1] = 0; // every name ends
	for (size_t i = 0; i < EXPORT_CNT; i++)
		if (exporters[i]->sink)
			feed(exporters[i]->sink, text, size + 2, null, size & 1);
	assert(!flamegraph__new(&f, 0) && !diff_parts__new(&parts));
	for (int k = 0; k < 2; k++) {
		struct diff_side side;

		diff_side_init(&side, f, parts, k);
		feed(&side.sink, text + (k ? 0 : size / 2), size + 2 - (k ? 0 : size / 2), null,
		     false);
	}
	diff_normalize(f);
	assert(!sqlite3_open(":memory:", &db) && !diff_store(f, parts, false, db));
	sqlite3_close(db);
	assert(!flamegraph__write_svg(f, &style, null));
	diff_parts__free(parts);
	flamegraph__free(f);
	free(text);
	return 0;
}
