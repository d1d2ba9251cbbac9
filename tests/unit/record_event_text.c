/* SPDX-License-Identifier: BSD-2-Clause */
/* The strings of an event: each kind of text by the word in its record's field. */
#include <string.h>

#include "record/intake/event_text.h"
#include "check.h"

static void text(enum rec_text how, const char *sent, size_t len, const char *wanted)
{
	struct event_texts t = {0};
	struct span got = event_text(&t, how, (struct span){sent, len});

	CHECK(got.len == strlen(wanted) && !memcmp(got.p, wanted, got.len), "'%.*s' for '%s'",
	      (int)got.len, got.p, wanted);
}
#define TEXT(how, sent, wanted) text(how, sent, sizeof(sent) - 1, wanted)

static void test_room(void)
{
	static char sent[EVENT_TEXT_MAX];
	struct event_texts t = {0};
	struct span a, b;

	memset(sent, 'x', sizeof(sent));
	a = event_text(&t, REC_TEXT_command, (struct span){sent, 5000});
	b = event_text(&t, REC_TEXT_command, (struct span){sent, sizeof(sent) - 5000});
	CHECK(a.len == 5000 && b.len == sizeof(sent) - 5000 && b.p == a.p + a.len);
	CHECK(!event_text(&t, REC_TEXT_command, (struct span){sent, 1}).len);
}

int main(void)
{
	TEXT(REC_TEXT_str, "a --password b", "a --password b");
	TEXT(REC_TEXT_command, "a\0--password\0b c\0\0", "a --password ***");
	TEXT(REC_TEXT_command, "", "");
	TEXT(REC_TEXT_settings, "a=1,password=b", "a=1,password=*");
	TEXT(REC_TEXT_settings, "password\0b,c=d", "password=*****");
	test_room();
	return failed;
}
