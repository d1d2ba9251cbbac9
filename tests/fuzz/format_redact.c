/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile conversations in both directions, cut anywhere, with gaps and truncated payload. Bytes
 * after the captured ones must not be changed, nothing may be read outside of the buffer, a byte
 * may change only to a mask character, and masking the result again must keep the masked bytes.
 * Alternatively (byte 0, bit 1), a conversation of redact_plant.h with a secret, no part of which
 * may be left.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redact_plant.h"

enum { GUARD = 0x5a };

struct conversation {
	struct redact_conn *once, *twice;
	uint64_t pos[2];
	bool sql;
};

/* Mask characters: stars, plain and Huffman coded; digits of SQL. */
static bool is_mask(uint8_t ch)
{
	return ch == '*' || ch == 0xf9 || ch == '?';
}

static void one_call(struct conversation *c, unsigned control, const uint8_t *p, size_t sz)
{
	unsigned dir = control & 1;
	size_t len = sz + (control & 4 ? 40 : 0);
	uint8_t *first = malloc(sz + 1), *second = malloc(sz + 1);
	struct redact_payload call = {dir, c->pos[dir], len, sz, first, first};

	memcpy(first, p, sz);
	first[sz] = GUARD;
	if (!redact__apply(&c->once, c->sql, &call) && memcmp(first, p, sz))
		abort(); /* changed, but not reported */
	if (first[sz] != GUARD)
		abort();
	memcpy(second, first, sz);
	call.data = call.masked = second;
	redact__apply(&c->twice, c->sql, &call);
	for (size_t i = 0; i < sz; i++)
		if ((first[i] != p[i] && !is_mask(first[i])) ||
		    (second[i] != first[i] && !is_mask(second[i])))
			abort();
	c->pos[dir] += len + (control & 8 ? 7 : 0);
	free(first);
	free(second);
}

/* ---- a secret is planted ---- */

struct bytes {
	const uint8_t *p;
	size_t sz;
};

static uint8_t next(struct bytes *b)
{
	if (!b->sz)
		return 0;
	b->sz--;
	return *b->p++;
}

static size_t next_cut(void *ctx)
{
	return next(ctx);
}

/* Writes a secret of characters that are rare in all rows. */
static void make_secret(char *secret, struct bytes *b)
{
	static const char of[] = "QZXJVKW923478650";

	for (int i = 0; i < SECRET_SZ; i++)
		secret[i] = of[(next(b) + i) % (sizeof(of) - 1)];
}

/* Writes lines of words that are not commands. */
static struct planted make_lines(char *to, struct bytes *b)
{
	static const char of[] = "bdfgijkl 0123.:;=-_/\n\n";
	size_t sz = next(b) % 64;

	for (size_t i = 0; i < sz; i++)
		to[i] = of[next(b) % (sizeof(of) - 1)];
	memcpy(to + sz, "\r\n", 2);
	return (struct planted){to, sz ? sz + 2 : 0};
}

/* Input: row, fillers, secret, lines; then the positions of cuts. */
static void plant_one(struct bytes b)
{
	const struct planter *row = &planters[next(&b) % PLANTER_CNT];
	unsigned fillers = next(&b) % 8;
	char secret[SECRET_SZ], lines[80];
	static uint8_t talk[TALK_MAX];
	size_t sz;

	make_secret(secret, &b);
	sz = plant(talk, row, make_lines(lines, &b), fillers, secret);
	plant_talk(row, talk, sz, next_cut, &b);
	if (plant_shows(talk, sz, secret)) {
		fprintf(stderr, "%s\n", row->name);
		abort();
	}
}

/* byte 0: options; then pieces: control byte, length byte, bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t sz)
{
	struct conversation c = {0};

	if (!sz)
		return 0;
	if (p[0] & 2) {
		plant_one((struct bytes){p + 1, sz - 1});
		return 0;
	}
	c.sql = p[0] & 1;
	for (size_t i = 1; i + 2 < sz;) {
		unsigned control = p[i];
		size_t len = p[i + 1] + (control & 2 ? 256 : 0);

		i += 2;
		if (len > sz - i)
			len = sz - i;
		one_call(&c, control, p + i, len);
		i += len;
	}
	redact_conn__free(c.once);
	redact_conn__free(c.twice);
	return 0;
}
