/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/alloc_live.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/event.h"
#include "obrec.skel.h"
#include "record/intake/intake.h"
#include "record/probe/alloc_rule.h"
#include "record/probe/probe.h"

/* Of freed ones the most recent are kept. */
enum { BATCH = 4096, FREED_MAX = 1 << 18 };

struct entry {
	struct alloc_key key;
	struct alloc_live live;
	uint64_t end_ns; /* of its process; 0: goes on */
	bool leaks;
};

struct entries {
	struct entry *v;
	size_t cnt, cap;
};

/* xorshift64*, in [0, 1) */
static double random_of(struct alloc_lives *l)
{
	uint64_t x = l->random ? l->random : 0x9e3779b97f4a7c15;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	l->random = x;
	return (x * 0x2545f4914f6cdd1dULL >> 11) * 0x1p-53;
}

static double weight_of(const struct alloc_lives *l, uint64_t size, uint64_t go_rate)
{
	uint64_t rate = go_rate ? alloc_go_rate(go_rate) : l->rate;

	return alloc_weight(ALLOC_SIZE_OF(size), rate) * (1ULL << (ALLOC_LEVEL_OF(size) & 15));
}

void alloc_lives_send(struct probe_env *env, struct alloc_lives *l, struct wire_sample *s,
		      uint64_t size, uint64_t go_rate)
{
	double bytes = weight_of(l, size, go_rate);

	s->value = alloc_round(bytes, random_of(l));
	intake__weighted(env->intake, s, alloc_round(bytes / ALLOC_SIZE_OF(size), random_of(l)));
}

void alloc_lives_freed(struct alloc_lives *l, const struct wire_alloc_freed *freed)
{
	if (!l->freed)
		l->freed = malloc(FREED_MAX * sizeof(*l->freed));
	if (!l->freed)
		return;
	if (l->freed_cnt == FREED_MAX) {
		l->freed_cnt /= 2;
		memmove(l->freed, l->freed + FREED_MAX - l->freed_cnt,
			l->freed_cnt * sizeof(*l->freed));
	}
	l->freed[l->freed_cnt++] = (struct alloc_freed){freed->birth_ns, freed->freed_ns,
							freed->stack, freed->tgid, freed->near};
}

void alloc_lives_fini(struct alloc_lives *l)
{
	free(l->freed);
}

/* ---- reading the map */

static struct alloc_proc proc_of(const struct probe_env *env, uint32_t tgid)
{
	struct alloc_proc p = {0};

	if (bpf_map_lookup_elem(bpf_map__fd(env->skel->maps.alloc_procs), &tgid, &p))
		p = (struct alloc_proc){0};
	return p;
}

/* Calls fn for each entry of the map, as of different times. */
static void each(const struct probe_env *env,
		 void (*fn)(void *ctx, const struct alloc_key *key, const struct alloc_live *live),
		 void *ctx)
{
	int fd = bpf_map__fd(env->skel->maps.alloc_live), err = 0;
	struct alloc_key *keys = malloc(BATCH * sizeof(*keys));
	struct alloc_live *lives = malloc(BATCH * sizeof(*lives));
	uint32_t at, cnt;
	bool first = true;

	while (keys && lives && !err) {
		cnt = BATCH;
		err = bpf_map_lookup_batch(fd, first ? NULL : &at, &at, keys, lives, &cnt, NULL);
		if (err && err != -ENOENT) /* that is the end, with the last ones */
			break;
		for (uint32_t i = 0; i < cnt; i++)
			fn(ctx, &keys[i], &lives[i]);
		first = false;
	}
	free(keys);
	free(lives);
}

struct collecting {
	struct probe_env *env;
	struct entries to;
	uint64_t end_ns; /* of the capture; 0: only what processes had that ended */
	struct entries stale;
	uint32_t last_tgid;
	struct alloc_proc last;
};

static void add(struct entries *to, const struct entry *e)
{
	size_t cap = to->cap ? 2 * to->cap : 1024;
	struct entry *more = to->cnt < to->cap ? to->v : realloc(to->v, cap * sizeof(*more));

	if (!more)
		return;
	to->cap = to->cnt < to->cap ? to->cap : cap;
	to->v = more;
	to->v[to->cnt++] = *e;
}

static void collect(void *ctx, const struct alloc_key *key, const struct alloc_live *live)
{
	struct collecting *c = ctx;
	struct entry e = {.key = *key, .live = *live};

	if (key->tgid != c->last_tgid) {
		c->last_tgid = key->tgid;
		c->last = proc_of(c->env, key->tgid);
	}
	e.end_ns = c->last.ended_ns;
	if (live->birth_ns < c->last.since_ns) /* of the program before exec */
		add(&c->stale, &e);
	else if (e.end_ns || c->end_ns)
		add(&c->to, &e);
}

static void drop(struct probe_env *env, const struct entries *e)
{
	for (size_t i = 0; i < e->cnt; i++)
		bpf_map_delete_elem(bpf_map__fd(env->skel->maps.alloc_live), &e->v[i].key);
}

/* ---- reporting */

static int by_group(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->key.tgid != y->key.tgid)
		return x->key.tgid < y->key.tgid ? -1 : 1;
	if (x->live.stack != y->live.stack)
		return x->live.stack < y->live.stack ? -1 : 1;
	return x->live.birth_ns < y->live.birth_ns ? -1 : x->live.birth_ns > y->live.birth_ns;
}

static int by_process(const void *a, const void *b)
{
	const struct alloc_freed *x = a, *y = b;

	return x->tgid < y->tgid ? -1 : x->tgid > y->tgid;
}

/* Those freed, by process. */
struct freed_index {
	struct alloc_freed *v;
	size_t cnt;
};

static struct freed_index index_freed(const struct alloc_lives *l)
{
	struct freed_index f = {malloc((l->freed_cnt + 1) * sizeof(*f.v)), l->freed_cnt};

	if (!f.v || !f.cnt) {
		f.cnt = 0;
		return f;
	}
	memcpy(f.v, l->freed, f.cnt * sizeof(*f.v));
	qsort(f.v, f.cnt, sizeof(*f.v), by_process);
	return f;
}

/* Those of a process; *cnt: their number. */
static const struct alloc_freed *freed_of(const struct freed_index *f, uint32_t tgid, size_t *cnt)
{
	size_t low = 0, high = f->cnt, n = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->v[mid].tgid < tgid)
			low = mid + 1;
		else
			high = mid;
	}
	while (low + n < f->cnt && f->v[low + n].tgid == tgid)
		n++;
	*cnt = n;
	return f->v + low;
}

/* Finds which of a process's entries leak. */
static void judge(const struct freed_index *index, uint64_t age_ns, struct entry *e, size_t cnt,
		  uint64_t end_ns)
{
	size_t freed_cnt;
	const struct alloc_freed *f = freed_of(index, e->key.tgid, &freed_cnt);
	struct alloc_life *lives = calloc(cnt + freed_cnt, sizeof(*lives));

	for (size_t i = 0; lives && i < cnt; i++)
		lives[i] = (struct alloc_life){.birth_ns = e[i].live.birth_ns,
					       .stack = e[i].live.stack,
					       .near = e[i].live.near,
					       .entry = i};
	for (size_t i = 0; lives && i < freed_cnt; i++)
		lives[cnt + i] = (struct alloc_life){.birth_ns = f[i].birth_ns,
						     .freed_ns = f[i].freed_ns,
						     .stack = f[i].stack,
						     .near = f[i].near,
						     .entry = UINT32_MAX};
	if (lives && !alloc_judge(lives, cnt + freed_cnt, end_ns, age_ns))
		for (size_t i = 0; i < cnt + freed_cnt; i++)
			if (lives[i].entry < cnt)
				e[lives[i].entry].leaks = lives[i].verdict == ALLOC_LEAK;
	free(lives);
}

static uint64_t age(const struct entry *e, uint64_t end_ns)
{
	return end_ns > e->live.birth_ns ? end_ns - e->live.birth_ns : 0;
}

static void send_row(struct probe_env *env, const struct entry *e, size_t cnt, uint64_t end_ns,
		     double bytes, double objects, double leaked)
{
	struct event_heap row = {
		.hdr = {.kind = WIRE_EVENT, .probe = REC_heap, .size = sizeof(row)},
		.ts_ns = end_ns,
		.thread = (uint64_t)e->key.tgid << 32 | e->live.tid,
		.user_stack = e->live.stack,
		.bytes = bytes + 0.5,
		.objects = objects + 0.5,
		.sampled = cnt,
		.leak_bytes = leaked + 0.5,
		.oldest_ns = age(e, end_ns),
		.median_ns = age(&e[cnt / 2], end_ns),
		.youngest_ns = age(&e[cnt - 1], end_ns),
		.ended = !!e->end_ns,
	};

	memcpy(row.task_comm, e->live.comm, sizeof(row.task_comm));
	intake__event(env->intake, &row.hdr);
}

/* Entries of a process and stack, the oldest first. */
static void report_stack(struct probe_env *env, struct alloc_lives *l, const struct entry *e,
			 size_t cnt, uint64_t end_ns)
{
	double bytes = 0, objects = 0, leaked = 0;

	for (size_t i = 0; i < cnt; i++) {
		bool is_leak = e[i].leaks && age(&e[i], end_ns) >= l->age_ns;
		double weight = weight_of(l, e[i].live.size, e[i].live.rate);
		struct wire_sample s = {
			.hdr.probe = SAMPLE_live,
			.ts_ns = end_ns,
			.tgid = e[i].key.tgid,
			.tid = e[i].live.tid,
			.user_stack = e[i].live.stack,
		};

		memcpy(s.comm, e[i].live.comm, sizeof(s.comm));
		alloc_lives_send(env, l, &s, e[i].live.size, e[i].live.rate);
		bytes += weight;
		objects += weight / ALLOC_SIZE_OF(e[i].live.size);
		if (!is_leak)
			continue;
		leaked += weight;
		s.hdr.probe = SAMPLE_leak;
		alloc_lives_send(env, l, &s, e[i].live.size, e[i].live.rate);
	}
	send_row(env, e, cnt, end_ns, bytes, objects, leaked);
}

/* Entries of a process, sorted. */
static void report_process(struct probe_env *env, struct alloc_lives *l,
			   const struct freed_index *f, struct entry *e, size_t cnt,
			   uint64_t end_ns)
{
	judge(f, l->age_ns, e, cnt, end_ns);
	for (size_t i = 0, n; i < cnt; i += n) {
		for (n = 1; i + n < cnt && e[i + n].live.stack == e[i].live.stack; n++)
			;
		report_stack(env, l, &e[i], n, end_ns);
	}
}

static void report(struct probe_env *env, struct alloc_lives *l, const struct entries *all,
		   uint64_t end_ns)
{
	struct freed_index f = index_freed(l);

	if (all->cnt)
		qsort(all->v, all->cnt, sizeof(*all->v), by_group);
	for (size_t i = 0, n; i < all->cnt; i += n) {
		struct entry *e = &all->v[i];

		for (n = 1; i + n < all->cnt && e[n].key.tgid == e->key.tgid; n++)
			;
		report_process(env, l, &f, e, n, e->end_ns ? e->end_ns : end_ns);
	}
	free(f.v);
}

static void collect_and_report(struct probe_env *env, struct alloc_lives *l, uint64_t end_ns)
{
	struct collecting c = {.env = env, .end_ns = end_ns};

	each(env, collect, &c);
	report(env, l, &c.to, end_ns);
	drop(env, &c.to);
	drop(env, &c.stale);
	free(c.to.v);
	free(c.stale.v);
}

void alloc_lives_finish(struct probe_env *env, struct alloc_lives *l, uint64_t end_ns)
{
	collect_and_report(env, l, end_ns);
}

void alloc_lives_ended(struct probe_env *env, struct alloc_lives *l)
{
	int fd = bpf_map__fd(env->skel->maps.alloc_procs);
	uint32_t key, *at = NULL, ended[256];
	struct alloc_proc p;
	size_t cnt = 0;

	while (cnt < sizeof(ended) / sizeof(*ended) && !bpf_map_get_next_key(fd, at, &key)) {
		at = &key;
		if (!bpf_map_lookup_elem(fd, &key, &p) && p.ended_ns)
			ended[cnt++] = key;
	}
	if (!cnt)
		return;
	collect_and_report(env, l, 0);
	for (size_t i = 0; i < cnt; i++)
		bpf_map_delete_elem(fd, &ended[i]);
}

static void keep(void *ctx, const struct alloc_key *key, const struct alloc_live *live)
{
	struct probe_env *env = ctx;

	if (live->stack)
		intake__keep_stack(env->intake, live->stack);
}

void alloc_lives_keep(struct probe_env *env)
{
	each(env, keep, env);
}
