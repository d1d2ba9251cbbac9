/* SPDX-License-Identifier: BSD-2-Clause */
/* The strings of an event: each kind of text by the word in its record's field. */
#include <string.h>
#include <sys/socket.h>

#include "record/intake/event_text.h"
#include "check.h"

static void text(enum rec_text how, const char *sent, size_t len, const char *wanted)
{
	struct event_texts t = {0};
	struct span got = event_text(&t, how, (struct span){sent, len});

	CHECK(got.len == strlen(wanted) && !memcmp(got.p, wanted, got.len), "'%.*s' for '%s'",
	      (int)got.len, got.p, wanted);
}
#define ZERO4 "\0\0\0\0"
#define TEXT(how, sent, wanted) text(how, sent, sizeof(sent) - 1, wanted)

static void test_room(void)
{
	static char sent[EVENT_TEXT_MAX], in6[28] = {AF_INET6};
	struct event_texts t = {0};
	struct span a, b;

	memset(sent, 'x', sizeof(sent));
	memset(in6 + 8, 0xff, 16);
	a = event_text(&t, REC_TEXT_command, (struct span){sent, 5000});
	b = event_text(&t, REC_TEXT_command, (struct span){sent, sizeof(sent) - 5000});
	CHECK(a.len == 5000 && b.len == sizeof(sent) - 5000 && b.p == a.p + a.len);
	CHECK(!event_text(&t, REC_TEXT_command, (struct span){sent, 1}).len);
	t.used = sizeof(t.p) - sizeof(in6); /* room for the address, not for its text */
	CHECK(!event_text(&t, REC_TEXT_address, (struct span){in6, sizeof(in6)}).len);
}

int main(void)
{
	TEXT(REC_TEXT_str, "a --password b", "a --password b");
	TEXT(REC_TEXT_command, "a\0--password\0b c\0\0", "a --password ***");
	TEXT(REC_TEXT_command, "", "");
	TEXT(REC_TEXT_settings, "a=1,password=b", "a=1,password=*");
	TEXT(REC_TEXT_settings, "password\0b,c=d", "password=*****");
	/* sockaddr_in, _in6, _un; port 8080 */
	TEXT(REC_TEXT_address, "\x02\0\x1f\x90\x7f\0\0\x01\0\0\0\0\0\0\0\0", "127.0.0.1");
	TEXT(REC_TEXT_address, "\x02\0\x1f\x90\x7f\0\0", "");
	TEXT(REC_TEXT_address, "\x0a\0\x1f\x90" ZERO4 "\xfe\x80" ZERO4 ZERO4 "\0\0\0\0\0\x01",
	     "fe80::1");
	TEXT(REC_TEXT_address,
	     "\x0a\0\x1f\x90" ZERO4 ZERO4 ZERO4 "\0\0\xff\xff\x0a\x01\x02\x03" ZERO4, "10.1.2.3");
	TEXT(REC_TEXT_address, "\x0a\0\x1f\x90" ZERO4 ZERO4, "");
	TEXT(REC_TEXT_address, "\x01\0/run/x\0yy", "/run/x");
	TEXT(REC_TEXT_address, "\x01\0\0name\0x", "@name@x");
	TEXT(REC_TEXT_address, "\x01\0", "");
	TEXT(REC_TEXT_address, "\x10\0abcd", "");
	TEXT(REC_TEXT_address, "\x01", "");
	test_room();
	return failed;
}
