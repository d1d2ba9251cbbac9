/* SPDX-License-Identifier: BSD-2-Clause */
/* Lengths of instructions: by hand where they are rare, and all of libc's and obrec's own against
 * objdump. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/x86_insn.h"

static int failed;

static void is_len(const char *name, const char *bytes, size_t avail, size_t want)
{
	size_t got = x86_insn_len((const uint8_t *)bytes, avail);

	if (got != want) {
		printf("%s: got %zu, wanted %zu\n", name, got, want);
		failed++;
	}
}

static void test_by_hand(void)
{
	is_len("ret", "\xc3", 1, 1);
	is_len("nothing", "", 0, 0);
	is_len("ret behind a prefix", "\xf3\xc3", 2, 2);
	is_len("c3 is an immediate", "\xb8\xc3\xc3\xc3\xc3", 5, 5);
	is_len("8-byte immediate", "\x48\xb8\1\2\3\4\5\6\7\xc3", 10, 10);
	is_len("cut off", "\x48\xb8\1\2\3\4\5\6\7", 9, 0);
	is_len("cut off in ModRM", "\x48\x8b", 2, 0);
	is_len("relative to rip", "\x48\x8b\x05\xc3\xc3\xc3\xc3", 7, 7);
	is_len("SIB without base", "\x8b\x04\x25\xc3\xc3\xc3\xc3", 7, 7);
	is_len("SIB with base", "\x8b\x44\x24\xc3", 4, 4);
	is_len("test with an immediate", "\xf7\xc1\xc3\0\0\0", 6, 6);
	is_len("neg", "\xf7\xd9", 2, 2);
	is_len("mul by memory", "\x48\xf7\x24\x24", 4, 4);
	is_len("2-byte immediate", "\x66\xc7\x00\xc3\xc3", 5, 5);
	is_len("vzeroupper", "\xc5\xf8\x77", 3, 3);
	is_len("VEX with an immediate", "\xc4\xe3\x71\x0f\xc2\xc3", 6, 6);
	is_len("EVEX", "\x62\xf1\x7c\x48\x10\x07", 6, 6);
	is_len("moffs", "\x48\xa1\1\2\3\4\5\6\7\x8", 10, 10);
	is_len("enter", "\xc8\xc3\xc3\xc3", 4, 4);
	is_len("not in 64-bit mode", "\x06", 1, 0);
	is_len("too many prefixes",
	       "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90", 16, 0);
}

/* Lines "  ADDRESS:<tab>xx xx ...<tab>text", one an instruction (-w). */
static int one_line(const char *line, unsigned long *checked)
{
	const char *p = strchr(line, ':'), *text;
	uint8_t bytes[32];
	size_t n = 0, got;
	int used;

	if (!p || p[1] != '\t')
		return 0;
	text = strchr(p + 2, '\t');
	for (p += 2;
	     text && p < text && n < sizeof(bytes) && sscanf(p, "%2hhx %n", &bytes[n], &used) == 1;
	     p += used)
		n++;
	if (!text || strstr(text, "(bad)") || !n)
		return 0;
	got = x86_insn_len(bytes, n);
	++*checked;
	if (got == n)
		return 0;
	/* objdump shows `fwait` and what follows as one, and prefixes that nothing follows alone.
	 */
	if (bytes[0] == 0x9b || got > n || !text[1] || strstr(text, "rex"))
		return 0;
	printf("got %zu, wanted %zu: %s", got, n, line);
	return 1;
}

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

static void test_objdump(const char *path)
{
	char command[256], line[512];
	unsigned long checked = 0;
	int wrong = 0;
	FILE *f;

	snprintf(command, sizeof(command), "objdump -dw --section=.text %s 2>/dev/null", path);
	f = access(path, R_OK) ? NULL : popen(command, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f) && wrong < 10)
		wrong += one_line(line, &checked);
	pclose(f);
	printf("%s: %lu instructions\n", path, checked);
	failed += wrong;
}

int main(void)
{
	test_by_hand();
	if (!access(LIBC, R_OK)) { /* made for this processor */
		test_objdump(LIBC);
		test_objdump("/proc/self/exe");
	}
	return !!failed;
}
