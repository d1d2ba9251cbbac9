/* SPDX-License-Identifier: BSD-2-Clause */
/* Where characters stand, found many bytes at once, against a look at each byte: texts of every
 * length, sparse and crowded, from every place on, each in a buffer of its own size for ASan. */
#include <stdlib.h>

#include "format/redact/redact_spots.h"
#include "check.h"

static void check_text(const uint8_t *p, size_t sz)
{
	struct redact_spots s = redact_spots(p, sz, '\n');
	size_t at = 0;

	while (at <= sz) {
		size_t want = at, got = redact_spots_next(&s, at);

		while (want < sz && p[want] != '\n')
			want++;
		CHECK(got == want, "%zu bytes, from %zu on: %zu, not %zu", sz, at, got, want);
		/* Every place, or from one to the next. */
		at = sz % 2 ? at + 1 : got + 1;
	}
}

/* From one to the next behind it. */
static void check_each(const uint8_t *p, size_t sz)
{
	struct redact_spots s = redact_spots(p, sz, '\n');
	size_t got = redact_spots_next(&s, 0);

	for (size_t i = 0; i < sz; i++) {
		if (p[i] != '\n')
			continue;
		CHECK(got == i, "%zu bytes: %zu, not %zu", sz, got, i);
		got = redact_spots_after(&s);
	}
	CHECK(got == sz && redact_spots_after(&s) == sz, "%zu bytes: %zu", sz, got);
}

/* What a machine without SSE2 does. */
static void check_word(const uint8_t *p)
{
	uint64_t word, bits = 0;

	memcpy(&word, p, 8);
	for (int i = 0; i < 8; i++)
		bits |= (uint64_t)(p[i] == '\n') << i;
	CHECK(spots_of_word(word, '\n') == bits, "%016llx", (unsigned long long)word);
}

int main(void)
{
	/* Neighbours of the one that is looked for, and what differs from it by one bit. */
	static const uint8_t bytes[] = {'\n', '\n' - 1, '\n' + 1, '\n' | 0x80, 0, 0xff, 'x', '\n'};

	srandom(1);
	for (size_t sz = 0; sz < 400; sz++) {
		uint8_t *p = malloc(sz + 1);

		for (unsigned rare = 1; rare < 100; rare *= 6) {
			for (size_t i = 0; i < sz; i++)
				p[i] = random() % rare ? bytes[1 + random() % 6]
						       : bytes[random() % 8];
			p = realloc(p, sz ? sz : 1);
			check_text(p, sz);
			check_each(p, sz);
			for (size_t i = 0; i + 8 <= sz; i++)
				check_word(p + i);
		}
		free(p);
	}
	return failed;
}
