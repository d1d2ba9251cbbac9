/* SPDX-License-Identifier: BSD-2-Clause */
/* Escaping is inert for every sink; figures read well at their edges. */
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

static int failed;

static void is(const char *what, const char *got, const char *want)
{
	if (strcmp(got, want)) {
		printf("%s: got '%s', want '%s'\n", what, got, want);
		failed = 1;
	}
}

static void escapes(enum escape how, struct span in, const char *want)
{
	struct strbuf b = {0};

	strbuf_escape(&b, how, in);
	is("escape", b.p ? b.p : "", want);
	strbuf_fini(&b);
}
#define S(lit) ((struct span){lit, sizeof(lit) - 1})

static void test_escape(void)
{
	escapes(ESCAPE_TERMINAL, S("plain \xc3\xa9 \xf0\x9f\x98\x80"),
		"plain \xc3\xa9 \xf0\x9f\x98\x80");
	escapes(ESCAPE_TERMINAL, S("\x1b[31m\0\n"), "\\x1b[31m\\x00\\x0a");
	escapes(ESCAPE_TERMINAL, S("a\xff\xc3"), "a\\xff\\xc3");
	escapes(ESCAPE_TERMINAL, S("\xc0\xaf"), "\\xc0\\xaf");			 /* overlong */
	escapes(ESCAPE_TERMINAL, S("\xed\xa0\x80"), "\\xed\\xa0\\x80");		 /* surrogate */
	escapes(ESCAPE_TERMINAL, S("\xc2\x9b"), "\\xc2\\x9b");			 /* C1: CSI */
	escapes(ESCAPE_TERMINAL, S("\xe2\x80\xae"), "\\xe2\\x80\\xae");		 /* bidi override */
	escapes(ESCAPE_TERMINAL, S("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); /* > U+10FFFF */
	escapes(ESCAPE_XML, S("<a b=\"c\" d='e'>&"),
		"&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
	escapes(ESCAPE_XML, S("\x01\n\xef\xbf\xbf"), "\\x01&#10;\\xef\\xbf\\xbf");
	escapes(ESCAPE_JSON, S("a\"\\\n\x01\xff"), "a\\\"\\\\\\n\\u0001\\u00ff");
	escapes(ESCAPE_JSON, S("</script><!-- vector<int>"),
		"\\u003c/script>\\u003c!-- vector<int>");
	escapes(ESCAPE_JSON, S("\xe2\x80\xa8"), "\\u2028");
	escapes(ESCAPE_CSV, S("plain"), "plain");
	escapes(ESCAPE_CSV, S("a,b"), "\"a,b\"");
	escapes(ESCAPE_CSV, S("a\"b\nc"), "\"a\"\"b\nc\"");
	escapes(ESCAPE_CSV, S("a\0b"), "a\\x00b");
	/* what a spreadsheet would compute; numbers stay as they are */
	escapes(ESCAPE_CSV, S("=1+1"), "'=1+1");
	escapes(ESCAPE_CSV, S("+cmd|' /C calc'!A0"), "'+cmd|' /C calc'!A0");
	escapes(ESCAPE_CSV, S("-1-1"), "'-1-1");
	escapes(ESCAPE_CSV, S("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
	escapes(ESCAPE_CSV, S("\t=1"), "'\t=1");
	escapes(ESCAPE_CSV, S("\r=1"), "\"'\r=1\"");
	escapes(ESCAPE_CSV, S("-"), "-");
	escapes(ESCAPE_CSV, S("-5"), "-5");
	escapes(ESCAPE_CSV, S("+1.5"), "+1.5");
	escapes(ESCAPE_CSV, S("-2.5e-9"), "-2.5e-9");
	escapes(ESCAPE_CSV, S("-2e"), "'-2e");
	escapes(ESCAPE_CSV, S("a=b"), "a=b");
	/* direction of text: U+202E, U+2066, U+200E, U+061C; C1: U+009B, U+0085 */
	escapes(ESCAPE_TERMINAL, S("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8e\xd8\x9c"),
		"\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8e\\xd8\\x9c");
	escapes(ESCAPE_JSON, S("\xe2\x80\xae\xd8\x9c\xc2\x9b"), "\\u202e\\u061c\\u009b");
	escapes(ESCAPE_JSON_TEXT, S("{\"k\":\"\xe2\x80\x8f\xc2\x85\xff\x7f\xc3\xa9\"}"),
		"{\"k\":\"\\u200f\\u0085\\u00ff\\u007f\xc3\xa9\"}");
	escapes(ESCAPE_XML, (struct span){NULL, 0}, "");
}

/* Each possible pair of bytes: what comes out has no control byte and is as long as it says. */
static void test_escape_all(void)
{
	for (int how = ESCAPE_TERMINAL; how <= ESCAPE_CSV; how++)
		for (int i = 0; i < 65536; i++) {
			char in[2] = {i >> 8, i};
			struct strbuf b = {0};

			strbuf_escape(&b, how, (struct span){in, 2});
			for (size_t j = 0; j < b.len; j++)
				if ((unsigned char)b.p[j] < 0x20 && how != ESCAPE_CSV) {
					printf("escape %d of %04x leaves a control byte\n", how, i);
					failed = 1;
				}
			if (b.failed || strlen(b.p) != b.len) {
				printf("escape %d of %04x: broken buffer\n", how, i);
				failed = 1;
			}
			strbuf_fini(&b);
		}
}

static void test_figures(void)
{
	char b[24];

	is("bytes", format_bytes(b, 0), "0 B");
	is("bytes", format_bytes(b, 1023), "1023 B");
	is("bytes", format_bytes(b, 1536), "1.5 KiB");
	is("bytes", format_bytes(b, 1048575), "1.0 MiB");
	is("bytes", format_bytes(b, UINT64_MAX), "16.0 EiB");
	is("count", format_count(b, 999), "999");
	is("count", format_count(b, 12345), "12.3k");
	is("count", format_count(b, 999999), "1.00M");
	is("count", format_count(b, UINT64_MAX), "18.4E");
	is("duration", format_duration(b, 999), "999 ns");
	is("duration", format_duration(b, 3200000000), "3.20 s");
	is("duration", format_duration(b, 61000000000), "1m01s");
	is("duration", format_duration(b, 7500000000000), "2h05m");
	is("duration", format_duration(b, UINT64_MAX), "213503d23h");
}

int main(void)
{
	struct strbuf b = {0};

	test_escape();
	test_escape_all();
	test_figures();
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&b, "%d,", i);
	if (b.failed || b.len != 3890 || strncmp(b.p + b.len - 4, "999,", 5)) {
		printf("strbuf_addf: %zu bytes\n", b.len);
		failed = 1;
	}
	strbuf_add(&b, b.p, SIZE_MAX - 10);
	if (!b.failed || b.len != 3890) {
		printf("an impossible length was accepted\n");
		failed = 1;
	}
	strbuf_fini(&b);
	return failed;
}
