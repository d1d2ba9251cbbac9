/* SPDX-License-Identifier: BSD-2-Clause */
/* Strings kept once: equal ones at one place, others apart, whatever they have in common. */
#include <stdlib.h>
#include <string.h>

#include "format/copies.h"
#include "check.h"

enum { TEXT_MAX = 600 };

static struct copies copies, spare;
static struct copies_known known;

static void begin_anew(void)
{
	copies_free(&copies, &spare);
	memset(&known, 0, sizeof(known));
}

/* In memory of its own, for ASan. */
static const char *put(const char *text, size_t len)
{
	char *copy = malloc(len);
	const char *kept;

	memcpy(copy, text, len);
	kept = copies_string(&copies, &spare, &known, copy, len);
	CHECK(kept && !memcmp(kept, text, len), "%zu bytes", len);
	free(copy);
	return kept;
}

/* Each length; shorter and longer ones, and such as differ in one byte. */
static void test_once(void)
{
	char text[TEXT_MAX];

	for (size_t i = 0; i < TEXT_MAX; i++)
		text[i] = random();
	for (size_t len = 1; len < TEXT_MAX; len += 1 + len / 40) {
		const char *first;

		begin_anew();
		first = put(text, len);
		CHECK(put(text, len) == first, "%zu bytes", len);
		CHECK(len == 1 || put(text, len - 1) != first);
		for (size_t at = 0; at < len; at += 1 + len / 50) {
			const char *other;

			text[at] ^= 1 << at % 8;
			other = put(text, len);
			CHECK(other != first && put(text, len) == other, "%zu of %zu", at, len);
			text[at] ^= 1 << at % 8;
			CHECK(put(text, len) == first, "after %zu of %zu", at, len);
		}
	}
}

/* What comes often is not lost among what comes once. */
static void test_mixture(void)
{
	const char *often;
	char text[64];

	begin_anew();
	memset(text, 'a', sizeof(text));
	often = put(text, 60);
	for (uint64_t n = 0; n < 20000; n++) {
		memcpy(text, &n, sizeof(n));
		put(text, sizeof(text) - 1);
		memset(text, 'a', sizeof(n));
		CHECK(put(text, 60) == often, "after %u", (unsigned)n);
	}
}

/* Where nothing comes back nothing is looked for, until the set is another. */
static void test_in_vain(void)
{
	char text[100] = "";
	const char *kept;

	begin_anew();
	for (uint64_t n = 0; n < 2000; n++) {
		memcpy(text, &n, sizeof(n));
		put(text, sizeof(text));
	}
	kept = put(text, sizeof(text));
	CHECK(put(text, sizeof(text)) != kept);
	begin_anew();
	kept = put(text, sizeof(text));
	CHECK(put(text, sizeof(text)) == kept);
}

int main(void)
{
	srandom(1);
	test_once();
	test_mixture();
	test_in_vain();
	copies_free(&copies, NULL);
	copies_free(&spare, NULL);
	return failed;
}
