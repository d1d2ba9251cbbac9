/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions with known arguments and results, and USDT probes, for the tests of the probe func:
 * values COUNT. Waits for a byte on stdin. Of COUNT calls, number i is that of
 *
 *   value_take(text, -i, 4000000000 + i, -1000000000000 * i, 0x1000 + i, ULONG_MAX - i)
 *   returns i % 3 - 1; text is that of i % 4, the last a null pointer
 *   value_pick(i) returns the text of i % 4
 *   value_tail(i) ends in value_pick(i)
 *   value_narrow(i % 2, -i, 200 + i, -300 * i, 65000 + i) returns its first argument; the rest of
 * the registers is not 0
 *
 * and fires the probes values:plain(i, text), values:three(-i, 7, i << 40) and, if somebody asks
 * for it, values:asked(i). Writes how often it was asked for the last one.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "usdt_note.h"

#define FN __attribute__((noinline, noclone, used))

unsigned short asked __attribute__((section(".probes"), used, visibility("hidden")));

static volatile uint64_t sink;

/* Their pages are in memory. */
static char text[3][64] = {"first", "a longer text, with blanks", "\x1b[31mescaped\xff\n"};
static const char *text_of(int i)
{
	return i % 4 < 3 ? text[i % 4] : NULL;
}

FN int value_take(const char *s, int a, unsigned b, long c, void *p, unsigned long d)
{
	sink += a + b + c + (uintptr_t)p + d;
	return -a % 3 - 1;
}

FN const char *value_pick(int i)
{
	sink++;
	return text_of(i);
}

FN const char *value_tail(int i)
{
	sink++;
	return value_pick(i);
}

FN bool value_narrow(bool b, int8_t c, uint8_t d, int16_t e, uint16_t f)
{
	sink += b + c + d + e + f;
	return b;
}

FN void value_fire(int i, const char *s, int64_t far)
{
	USDT_NOTE("values", "plain", "0", "-4@%0 8@%1", "nor"(i), "nor"(s));
	/* As compilers place them: a constant, a variable in memory by a register. */
	USDT_NOTE("values", "three", "0", "-4@%0 -4@%1 -8@%2", "r"(-i), "n"(7), "m"(far));
}

FN int value_asked(int i)
{
	if (!*(volatile unsigned short *)&asked)
		return 0;
	USDT_NOTE("values", "asked", "asked", "-4@%0", "r"(i));
	return 1;
}

int main(int argc, char **argv)
{
	bool (*volatile narrow)() = (bool (*)())value_narrow;
	int count = argc > 1 ? atoi(argv[1]) : 10, times = 0;
	char go;

	for (int i = 0; i < 3; i++)
		sink += *(volatile char *)text[i];
	if (read(0, &go, 1) != 1)
		return 1;
	for (int i = 0; i < count; i++) {
		value_take(text_of(i), -i, 4000000000u + i, -1000000000000L * i,
			   (void *)(uintptr_t)(0x1000 + i), ULONG_MAX - i);
		value_pick(i);
		value_tail(i);
		narrow(0x7700 | i % 2, 0x7700 | (-i & 255), 0x7700 | (200 + i),
		       0x770000 | (-300 * i & 65535), 0x770000 | (65000 + i));
		value_fire(i, text_of(i), (int64_t)i << 40);
		times += value_asked(i);
	}
	printf("%d\n", times);
	return 0;
}
