/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/base/idmap.h"
#include "record/binary/read_jit.h"
#include "record/reader/reader_process.h"

/* ---- in the reader ---- */

enum { KEPT = 64 }; /* number of processes whose indices are kept */

static struct kept {
	uint64_t serial; /* of the process's struct jit_names; 0: none */
	uint32_t pid;
	uint64_t used;
	struct perfmap *map;
} kept[KEPT];

static struct perfmap *map_of(int proc, uint64_t serial, uint32_t pid)
{
	static uint64_t uses;
	struct kept *k = &kept[0];

	for (int i = 0; i < KEPT; i++) {
		if (kept[i].serial == serial) {
			kept[i].used = ++uses;
			return kept[i].map;
		}
		if (kept[i].used < k->used)
			k = &kept[i];
	}
	perfmap__free(k->map);
	*k = (struct kept){.serial = serial, .pid = pid, .used = ++uses};
	if (perfmap__new(&k->map, proc, pid))
		*k = (struct kept){0};
	return k->map;
}

static void put_symbol(void *ctx, const struct perfmap_line *l)
{
	struct parcel *m = ctx;

	if (!l->start) /* the end marker */
		return;
	parcel_put_u64(m, l->start);
	parcel_put_u64(m, l->size);
	parcel_put_span(m, l->name);
}

int read_jit_serve(int proc, struct parcel *request, struct parcel *answer)
{
	uint64_t serial = parcel_get_u64(request), pid = parcel_get_u64(request);
	uint64_t cnt = parcel_get_u64(request), refused;
	const uint64_t *address = parcel_get_tail(request, cnt, sizeof(*address));
	struct perfmap *map = request->bad ? NULL : map_of(proc, serial, pid);
	int err;

	if (!map)
		return request->bad ? -EBADMSG : -ENOMEM;
	for (uint64_t i = 0; i < cnt; i++)
		perfmap__hit(map, address[i]);
	err = perfmap__resolve(map, put_symbol, answer, &refused);
	parcel_put_u64(answer, 0); /* end marker: no symbol starts at 0 */
	parcel_put_u64(answer, refused);
	cnt = perfmap__unresolved(map, &address);
	parcel_put_u64(answer, cnt);
	parcel_put_tail(answer, address, cnt * sizeof(*address));
	return err;
}

/* ---- in obrec ---- */

#define ADDRESSES_MAX (1u << 18)
#define AGAIN_NS 250000000ULL
#define AGAIN_MAX_NS (16 * AGAIN_NS)

struct jit_names {
	uint64_t serial;
	uint32_t pid;
	bool asked;
	uint64_t next_ns, again_ns; /* time of the next request; current interval */
	struct idmap seen;	    /* addresses hit */
	struct idmap reported;	    /* 1 + symbol starts */
	uint64_t *pending;	    /* without a name; the first asked_cnt are in flight */
	size_t pending_cnt, pending_cap, asked_cnt;
	uint64_t refused;
};

int jit_names__new(struct jit_names **out, uint32_t pid)
{
	static uint64_t serial;
	struct jit_names *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->pid = pid;
	j->serial = ++serial;
	j->again_ns = AGAIN_NS;
	*out = j;
	return 0;
}

void jit_names__free(struct jit_names *j)
{
	if (!j)
		return;
	idmap_fini(&j->seen);
	idmap_fini(&j->reported);
	free(j->pending);
	free(j);
}

uint32_t jit_names__pid(const struct jit_names *j)
{
	return j->pid;
}

bool jit_names__hit(struct jit_names *j, uint64_t address)
{
	if (idmap_get(&j->seen, address))
		return false;
	if (j->seen.cnt >= ADDRESSES_MAX) {
		j->refused++;
		return false;
	}
	if (j->pending_cnt == j->pending_cap) {
		size_t cap = j->pending_cap ? j->pending_cap * 2 : 64;
		uint64_t *v = realloc(j->pending, cap * sizeof(*v));

		if (!v)
			return false;
		j->pending = v;
		j->pending_cap = cap;
	}
	if (idmap_put(&j->seen, address, j))
		return false;
	j->pending[j->pending_cnt++] = address;
	return true;
}

bool jit_names__due(const struct jit_names *j, uint64_t now_ns, bool last)
{
	return j->pending_cnt && !j->asked && (last || now_ns >= j->next_ns);
}

void jit_names__ask(struct jit_names *j, struct parcel *m)
{
	parcel_init(m, READING_jit);
	parcel_put_u64(m, j->serial);
	parcel_put_u64(m, j->pid);
	parcel_put_u64(m, j->pending_cnt);
	/* Copied, because addresses may be added before the message is sent. */
	while (m->len % 8)
		parcel_put(m, "", 1);
	parcel_put(m, j->pending, j->pending_cnt * sizeof(*j->pending));
	j->asked_cnt = j->pending_cnt;
	j->asked = true;
}

static void report(struct jit_names *j, const struct perfmap_line *l,
		   void (*fn)(void *ctx, const struct perfmap_line *symbol), void *ctx)
{
	if (l->name.len && !idmap_get(&j->reported, l->start + 1) &&
	    !idmap_put(&j->reported, l->start + 1, j))
		fn(ctx, l);
}

/* Replaces the requested addresses by those that still have no name. */
static void keep_unresolved(struct jit_names *j, const uint64_t *address, size_t cnt)
{
	if (cnt > j->asked_cnt)
		return;
	memcpy(j->pending, address, cnt * sizeof(*address));
	memmove(j->pending + cnt, j->pending + j->asked_cnt,
		(j->pending_cnt - j->asked_cnt) * sizeof(*address));
	j->pending_cnt -= j->asked_cnt - cnt;
}

int jit_names__take(struct jit_names *j, struct parcel *m, uint64_t now_ns,
		    void (*fn)(void *ctx, const struct perfmap_line *symbol), void *ctx,
		    uint64_t *refused)
{
	size_t before = j->pending_cnt;
	struct perfmap_line l;
	const uint64_t *left;
	uint64_t cnt;

	*refused = j->refused;
	j->refused = 0;
	j->asked = false;
	while (m->len && (l.start = parcel_get_u64(m))) {
		l.size = parcel_get_u64(m);
		l.name = parcel_get_span(m);
		if (!m->bad)
			report(j, &l, fn, ctx);
	}
	if (m->len)
		*refused += parcel_get_u64(m);
	cnt = parcel_get_u64(m);
	left = parcel_get_tail(m, cnt, sizeof(*left));
	if (!m->bad && m->len)
		keep_unresolved(j, left, cnt);
	j->again_ns = j->pending_cnt < before	   ? AGAIN_NS
		      : j->again_ns < AGAIN_MAX_NS ? j->again_ns * 2
						   : AGAIN_MAX_NS;
	j->next_ns = now_ns + j->again_ns;
	return m->rc;
}
