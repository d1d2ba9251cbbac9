/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/hpack.h"
#include "format/text.h"

enum {
	STATIC_CNT = 61,
	DEFAULT_MAX = 4096,
	LIMIT_MAX = 1 << 20, /* limit of the table size, whatever the peer requests */
	ENTRY_OVERHEAD = 32, /* RFC 7541 4.1 */
	SYMBOLS = 256,
	CODE_MAX = 30,
};

/* RFC 7541 appendix A, index 1 first. */
static const struct {
	const char *name, *value;
} fixed[STATIC_CNT] = {
	{":authority", ""},
	{":method", "GET"},
	{":method", "POST"},
	{":path", "/"},
	{":path", "/index.html"},
	{":scheme", "http"},
	{":scheme", "https"},
	{":status", "200"},
	{":status", "204"},
	{":status", "206"},
	{":status", "304"},
	{":status", "400"},
	{":status", "404"},
	{":status", "500"},
	{"accept-charset", ""},
	{"accept-encoding", "gzip, deflate"},
	{"accept-language", ""},
	{"accept-ranges", ""},
	{"accept", ""},
	{"access-control-allow-origin", ""},
	{"age", ""},
	{"allow", ""},
	{"authorization", ""},
	{"cache-control", ""},
	{"content-disposition", ""},
	{"content-encoding", ""},
	{"content-language", ""},
	{"content-length", ""},
	{"content-location", ""},
	{"content-range", ""},
	{"content-type", ""},
	{"cookie", ""},
	{"date", ""},
	{"etag", ""},
	{"expect", ""},
	{"expires", ""},
	{"from", ""},
	{"host", ""},
	{"if-match", ""},
	{"if-modified-since", ""},
	{"if-none-match", ""},
	{"if-range", ""},
	{"if-unmodified-since", ""},
	{"last-modified", ""},
	{"link", ""},
	{"location", ""},
	{"max-forwards", ""},
	{"proxy-authenticate", ""},
	{"proxy-authorization", ""},
	{"range", ""},
	{"referer", ""},
	{"refresh", ""},
	{"retry-after", ""},
	{"server", ""},
	{"set-cookie", ""},
	{"strict-transport-security", ""},
	{"transfer-encoding", ""},
	{"user-agent", ""},
	{"vary", ""},
	{"via", ""},
	{"www-authenticate", ""},
};

/* RFC 7541 appendix B: bits of each octet's code. The code is canonical: by length, then by octet.
 */
static const uint8_t code_len[SYMBOLS] = {
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28,
	30, 28, 28, 28, 28, 28, 28, 28, 28, 28, 6,  10, 10, 12, 13, 6,	8,  11, 10, 10, 8,  11,
	8,  6,	6,  6,	5,  5,	5,  6,	6,  6,	6,  6,	6,  6,	7,  8,	15, 6,	12, 10, 13, 6,
	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,	7,  7,
	8,  7,	8,  13, 19, 13, 14, 6,	15, 5,	6,  5,	6,  5,	6,  6,	6,  5,	7,  7,	6,  6,
	6,  5,	6,  7,	6,  5,	5,  6,	7,  7,	7,  7,	7,  15, 11, 14, 13, 28, 20, 22, 20, 20,
	22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21,
	22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23,
	22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26,
	28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27,
	26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
};

struct entry {
	struct entry *older;
	bool name_known, value_known;
	size_t name_sz, value_sz;
	char text[];
};

/* Entries, newest first. Unknown entries are older than all of them, so an entry is evicted when
 * its size and that of newer ones exceed the maximum. */
struct hpack {
	struct entry *newest;
	size_t max;
	bool before;	    /* unknown entries may exist */
	char *name, *value; /* decoded strings of the current field */
	size_t name_cap, value_cap;
};

int hpack__new(struct hpack **h)
{
	*h = calloc(1, sizeof(**h));
	if (!*h)
		return -ENOMEM;
	(*h)->max = DEFAULT_MAX;
	return 0;
}

static void drop(struct entry *e)
{
	while (e) {
		struct entry *older = e->older;

		free(e);
		e = older;
	}
}

void hpack__free(struct hpack *h)
{
	if (!h)
		return;
	drop(h->newest);
	free(h->name);
	free(h->value);
	free(h);
}

void hpack__lost(struct hpack *h)
{
	drop(h->newest);
	h->newest = NULL;
	h->before = true;
}

static void evict(struct hpack *h)
{
	struct entry **at = &h->newest;
	size_t sum = 0;

	for (; *at; at = &(*at)->older) {
		sum += (*at)->name_sz + (*at)->value_sz + ENTRY_OVERHEAD;
		if (sum > h->max) {
			drop(*at);
			*at = NULL;
			return;
		}
	}
}

static void insert(struct hpack *h, const struct hpack_field *f)
{
	struct entry *e;

	/* An entry larger than the table empties it (RFC 7541 4.4). */
	e = malloc(sizeof(*e) + f->name.len + f->value.len);
	if (!e) {
		hpack__lost(h);
		return;
	}
	e->older = h->newest;
	e->name_known = f->name_known;
	e->value_known = f->value_known;
	e->name_sz = f->name.len;
	e->value_sz = f->value.len;
	memcpy(e->text, f->name.p, f->name.len);
	memcpy(e->text + f->name.len, f->value.p, f->value.len);
	h->newest = e;
	evict(h);
}

/* ---- strings ---- */

/*
 * Canonical Huffman decoding: the codes of one length are consecutive numbers. first[len] is the
 * lowest of them. sorted[] has the octets in the order of their codes; base[len] is the start of
 * those with that length.
 */
struct decoder {
	uint32_t first[CODE_MAX + 2];
	uint16_t base[CODE_MAX + 2];
	uint8_t sorted[SYMBOLS];
};

static void decoder_init(struct decoder *d)
{
	uint32_t code = 0;
	unsigned at = 0;

	for (unsigned len = 1; len <= CODE_MAX + 1; len++) {
		d->first[len] = code;
		d->base[len] = at;
		for (unsigned c = 0; c < SYMBOLS && len <= CODE_MAX; c++)
			if (code_len[c] == len)
				d->sorted[at++] = c;
		code = (code + at - d->base[len]) << 1;
	}
}

static const struct decoder *decoder(void)
{
	static _Thread_local struct decoder d;
	static _Thread_local bool made;

	if (!made)
		decoder_init(&d);
	made = true;
	return &d;
}

static int reserve(char **buf, size_t *cap, size_t sz)
{
	char *p;

	if (sz <= *cap)
		return 0;
	p = realloc(*buf, sz);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*cap = sz;
	return 0;
}

/* Decodes Huffman code; the output has at most 8/5 of the input octets. Padding is less than eight
 * ones (RFC 7541 5.2). */
static int huffman(const uint8_t *p, size_t sz, char *dst, size_t *dst_sz)
{
	const struct decoder *d = decoder();
	uint32_t code = 0;
	unsigned len = 0;

	*dst_sz = 0;
	for (size_t bit = 0; bit < sz * 8; bit++) {
		code = code << 1 | (p[bit / 8] >> (7 - bit % 8) & 1);
		if (++len > CODE_MAX)
			return -EBADMSG;
		if (code - d->first[len] >= (uint32_t)(d->base[len + 1] - d->base[len]) ||
		    code < d->first[len])
			continue;
		dst[(*dst_sz)++] = d->sorted[d->base[len] + code - d->first[len]];
		code = len = 0;
	}
	return len < 8 && code == (1u << len) - 1 ? 0 : -EBADMSG;
}

size_t hpack_huffman_bits(const char *text, size_t sz)
{
	size_t bits = 0;

	for (size_t i = 0; i < sz; i++)
		bits += code_len[(uint8_t)text[i]];
	return bits;
}

size_t hpack_huffman_text(const uint8_t *p, size_t sz, char *dst)
{
	size_t n;

	huffman(p, sz, dst, &n);
	return n;
}

struct cursor {
	const uint8_t *p, *begin, *end;
};

/* RFC 7541 5.1. */
static int integer(struct cursor *c, unsigned bits, uint64_t *v)
{
	uint64_t mask = (1u << bits) - 1;

	if (c->p == c->end)
		return -ENODATA;
	*v = *c->p++ & mask;
	if (*v < mask)
		return 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		if (c->p == c->end)
			return -ENODATA;
		*v += (uint64_t)(*c->p & 0x7f) << shift;
		if (!(*c->p++ & 0x80))
			return 0;
	}
	return -EBADMSG;
}

static int string(struct cursor *c, char **buf, size_t *cap, struct span *s,
		  struct hpack_field *raw)
{
	bool coded = c->p < c->end && *c->p & 0x80;
	uint64_t sz;
	int err = integer(c, 7, &sz);

	if (err)
		return err;
	if (raw) {
		raw->raw_at = c->p - c->begin;
		raw->raw_sz = sz < (uint64_t)(c->end - c->p) ? sz : (uint64_t)(c->end - c->p);
		raw->huffman = coded;
	}
	if (sz > (uint64_t)(c->end - c->p))
		return -ENODATA;
	err = reserve(buf, cap, coded ? sz * 8 / 5 + 1 : sz + 1);
	if (err)
		return err;
	s->len = sz;
	if (coded)
		err = huffman(c->p, sz, *buf, &s->len);
	else
		memcpy(*buf, c->p, sz);
	s->p = *buf;
	c->p += sz;
	return err;
}

/* ---- fields ---- */

static const struct span unknown = {":unknown", 8};

/* -EBADMSG: no such index. */
static int look_up(const struct hpack *h, uint64_t index, struct hpack_field *f)
{
	const struct entry *e = h->newest;

	if (!index)
		return -EBADMSG;
	f->name_known = f->value_known = true;
	if (index <= STATIC_CNT) {
		f->name = span_of(fixed[index - 1].name);
		f->value = span_of(fixed[index - 1].value);
		return 0;
	}
	for (index -= STATIC_CNT + 1; e && index; index--)
		e = e->older;
	if (e) {
		f->name = (struct span){e->text, e->name_sz};
		f->value = (struct span){e->text + e->name_sz, e->value_sz};
		f->name_known = e->name_known;
		f->value_known = e->value_known;
		return 0;
	}
	f->name = f->value = unknown;
	f->name_known = f->value_known = false;
	return h->before ? 0 : -EBADMSG;
}

/* A literal (RFC 7541 6.2): `bits` of its first octet hold the name's index. */
static int literal(struct hpack *h, struct cursor *c, unsigned bits, struct hpack_field *f)
{
	uint64_t index;
	int err = integer(c, bits, &index);

	if (err)
		return err;
	if (index) {
		err = look_up(h, index, f);
		/* Inserting this entry may evict the other one: copy its name. */
		if (!err)
			err = reserve(&h->name, &h->name_cap, f->name.len + 1);
		if (!err)
			f->name.p = memcpy(h->name, f->name.p, f->name.len);
	} else {
		f->name_known = true;
		err = string(c, &h->name, &h->name_cap, &f->name, NULL);
	}
	f->value = (struct span){"", 0};
	f->value_known = true;
	return err ? err : string(c, &h->value, &h->value_cap, &f->value, f);
}

static int field(struct hpack *h, struct cursor *c, struct hpack_field *f, bool *is_field)
{
	uint64_t v;
	int err;

	*f = (struct hpack_field){0};
	*is_field = true;
	if (*c->p & 0x80) {
		err = integer(c, 7, &v);
		return err ? err : look_up(h, v, f);
	}
	if (*c->p & 0x40) {
		err = literal(h, c, 6, f);
		if (!err)
			insert(h, f);
		return err;
	}
	if (*c->p & 0x20) {
		*is_field = false;
		err = integer(c, 5, &v);
		if (err)
			return err;
		h->max = v > LIMIT_MAX ? LIMIT_MAX : v;
		evict(h);
		return 0;
	}
	return literal(h, c, 4, f);
}

int hpack__decode_part(struct hpack *h, const uint8_t *p, size_t sz,
		       void (*fn)(void *ctx, const struct hpack_field *f), void *ctx, size_t *used)
{
	struct cursor c = {p, p, p + sz};
	struct hpack_field f;
	bool is_field;
	int err = 0;

	*used = 0;
	while (c.p < c.end && !err) {
		err = field(h, &c, &f, &is_field);
		f.cut = err == -ENODATA;
		/* A truncated value may also be a secret. */
		if ((!err || (f.cut && f.raw_sz)) && is_field)
			fn(ctx, &f);
		if (!err)
			*used = c.p - p;
	}
	if (err && err != -ENODATA)
		hpack__lost(h);
	return err;
}

int hpack__decode(struct hpack *h, const uint8_t *p, size_t sz,
		  void (*fn)(void *ctx, const struct hpack_field *f), void *ctx)
{
	size_t used;
	int err = hpack__decode_part(h, p, sz, fn, ctx, &used);

	if (err)
		hpack__lost(h);
	return err;
}
