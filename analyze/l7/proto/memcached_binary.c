/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcached's binary protocol (github.com/memcached/memcached wiki BinaryProtocolRevamped).
 *
 *   magic:8 (80 request, 81 response)  opcode:8  key length:16  extras length:8  0:8
 *   vbucket or status:16  body length:32  opaque:32  cas:64     body: extras, key, value
 *
 * Paired in order. Quiet operations are answered only if there is something to report. STAT is
 * answered by many packets, the last one without a key.
 */
#include <string.h>

#include "analyze/l7/proto/memcached_binary.h"
#include "analyze/l7/proto/memcached_pair.h"

enum { HEAD_SZ = 24, OP_STAT = 0x10, OP_QUITQ = 0x17 };

/* Properties of operations. */
enum { KEYED = 1, VALUED = 2, QUIET = 4, READS = 8 };

static const struct op {
	const char *name;
	int8_t extras; /* of the request; -1: 0 or 4 */
	uint8_t flags;
} ops[] = {
	[0x00] = {"GET", 0, KEYED | READS},
	[0x01] = {"SET", 8, KEYED | VALUED},
	[0x02] = {"ADD", 8, KEYED | VALUED},
	[0x03] = {"REPLACE", 8, KEYED | VALUED},
	[0x04] = {"DELETE", 0, KEYED},
	[0x05] = {"INCR", 20, KEYED},
	[0x06] = {"DECR", 20, KEYED},
	[0x07] = {"QUIT", 0, 0},
	[0x08] = {"FLUSH_ALL", -1, 0},
	[0x09] = {"GET", 0, KEYED | READS | QUIET},
	[0x0a] = {"NOOP", 0, 0},
	[0x0b] = {"VERSION", 0, 0},
	[0x0c] = {"GETK", 0, KEYED | READS},
	[0x0d] = {"GETK", 0, KEYED | READS | QUIET},
	[0x0e] = {"APPEND", 0, KEYED | VALUED},
	[0x0f] = {"PREPEND", 0, KEYED | VALUED},
	[0x10] = {"STATS", 0, 0},
	[0x11] = {"SET", 8, KEYED | VALUED | QUIET},
	[0x12] = {"ADD", 8, KEYED | VALUED | QUIET},
	[0x13] = {"REPLACE", 8, KEYED | VALUED | QUIET},
	[0x14] = {"DELETE", 0, KEYED | QUIET},
	[0x15] = {"INCR", 20, KEYED | QUIET},
	[0x16] = {"DECR", 20, KEYED | QUIET},
	[0x17] = {"QUIT", 0, QUIET},
	[0x18] = {"FLUSH_ALL", -1, QUIET},
	[0x19] = {"APPEND", 0, KEYED | VALUED | QUIET},
	[0x1a] = {"PREPEND", 0, KEYED | VALUED | QUIET},
	[0x1b] = {"VERBOSITY", 4, 0},
	[0x1c] = {"TOUCH", 4, KEYED},
	[0x1d] = {"GAT", 4, KEYED | READS},
	[0x1e] = {"GAT", 4, KEYED | READS | QUIET},
	[0x20] = {"SASL_LIST", 0, 0},
	[0x21] = {"SASL_AUTH", 0, KEYED | VALUED},
	[0x22] = {"SASL_STEP", 0, KEYED | VALUED},
	[0x23] = {"GATK", 4, KEYED | READS},
	[0x24] = {"GATK", 4, KEYED | READS | QUIET},
};

static const struct {
	uint16_t code;
	bool error;
	const char *name;
} states[] = {
	{0x00, false, "OK"},	       {0x01, false, "NOT_FOUND"},
	{0x02, false, "EXISTS"},       {0x03, true, "TOO_LARGE"},
	{0x04, true, "INVALID"},       {0x05, false, "NOT_STORED"},
	{0x06, true, "NOT_A_NUMBER"},  {0x07, true, "NOT_MY_VBUCKET"},
	{0x20, true, "AUTH_ERROR"},    {0x21, false, "AUTH_CONTINUE"},
	{0x81, true, "UNKNOWN"},       {0x82, true, "NO_MEMORY"},
	{0x83, true, "NOT_SUPPORTED"}, {0x84, true, "INTERNAL"},
	{0x85, true, "BUSY"},	       {0x86, true, "TEMPORARY"},
};

struct head {
	const struct op *op;
	uint8_t magic, code, extras, type;
	uint16_t key, status;
	uint32_t body;
	struct span opaque;
};

static bool fits(const struct head *h, bool requests)
{
	const struct op *op = h->op;

	if (h->type || (uint32_t)h->extras + h->key > h->body || h->body > MC_VALUE_MAX ||
	    h->key > MC_KEY_MAX)
		return false;
	if (!requests)
		return h->extras <= 8 && h->status <= 0x86;
	if (!op)
		return true;
	if (op->extras >= 0 ? h->extras != op->extras : h->extras && h->extras != 4)
		return false;
	if (!!h->key != !!(op->flags & KEYED) && h->code != OP_STAT)
		return false;
	return op->flags & VALUED || h->body == (uint32_t)h->extras + h->key;
}

static bool head_at(const uint8_t *p, size_t len, bool requests, struct head *h)
{
	struct l7_cursor c = l7_cursor_at(p, len);

	h->magic = l7_be(&c, 1);
	h->code = l7_be(&c, 1);
	h->key = l7_be(&c, 2);
	h->extras = l7_be(&c, 1);
	h->type = l7_be(&c, 1);
	h->status = l7_be(&c, 2);
	h->body = l7_be(&c, 4);
	h->opaque = l7_bytes(&c, 4);
	l7_take(&c, 8);
	h->op = h->code < sizeof(ops) / sizeof(ops[0]) && ops[h->code].name ? &ops[h->code] : NULL;
	return !c.cut && h->magic == (requests ? 0x80 : 0x81) && fits(h, requests);
}

bool mc_binary_at(const uint8_t *p, size_t len, bool requests)
{
	struct head h;

	return head_at(p, len, requests, &h) && h.op;
}

/* An opaque of 0 identifies nothing, because clients that do not number requests send it. `key`:
 * for operations whose response contains the key. */
static struct mc_mark mark_of(const struct head *h, struct span key, uint32_t salt)
{
	static const char zero[4];
	bool keyed = h->code == 0x0c || h->code == 0x0d || h->code == 0x23 || h->code == 0x24,
	     numbered = memcmp(h->opaque.p, zero, 4) != 0;
	struct mc_mark mark = {.one = numbered || keyed || salt};

	if (numbered)
		mark.name = mc_hash(h->opaque, h->code);
	if (salt)
		mark.name = salt;
	if (!keyed)
		mark.key = mc_hash((struct span){"", 0}, h->code);
	else if (key.len)
		mark.key = mc_hash(key, h->code);
	return mark;
}

static bool may(const struct l7_message *q, const void *ctx)
{
	const struct head *h = ctx;

	/* Quiet reads are answered on hits, all quiet operations on errors. */
	return h->op && h->op->flags & QUIET && (h->op->flags & READS || h->status);
}

static void request(struct l7_parser *parser, const struct head *h, struct span key,
		    struct l7_message *m, uint32_t salt)
{
	struct memcached *mc = parser->state;

	m->type = h->code == OP_QUITQ ? L7_ONEWAY : L7_REQUEST;
	m->method = h->op ? (struct span){h->op->name, strlen(h->op->name)}
			  : l7_text(parser, "0x%02x", h->code);
	m->target = l7_fold(key, mc->target, sizeof(mc->target));
	m->quiet = h->op && h->op->flags & QUIET;
	m->id = ++mc->asked;
	m->note = mc_note(mark_of(h, key, salt), h->key != 0);
	m->detail = l7_text(parser,
			    m->quiet ? "{\"binary\":true,\"quiet\":true}" : "{\"binary\":true}");
}

static void response(struct l7_parser *parser, const struct head *h, struct span key,
		     struct span error, struct l7_message *m, uint32_t salt)
{
	const char *name = NULL;

	m->type = L7_RESPONSE;
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].code == h->status) {
			name = states[i].name;
			m->is_error = states[i].error;
		}
	if (h->op && h->op->flags & READS && h->status <= 1)
		name = h->status ? "MISS" : "HIT";
	m->is_error |= !name;
	m->status = name ? (struct span){name, strlen(name)} : l7_text(parser, "%u", h->status);
	if (m->is_error && error.len)
		m->detail = l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, error, 200).p);
	mc_choose(parser, mark_of(h, key, salt), may, h, m);
}

int64_t mc_binary(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m,
		  uint32_t salt)
{
	struct memcached *mc = parser->state;
	struct l7_cursor c = l7_cursor(v);
	struct span key, value;
	struct head h;
	int64_t n;

	if (v->len < HEAD_SZ)
		return *v->p == (v->requests ? 0x80 : 0x81) ? L7_PARTIAL : L7_BAD;
	/* The server also answers unknown operations. */
	if (!head_at(v->p, v->len, v->requests, &h) || (parser->after_hole && !h.op))
		return L7_BAD;
	n = HEAD_SZ + (int64_t)h.body;
	l7_take(&c, HEAD_SZ + h.extras);
	key = l7_bytes(&c, h.key);
	if (c.cut && v->requests && !v->cut && !v->last)
		return L7_PARTIAL;
	value = (struct span){(const char *)c.p, l7_left(&c)};
	if (value.len > h.body - h.extras - h.key)
		value.len = h.body - h.extras - h.key;
	if (v->requests) {
		request(parser, &h, key, m, salt);
		return n;
	}
	if (h.code == OP_STAT && h.key && !h.status) {
		mc_gather_add(&mc->got, v, n);
		return n;
	}
	response(parser, &h, key, c.cut ? (struct span){"", 0} : value, m, salt);
	mc_gather_end(&mc->got, m, n);
	return n;
}
