/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/metrics.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/intake/cells.h"
#include "record/probe/probe.h"

/* Memory of a cell besides its values per CPU: key and table links. */
enum { CELL_OVERHEAD = 128, CELLS_MIN = 4096, CELLS_MAX = 32768, BATCH = 4096 };
/* Keys of a series that have room however many the others have; fewer if half of the cells is not
 * enough for all. */
enum { CELLS_RESERVED = 512 };

struct metrics {
	struct probe_env *env;
	struct cells *cells;
	/* cells that programs have in arrays of their own, over all arrays so far, and in all now
	 */
	struct cells *own, *own_now;
	const struct metric_own *own_slots[RECORD_MAX_PROBES]; /* NULL: none */
	size_t own_cnt;					       /* of each */
	uint64_t from_ns, others; /* start of the interval; last metric_other_cnt */
	bool named;		  /* series definitions have been written */
	unsigned cpus;
	uint32_t batch; /* keys per batch call */
	struct metric_key *keys;
	struct metric_cell *values; /* per CPU */
	int err;
};

/* Series of each probe with events; they precede its own. */
static const struct series event_series[SERIES_OWN] = {
	[SERIES_EVENTS] = {"events", "", SERIES_COUNTER, "process", series_key_comm},
	[SERIES_THROTTLED] = {"throttled", "", SERIES_COUNTER, "process", series_key_comm},
};

/* NULL: no such series. */
static const struct series *series_of(size_t probe, unsigned number)
{
	const struct series *own = probes[probe]->series;

	if (number < SERIES_OWN)
		return probes[probe]->event ? &event_series[number] : NULL;
	for (unsigned i = SERIES_OWN; own && own->name; i++, own++)
		if (i == number)
			return own;
	return NULL;
}

static bool is_on(const struct probe_env *env, size_t probe)
{
	return env->opts->probes >> probe & 1;
}

/* Calls fn for each series of the enabled probes. */
static void each_series(struct probe_env *env, void *ctx,
			void (*fn)(void *ctx, const struct series *s, size_t probe,
				   unsigned number))
{
	for (size_t i = 0; probes[i]; i++)
		for (unsigned n = 0; n < SERIES_MAX && is_on(env, i); n++)
			if (series_of(i, n))
				fn(ctx, series_of(i, n), i, n);
}

struct places {
	uint32_t *at; /* metric_other_at */
	uint32_t cnt;
	uint32_t series;
};

/* Index 0 is reserved: keys of series without a place go there. */
static void place_others(void *ctx, const struct series *s, size_t probe, unsigned number)
{
	struct places *p = ctx;

	p->at[SERIES_NUMBER(probe, number)] = p->cnt;
	p->cnt += s->kind != SERIES_COUNTER ? METRIC_BUCKETS : 1;
	p->series++;
}

static void set_rates(struct probe_env *env)
{
	uint32_t *rates = (uint32_t *)env->skel->rodata->event_rates;

	for (size_t i = 0; probes[i]; i++)
		if (is_on(env, i) && probes[i]->event)
			rates[i] = probe_env__option(env, probes[i], "rate");
}

static struct bpf_map *own_map(const struct probe_env *env, size_t probe)
{
	if (!is_on(env, probe) || !probes[probe]->own)
		return NULL;
	return bpf_object__find_map_by_name(env->skel->obj, probes[probe]->own);
}

static int prepare_own(struct probe_env *env)
{
	int err = 0;

	for (size_t i = 0; probes[i] && !err; i++) {
		struct bpf_map *map = own_map(env, i);

		if (map)
			err = bpf_map__set_max_entries(map, env->features->cpus * METRIC_OWN_SLOTS);
	}
	return err;
}

static void share_cells(struct obrec_bpf *skel, uint32_t cells, uint32_t series)
{
	uint32_t each = cells / 2 / series;

	each = each < CELLS_RESERVED ? each : CELLS_RESERVED;
	skel->rodata->metric_reserved = each;
	skel->rodata->metric_shared = cells - each * series;
}

int metrics_prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	struct places p = {.at = skel->bss->metric_other_at, .cnt = 1};
	unsigned cpus = env->features->cpus;
	uint64_t cells =
		env->opts->max_mem / 32 / (CELL_OVERHEAD + sizeof(struct metric_cell) * cpus);
	int err;

	each_series(env, &p, place_others);
	if (p.cnt == 1)
		return 0;
	set_rates(env);
	cells = cells < CELLS_MIN ? CELLS_MIN : cells > CELLS_MAX ? CELLS_MAX : cells;
	share_cells(skel, cells, p.series);
	err = prepare_own(env);
	err = err ? err : bpf_map__set_max_entries(skel->maps.metrics, cells);
	return err ? err : bpf_map__set_max_entries(skel->maps.metric_others, p.cnt);
}

static int map_own(struct metrics *m)
{
	m->own_cnt = m->env->features->cpus * METRIC_OWN_SLOTS;
	for (size_t i = 0; probes[i]; i++) {
		struct bpf_map *map = own_map(m->env, i);
		void *slots = map ? mmap(NULL, m->own_cnt * sizeof(struct metric_own), PROT_READ,
					 MAP_SHARED, bpf_map__fd(map), 0)
				  : NULL;

		if (slots == MAP_FAILED)
			return -errno;
		m->own_slots[i] = slots;
	}
	return 0;
}

int metrics__new(struct metrics **out, struct probe_env *env)
{
	struct metrics *m;
	int err = 0, cpus = libbpf_num_possible_cpus();

	*out = NULL;
	if (bpf_map__max_entries(env->skel->maps.metrics) == 1)
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*out = m;
	m->env = env;
	m->cpus = cpus > 0 ? cpus : 1;
	m->batch = BATCH;
	m->keys = malloc(m->batch * sizeof(*m->keys));
	m->values = malloc(m->batch * m->cpus * sizeof(*m->values));
	err = m->keys && m->values ? cells__new(&m->cells) : -ENOMEM;
	err = err ? err : cells__new(&m->own);
	err = err ? err : cells__new(&m->own_now);
	return err ? err : map_own(m);
}

void metrics__free(struct metrics *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < RECORD_MAX_PROBES; i++)
		if (m->own_slots[i])
			munmap((void *)m->own_slots[i], m->own_cnt * sizeof(struct metric_own));
	cells__free(m->cells);
	cells__free(m->own);
	cells__free(m->own_now);
	free(m->keys);
	free(m->values);
	free(m);
}

static void note(struct metrics *m, int err)
{
	if (err && !m->err)
		m->err = err;
}

static void write_series(void *ctx, const struct series *s, size_t probe, unsigned number)
{
	struct metrics *m = ctx;
	struct rec_series r = {
		.id = SERIES_NUMBER(probe, number) + 1,
		.probe = span_of(probes[probe]->name),
		.name = span_of(s->name),
		.kind = span_of(s->kind != SERIES_COUNTER ? "histogram" : "counter"),
		.unit = span_of(s->unit),
		.keys = span_of(s->keys),
	};

	note(m, obz_writer__put(m->env->writer, REC_series, &r));
}

/* Writes the increase of a key since it was last seen in `seen`. `text`: replaces the key's text.
 */
static void write_cell(struct metrics *m, struct cells *seen, const struct metric_key *key,
		       const struct metric_cell *now, const char *text)
{
	const struct series *s = series_of(key->series / SERIES_MAX, key->series % SERIES_MAX);
	struct metric_cell grown;
	struct rec_cell r;
	char own[512] = "";
	int err = s ? cells__grown(seen, key, now, &grown) : -ENOENT;

	if (err || !(grown.count | grown.sum)) {
		note(m, err == -ENOMEM ? err : 0);
		return;
	}
	if (!text && s->key_text)
		s->key_text(m->env, (const uint64_t *)key->part, own, sizeof(own));
	r = (struct rec_cell){
		.ts_ns = m->from_ns,
		.series = key->series + 1,
		.key = span_of(text ? text : own),
		.count = grown.count,
		.sum = grown.sum,
	};
	if (s->kind != SERIES_COUNTER) {
		r.low = metric_low(key->bucket);
		r.high = metric_low(key->bucket +
				    (s->kind == SERIES_COARSE ? METRIC_COARSE_JOIN : 1));
	}
	note(m, obz_writer__put(m->env->writer, REC_cell, &r));
}

static struct metric_cell sum_up(const struct metric_cell *by_cpu, unsigned cpus)
{
	struct metric_cell sum = {0};

	for (unsigned i = 0; i < cpus; i++) {
		sum.count += by_cpu[i].count;
		sum.sum += by_cpu[i].sum;
	}
	return sum;
}

/* Keys added during iteration may be returned twice or not at all; cells.h allows for this. */
static int read_cells(struct metrics *m)
{
	int fd = bpf_map__fd(m->env->skel->maps.metrics), err = 0;
	uint32_t at = 0, cnt;
	bool first = true;

	while (!err) {
		cnt = m->batch;
		err = bpf_map_lookup_batch(fd, first ? NULL : &at, &at, m->keys, m->values, &cnt,
					   NULL);
		if (err && errno != ENOENT) /* ENOSPC: a bucket has more keys than a batch */
			return -errno;
		first = false;
		for (uint32_t i = 0; i < cnt; i++) {
			struct metric_cell now = sum_up(&m->values[i * m->cpus], m->cpus);

			write_cell(m, m->cells, &m->keys[i], &now, NULL);
		}
	}
	return 0;
}

static void read_others(void *ctx, const struct series *s, size_t probe, unsigned number)
{
	struct metrics *m = ctx;
	struct metric_key key = {.series = SERIES_NUMBER(probe, number)};
	uint32_t at = m->env->skel->bss->metric_other_at[key.series];
	struct metric_cell now;

	memset(key.part, 0xff, sizeof(key.part)); /* not a valid key */
	for (; key.bucket < (s->kind != SERIES_COUNTER ? METRIC_BUCKETS : 1); key.bucket++, at++)
		if (!bpf_map_lookup_elem(bpf_map__fd(m->env->skel->maps.metric_others), &at,
					 &now) &&
		    now.count)
			write_cell(m, m->cells, &key, &now, "(other)");
}

/* A slot that was taken just now may be seen with part of its key; then it is not in its place. */
static bool is_in_place(const struct metric_own *slot, size_t at)
{
	return slot->cell.count &&
	       (metric_own_slot(&slot->key) & ~1u) == (at & (METRIC_OWN_SLOTS - 1) & ~1u);
}

static void read_own(struct metrics *m)
{
	struct metric_key key;
	struct metric_cell sum;
	int err = 0;

	cells__clear(m->own_now);
	for (size_t p = 0; p < RECORD_MAX_PROBES; p++)
		for (size_t i = 0; m->own_slots[p] && i < m->own_cnt && !err; i++) {
			struct metric_own slot =
				*(const volatile struct metric_own *)&m->own_slots[p][i];

			if (is_in_place(&slot, i))
				err = cells__add(m->own_now, &slot.key, &slot.cell);
		}
	note(m, err);
	for (size_t i = 0; cells__next(m->own_now, &i, &key, &sum);)
		write_cell(m, m->own, &key, &sum, NULL);
}

int metrics__tick(struct metrics *m, uint64_t now_ns)
{
	uint64_t others;

	if (!m)
		return 0;
	if (!m->from_ns)
		m->from_ns = m->env->start_ns;
	if (!m->named)
		each_series(m->env, m, write_series);
	m->named = true;
	note(m, read_cells(m));
	read_own(m);
	others = __atomic_load_n(&m->env->skel->bss->metric_other_cnt, __ATOMIC_ACQUIRE);
	if (others != m->others)
		each_series(m->env, m, read_others);
	m->others = others;
	m->from_ns = now_ns;
	return m->err;
}

void metrics_add(struct probe_env *env, const struct metric_key *key, uint64_t value)
{
	metrics_add_many(env, key, 1, value);
}

void metrics_add_many(struct probe_env *env, const struct metric_key *key, uint64_t count,
		      uint64_t sum)
{
	int fd = bpf_map__fd(env->skel->maps.metrics), cpus = libbpf_num_possible_cpus();
	struct metric_cell *by_cpu = cpus > 0 ? calloc(cpus, sizeof(*by_cpu)) : NULL;

	if (!by_cpu)
		return;
	if (bpf_map_lookup_elem(fd, key, by_cpu)) /* a new key */
		memset(by_cpu, 0, cpus * sizeof(*by_cpu));
	by_cpu->count += count;
	by_cpu->sum += sum;
	bpf_map_update_elem(fd, key, by_cpu, BPF_ANY);
	free(by_cpu);
}

void metrics__reanchor(struct metrics *m)
{
	if (m)
		m->named = false;
}
