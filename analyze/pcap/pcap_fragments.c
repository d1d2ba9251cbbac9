/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_fragments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analyze/pcap/pcap_flow.h"

enum {
	BUCKETS = 1 << 10,
	DATAGRAMS_MAX = 1 << 12,
	PIECES_MAX = 1 << 11, /* per datagram: more than the smallest MTU of 68 gives */
	HELD_MAX = 32 << 20,
	DATAGRAM_MAX = 65535,
};
#define WAIT_NS 30000000000ull /* as in Linux: net.ipv4.ipfrag_time */
#define AGAIN_NS 1000000000ull /* later fragments belong to a new datagram with the same id */

struct piece {
	struct piece *next;
	uint32_t offset, len, cap;
	uint8_t bytes[];
};

enum datagram_state { DATAGRAM_WAITS, DATAGRAM_WHOLE, DATAGRAM_BAD };

struct datagram {
	struct datagram *chain, *older, *newer;
	struct fragment key;
	enum datagram_state state;
	struct piece *first, *last;
	uint32_t piece_cnt, total, have; /* total 0: not known yet */
	uint64_t seen_ns;		 /* time of the first fragment, or of completion */
	uint64_t held;
};

/* The bytes of a datagram completed by this packet. */
struct whole {
	struct whole *next;
	uint8_t bytes[];
};

struct fragments {
	struct datagram *buckets[BUCKETS];
	struct datagram *oldest, *newest;
	uint32_t cnt;
	uint64_t seed, held, lost, waiting, again;
	struct whole *wholes;
};

int fragments__new(struct fragments **out)
{
	struct fragments *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	*out = f;
	/* A random seed, so that the author of a capture cannot cause hash collisions. */
	return getrandom(&f->seed, sizeof(f->seed), 0) == sizeof(f->seed) ? 0 : -EIO;
}

static struct datagram **bucket(struct fragments *f, const struct fragment *key)
{
	uint64_t h = endpoint_hash(&key->from, f->seed ^ key->id) +
		     endpoint_hash(&key->to, f->seed + key->net) * 3;

	return &f->buckets[(h ^ h >> 32) % BUCKETS];
}

static bool same(const struct fragment *a, const struct fragment *b)
{
	return a->id == b->id && a->v6 == b->v6 && (a->v6 || a->proto == b->proto) &&
	       a->net == b->net && endpoint_equal(&a->from, &b->from) &&
	       endpoint_equal(&a->to, &b->to);
}

static void drop_pieces(struct fragments *f, struct datagram *d)
{
	for (struct piece *p = d->first, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	d->first = d->last = NULL;
	f->held -= d->held;
	d->held = 0;
}

/* Counts its fragments as lost, including those that come later. */
static void give_up(struct fragments *f, struct datagram *d)
{
	if (d->state != DATAGRAM_WAITS)
		return;
	f->lost += d->piece_cnt;
	f->waiting -= d->piece_cnt;
	drop_pieces(f, d);
	d->state = DATAGRAM_BAD;
}

static void forget(struct fragments *f, struct datagram *d)
{
	struct datagram **at = bucket(f, &d->key);

	give_up(f, d);
	while (*at != d)
		at = &(*at)->chain;
	*at = d->chain;
	*(d->older ? &d->older->newer : &f->oldest) = d->newer;
	*(d->newer ? &d->newer->older : &f->newest) = d->older;
	f->cnt--;
	free(d);
}

static struct datagram *find(struct fragments *f, const struct fragment *part)
{
	struct datagram *d = *bucket(f, part);

	while (d && !same(&d->key, part))
		d = d->chain;
	if (d && d->state != DATAGRAM_WAITS && part->ts_ns > d->seen_ns &&
	    part->ts_ns - d->seen_ns > AGAIN_NS) {
		forget(f, d);
		return NULL;
	}
	return d;
}

static struct datagram *add(struct fragments *f, const struct fragment *part)
{
	struct datagram **b, *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->key = *part;
	d->seen_ns = part->ts_ns;
	b = bucket(f, part);
	d->chain = *b;
	*b = d;
	d->older = f->newest;
	*(f->newest ? &f->newest->newer : &f->oldest) = d;
	f->newest = d;
	f->cnt++;
	return d;
}

static void make_room(struct fragments *f, uint64_t now_ns)
{
	while (f->oldest &&
	       (f->cnt >= DATAGRAMS_MAX || f->held > HELD_MAX ||
		(now_ns > f->oldest->seen_ns && now_ns - f->oldest->seen_ns > WAIT_NS)))
		forget(f, f->oldest);
}

enum placed { PLACED, AGAIN, OVERLAPS };

/* Finds the place of a fragment: after *at; NULL: at the front. */
static enum placed place(const struct datagram *d, const struct fragment *part, struct piece **at)
{
	uint32_t from = part->offset, to = from + part->bytes.len;
	struct piece *before = NULL, *p = d->first;

	if (d->last && d->last->offset + d->last->len <= from) {
		*at = d->last;
		return PLACED;
	}
	for (; p && p->offset + p->len <= from; p = p->next)
		before = p;
	*at = before;
	if (!p || p->offset >= to)
		return PLACED;
	return p->offset <= from && p->offset + p->len >= to ? AGAIN : OVERLAPS;
}

static bool insert(struct fragments *f, struct datagram *d, const struct fragment *part,
		   struct piece *before)
{
	size_t sz = sizeof(struct piece) + part->bytes.cap;
	struct piece *p = malloc(sz), **at = before ? &before->next : &d->first;

	if (!p)
		return false;
	*p = (struct piece){*at, part->offset, part->bytes.len, part->bytes.cap};
	memcpy(p->bytes, part->bytes.p, part->bytes.cap);
	*at = p;
	if (!p->next)
		d->last = p;
	d->held += sz;
	f->held += sz;
	d->have += p->len;
	d->piece_cnt++;
	f->waiting++;
	if (!part->offset)
		d->key.proto = part->proto;
	return true;
}

/* Is the fragment valid, and consistent with the known end of the datagram? */
static bool is_sound(const struct datagram *d, const struct fragment *part)
{
	uint32_t end = part->offset + part->bytes.len;

	if (!part->bytes.len || end > DATAGRAM_MAX || (part->more && part->bytes.len % 8))
		return false;
	if (d->total && (part->more ? end > d->total : end != d->total))
		return false;
	return part->more || !d->last || d->last->offset + d->last->len <= end;
}

/* Joins the bytes up to the first one not captured. */
static bool join(struct fragments *f, struct datagram *d, struct rest *whole)
{
	struct whole *w = malloc(sizeof(*w) + d->total);
	bool captured = true;

	if (!w)
		return false;
	w->next = f->wholes;
	f->wholes = w;
	*whole = (struct rest){w->bytes, 0, d->total};
	for (struct piece *p = d->first; p && captured; p = p->next) {
		memcpy(w->bytes + whole->cap, p->bytes, p->cap);
		whole->cap += p->cap;
		captured = p->cap == p->len;
	}
	return true;
}

static bool finish(struct fragments *f, struct datagram *d, struct fragment *part,
		   struct rest *whole)
{
	if (!join(f, d, whole)) {
		give_up(f, d);
		return false;
	}
	f->waiting -= d->piece_cnt;
	drop_pieces(f, d);
	d->state = DATAGRAM_WHOLE;
	d->seen_ns = part->ts_ns;
	part->proto = d->key.proto;
	return true;
}

bool fragments__add(struct fragments *f, struct fragment *part, struct rest *whole)
{
	struct piece *before = NULL;
	struct datagram *d;
	enum placed placed;

	make_room(f, part->ts_ns);
	d = find(f, part);
	if (!d)
		d = add(f, part);
	if (!d || d->state == DATAGRAM_BAD) {
		f->lost++;
		return false;
	}
	placed = d->state == DATAGRAM_WHOLE ? AGAIN : place(d, part, &before);
	if (placed == AGAIN) {
		f->again++;
		return false;
	}
	if (placed == OVERLAPS || d->piece_cnt == PIECES_MAX || !is_sound(d, part) ||
	    !insert(f, d, part, before)) {
		give_up(f, d);
		f->lost++;
		return false;
	}
	if (!part->more)
		d->total = part->offset + part->bytes.len;
	return d->total && d->have == d->total && finish(f, d, part, whole);
}

void fragments__forget_whole(struct fragments *f)
{
	for (struct whole *w = f->wholes, *next; w; w = next) {
		next = w->next;
		free(w);
	}
	f->wholes = NULL;
}

uint64_t fragments__lost(const struct fragments *f)
{
	return f->lost + f->waiting;
}

uint64_t fragments__again(const struct fragments *f)
{
	return f->again;
}

void fragments__free(struct fragments *f)
{
	if (!f)
		return;
	while (f->oldest)
		forget(f, f->oldest);
	fragments__forget_whole(f);
	free(f);
}
