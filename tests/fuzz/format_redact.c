/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hostile conversations of both directions, cut anywhere, with holes and unkept tails. Nothing
 * behind what was kept is touched, nothing is read outside of it, a byte is changed into a mask's
 * alone, and stays one when what was masked is masked again.
 */
#include <stdlib.h>
#include <string.h>

#include "../../format/redact.h"

enum { GUARD = 0x5a };

struct conversation {
	struct redact_conn *once, *twice;
	uint64_t pos[2];
	bool sql;
};

/* Stars, as themselves and in Huffman code; digits of SQL. */
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
		abort(); /* changed, and not said so */
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

/* byte 0: options; then pieces: control byte, length byte, bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t sz)
{
	struct conversation c = {0};

	if (!sz)
		return 0;
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
