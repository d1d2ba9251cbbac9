/* SPDX-License-Identifier: BSD-2-Clause */
/* What each loss affects. */
#include <string.h>

#include "analyze/load/loss_effects.h"
#include "check.h"

static const struct {
	const char *source, *cause, *affects;
} cases[] = {
	{"ring", "sample: ring buffer full", "samples"},
	{"ring", "stack without definition", "samples"},
	{"ring", "socket: ring buffer full", "traffic"},
	{"ring", "event: ring buffer full", "events"},
	{"ring", "record not understood", "all"},
	{"probe", "program was running already", "all"},
	{"l7", "ring buffer full", "traffic"}, /* of older archives */
	{"pcap", "IP fragments", "traffic"},
	{"target", "mappings not readable (CAP_SYS_PTRACE)", "symbols"},
	{"target", "process table full", "all"},
	{"target", "sample of an unknown process", "samples"},
	{"unwind table", "malformed", "symbols"},
	{"file access", "a file with symbols timed out", "symbols"},
	{"archive", "payload: not written", "traffic"},
	{"archive", "sample: not written", "samples"},
	{"archive", "open: not written", "events"},
	{"archive", "cell: not written", "counts"},
	{"archive", "process: not written", "all"},
	{"archive", "", "all"},
	{"", "", "all"},
	{"l", "", "all"},
	{"a newer source", "of something", "all"},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct strbuf text = {0};
		const char *affects =
			loss_affects(span_of(cases[i].source), span_of(cases[i].cause));

		CHECK(!strcmp(affects, cases[i].affects), "%s, %s: %s", cases[i].source,
		      cases[i].cause, affects);
		loss_text(&text, affects, 1);
		loss_text(&text, affects, 2);
		CHECK(text.p && !strncmp(text.p, "1 ", 2) && strstr(text.p, "2 "), "%s: %s",
		      affects, text.p ? text.p : "nothing");
		strbuf_fini(&text);
	}
	return failed;
}
