/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks secrets in text: lines (HTTP/1 header fields and trailers, inline commands) and bulk
 * strings of Redis. Both are searched in all data that is not known to be another protocol, at each
 * line and each '$', so no knowledge of the connection is needed.
 */
#include <stdlib.h>
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_hits.h"

enum { FEW = 1024 };

/* No secret of Redis is longer. What looks like a command may be other data. */
#define REDIS_SECRET_MAX (64 << 10)

static bool is_nothing(const struct redact_text *s)
{
	return !s->carry_sz && !s->in_head && !s->masking && !s->folds && !s->gap && !s->secrets &&
	       !s->bulk_at && !s->json.inside && !s->field.kind && !s->field.pair && !s->lost &&
	       !s->unseen;
}

/* Stores the end of a text that must be scanned again (of a long token only its end), and how much
 * of it each scan has already done. */
static void note_rest(struct redact_text *s, const uint8_t *end, size_t lines, size_t names)
{
	lines = lines < CARRY_MAX ? lines : CARRY_MAX;
	names = names < CARRY_MAX ? names : CARRY_MAX;
	s->carry_sz = lines > names ? lines : names;
	s->lines_done = s->carry_sz - lines;
	s->names_done = s->carry_sz - names;
	if (s->carry_sz)
		memcpy(s->carry, end - s->carry_sz, s->carry_sz);
}

/* Scans a text whose first byte is at `pos`. */
static void scan(struct redact_text *s, struct redact_call *c, uint64_t pos)
{
	struct redact_hits hits = redact_hits(c->p, c->kept);
	size_t lines, bulks, names;

	redact_hits_first(&hits);
	s->field.head = s->in_head;
	lines = redact_lines(s, c, hits);
	bulks = redact_bulks(s, c, pos);
	names = redact_fields(&s->field, c, c->masked ? redact_hits(c->p, c->kept) : hits);

	note_rest(s, c->p + c->kept, c->kept - (lines < bulks ? lines : bulks), c->kept - names);
}

/* The text without its first bytes, which one scan has already done. */
static struct redact_call behind(const struct redact_call *c, size_t done)
{
	struct redact_call part = *c;

	part.p += done;
	part.out += done;
	part.kept -= done;
	part.len -= done;
	return part;
}

/* As scan(), for writable bytes; each scan starts where it must continue. */
static void scan_rest(struct redact_text *s, struct redact_call *c, uint64_t pos)
{
	struct redact_call l = behind(c, s->lines_done), n = behind(c, s->names_done);
	size_t lines, bulks, names;

	s->field.head = s->in_head;
	lines = redact_lines(s, &l, redact_hits(l.p, l.kept));
	bulks = redact_bulks(s, &l, pos + s->lines_done);
	names = redact_fields(&s->field, &n, redact_hits(n.p, n.kept));
	c->masked |= l.masked | n.masked;
	note_rest(s, c->p + c->kept, l.kept - (lines < bulks ? lines : bulks), n.kept - names);
}

/* Scans the carried bytes followed by the call's bytes. */
static void scan_joined(struct redact_text *s, struct redact_call *c)
{
	size_t earlier = s->carry_sz;
	uint8_t few[FEW], *many = NULL, *joined = few;
	struct redact_call j = *c;

	if (earlier + c->kept > sizeof(few))
		joined = many = malloc(earlier + c->kept);
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
	scan_rest(s, &j, c->pos - earlier);
	if (j.masked) {
		redact_own_bytes(c);
		memcpy(c->out, joined + earlier, c->kept);
		c->masked = true;
	}
	free(many);
}

/* Whether the call may continue the carried bytes. */
static bool goes_on(const struct redact_text *s, const struct redact_call *c)
{
	return s->carry_sz && c->kept &&
	       (s->lines_done < s->carry_sz || redact_fields_go_on(s->carry, s->carry_sz, c));
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

/* The bytes missing before position `to` may contain the end of the head or the rest of a secret.
 */
static void lose(struct redact_text *s, uint64_t to, bool array)
{
	bool begun = s->secrets || (s->lines_done < s->carry_sz && s->carry[s->lines_done] == '$');

	s->gap |= s->in_head || s->masking || s->json.inside;
	if (begun || array)
		s->unseen = to + REDIS_SECRET_MAX;
	s->carry_sz = 0;
	s->folds = s->masking = s->mid = false;
	s->json = (struct redact_json){0};
}

void redact__lost(struct redact_conn **conn, unsigned dir)
{
	struct redact_call c = {.conn = conn, .dir = dir & 1};
	struct redact_side *side = redact_side(&c);

	if (side && !side->text)
		side->text = calloc(1, sizeof(*side->text));
	if (side && side->text)
		side->text->lost = true;
}

/* Whether the call starts with a Redis command or a response with several values. */
static bool is_array(const struct redact_call *c)
{
	return c->kept > 1 && (c->p[0] == '*' || c->p[0] == '%') && c->p[1] >= '1' &&
	       c->p[1] <= '9';
}

/* Whether the call starts with a command of Redis, which no head of HTTP/1 contains: an inline
 * GET is not the start of one. */
static bool is_command(const struct redact_call *c)
{
	size_t i = 1;

	if (c->kept < 5 || *c->p != '*')
		return false;
	while (i < c->kept && c->p[i] >= '0' && c->p[i] <= '9')
		i++;
	return i > 1 && c->kept - i >= 3 && !memcmp(c->p + i, "\r\n$", 3);
}

void redact_text(struct redact_call *c)
{
	struct redact_side *side = *c->conn ? &(*c->conn)->side[c->dir] : NULL;
	struct redact_text none = {0}, *s = side && side->text ? side->text : &none;

	if (s != &none && c->pos != side->next)
		lose(s, c->pos, false);
	if (s->lost)
		s->gap |= redact_is_cut_field(c->p, c->kept);
	s->lost = false;
	if (s->in_head && is_command(c))
		s->in_head = s->gap = false;
	if ((s->field.kind || s->field.pair) && redact_begins_message(c->p, c->kept))
		s->field = (struct redact_field){0};
	if (goes_on(s, c))
		scan_joined(s, c);
	else
		scan(s, c, c->pos);
	if (c->kept < c->len)
		lose(s, c->pos + c->len, is_array(c));
	if (s == &none)
		begin(c, s);
	else if (is_nothing(s))
		end(side);
}
