/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets in text: lines (HTTP/1 header fields and trailers, commands as people type them) and
 * Redis' bulk strings. Both are looked for in whatever is not known to be another protocol, from
 * each line and each '$' on, so nothing need be known of a connection.
 */
#include <stdlib.h>
#include <strings.h>

#include "redact_conn.h"

static bool is_nothing(const struct redact_text *s)
{
	return !s->carry_sz && !s->in_head && !s->masking && !s->folds && !s->gap && !s->secrets &&
	       !s->bulk_at && !s->json.inside && !s->unseen;
}

/* Scans a text whose first byte is at `pos`; returns what of its end is to be seen again. */
static size_t scan(struct redact_text *s, struct redact_call *c, uint64_t pos)
{
	size_t lines = redact_lines(s, c), bulks = redact_bulks(s, c, pos);
	size_t from = lines < bulks ? lines : bulks;

	return c->kept - from;
}

/* What is carried stands before the call's bytes. */
static void scan_joined(struct redact_text *s, struct redact_call *c)
{
	size_t earlier = s->carry_sz, left;
	uint8_t *joined = malloc(earlier + c->kept);
	struct redact_call j = *c;

	if (!joined) {
		redact_mask(c, 0, c->kept, '*');
		s->carry_sz = 0;
		return;
	}
	memcpy(joined, s->carry, earlier);
	memcpy(joined + earlier, c->p, c->kept);
	j.p = j.out = joined;
	j.kept = earlier + c->kept;
	j.len = earlier + c->len;
	left = scan(s, &j, c->pos - earlier);
	if (j.masked) {
		redact_own_bytes(c);
		memcpy(c->out, joined + earlier, c->kept);
		c->masked = true;
	}
	s->carry_sz = left <= CARRY_MAX ? left : 0;
	memcpy(s->carry, joined + j.kept - s->carry_sz, s->carry_sz);
	free(joined);
}

static void begin(struct redact_call *c, const struct redact_text *s)
{
	struct redact_side *side = is_nothing(s) ? NULL : redact_side(c);

	if (!side)
		return;
	side->text = malloc(sizeof(*s));
	if (side->text)
		*side->text = *s;
}

static void end(struct redact_side *side)
{
	free(side->text);
	side->text = NULL;
}

/* Bytes that were not seen may hold the end of the head, or the rest of a secret. */
static void lose(struct redact_text *s)
{
	s->gap |= s->in_head || s->masking || s->json.inside;
	s->unseen |= s->secrets || (s->carry_sz && s->carry[0] == '$');
	s->carry_sz = 0;
	s->folds = s->masking = false;
	s->json = (struct redact_json){0};
}

/* A command of Redis, or an answer with several values. */
static bool is_array(const struct redact_call *c)
{
	return c->kept > 1 && (c->p[0] == '*' || c->p[0] == '%') && c->p[1] >= '1' &&
	       c->p[1] <= '9';
}

void redact_text(struct redact_call *c)
{
	struct redact_side *side = *c->conn ? &(*c->conn)->side[c->dir] : NULL;
	struct redact_text none = {0}, *s = side && side->text ? side->text : &none;
	size_t left;

	if (s != &none && c->pos != side->next)
		lose(s);
	if (s->carry_sz) {
		scan_joined(s, c);
	} else {
		left = scan(s, c, c->pos);
		s->carry_sz = left <= CARRY_MAX ? left : 0;
		if (s->carry_sz)
			memcpy(s->carry, c->p + c->kept - s->carry_sz, s->carry_sz);
	}
	if (c->kept < c->len) {
		lose(s);
		s->unseen |= is_array(c);
	}
	if (s == &none)
		begin(c, s);
	else if (is_nothing(s))
		end(side);
}
