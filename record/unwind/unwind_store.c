/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/unwind/unwind_arena.h"
#include "record/unwind/unwind_rules.h"
#include "record/unwind/unwind_runs.h"
#include "record/unwind/unwind_store.h"

#define REST_NS 1000000000ULL
#define PROC_BUCKETS 4096

struct published {
	struct published *next;
	uint32_t tgid;
	struct proc value;
	struct run run; /* cnt 0: no ranges */
};

/* Entries with PROC_ENDED, oldest first, in a circle. */
enum { ENDED_MAX = 4096 };
struct ended {
	uint32_t tgid;
	uint64_t at_ns;
};

struct unwind_store {
	struct unwind_maps maps;
	bool memory; /* no BPF: pages and rules are in own memory */
	uint64_t max_row_bytes;
	struct arena rows, ranges;
	struct range_seg *range_seg[RANGE_SEGS]; /* mapped once written to */
	struct runs runs;			 /* of ranges */
	struct runs row_runs, page_runs;
	struct rule_set rules;
	size_t rules_written;
	uint32_t generation;
	uint64_t table_cnt;
	struct published *procs[PROC_BUCKETS];
	struct ended ended[ENDED_MAX];
	uint32_t ended_from, ended_to; /* counts; positions modulo ENDED_MAX */
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int unwind_store__new(struct unwind_store **out, const struct unwind_maps *maps,
		      uint64_t max_row_bytes)
{
	struct unwind_store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->maps = maps ? *maps : (struct unwind_maps){-1, -1, -1, -1, -1, NULL, NULL, false};
	s->memory = !maps;
	s->max_row_bytes = max_row_bytes;
	runs__init(&s->runs, RANGE_SEG_CNT);
	runs__init(&s->row_runs, ROW_SEG_CNT);
	runs__init(&s->page_runs, PAGE_CNT);
	if ((err = arena__init(&s->rows, "obrec_rows", s->maps.row_segs, sizeof(struct row_seg),
			       ROW_SEGS)) ||
	    (err = arena__init(&s->ranges, "obrec_ranges", s->maps.range_segs,
			       sizeof(struct range_seg), RANGE_SEGS)) ||
	    (err = runs__add_segment(&s->page_runs, 0)) || (err = rule_set__init(&s->rules)))
		goto fail;
	if (!maps) {
		s->maps.pages = err = arena_memory_fd("pages", PAGE_CNT * sizeof(struct page));
		if (err >= 0)
			s->maps.rules = err = arena_memory_fd("rules", RULE_CNT * RULE_STRIDE);
		if (err < 0)
			goto fail;
	}
	*out = s;
	return 0;
fail:
	unwind_store__free(s);
	return err;
}

void unwind_store__free(struct unwind_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < PROC_BUCKETS; i++) {
		struct published *next;

		for (struct published *p = s->procs[i]; p; p = next) {
			next = p->next;
			free(p);
		}
	}
	if (s->memory && s->maps.pages >= 0)
		close(s->maps.pages);
	if (s->memory && s->maps.rules >= 0)
		close(s->maps.rules);
	for (size_t i = 0; i < RANGE_SEGS; i++)
		arena_unmap(s->range_seg[i], sizeof(*s->range_seg[i]));
	arena__fini(&s->rows);
	arena__fini(&s->ranges);
	runs__fini(&s->runs);
	runs__fini(&s->row_runs);
	runs__fini(&s->page_runs);
	rule_set__fini(&s->rules);
	free(s);
}

/* ---- tables ---- */

/* Writes rules that are not yet in the map. */
static int write_rules(struct unwind_store *s)
{
	const size_t size = RULE_CNT * RULE_STRIDE;
	uint8_t *map;

	if (s->rules_written == s->rules.cnt)
		return 0;
	map = arena_map_fd(s->maps.rules, size, 1);
	if (!map)
		return -errno;
	for (; s->rules_written < s->rules.cnt; s->rules_written++)
		memcpy(map + s->rules_written * RULE_STRIDE, &s->rules.v[s->rules_written],
		       sizeof(struct rule));
	arena_unmap(map, size);
	return 0;
}

/* Allocates the rows of a page within one segment. */
static int alloc_rows(struct unwind_store *s, uint32_t cnt, uint32_t *pos)
{
	int err = runs__alloc(&s->row_runs, cnt, pos);

	if (err != -ENOSPC)
		return err;
	if ((s->rows.seg_cnt + 1) * sizeof(struct row_seg) > s->max_row_bytes)
		return -ENOSPC;
	err = arena__grow(&s->rows);
	if (!err)
		err = runs__add_segment(&s->row_runs, s->rows.seg_cnt - 1);
	return err ? err : runs__alloc(&s->row_runs, cnt, pos);
}

struct writing {
	struct unwind_store *s;
	uint32_t *rule_of; /* maps rule numbers of the table to those of the store */
	struct page *pages;
	struct row_seg *seg; /* mapped, or NULL */
	uint32_t seg_no;
};

static int write_page(struct writing *w, const struct unwind_table *t, size_t i, uint32_t index)
{
	const struct unwind_page *p = &t->pages[i];
	uint32_t pos, seg, first;
	int err;

	if (!p->cnt)
		return 0;
	err = alloc_rows(w->s, p->cnt, &pos);
	if (err)
		return err;
	seg = pos >> ROW_SEG_SHIFT;
	first = pos & (ROW_SEG_CNT - 1);
	w->pages[index] = (struct page){seg, first, p->cnt};
	if (!w->seg || seg != w->seg_no) {
		arena_unmap(w->seg, sizeof(*w->seg));
		w->seg = arena__map(&w->s->rows, seg);
		if (!w->seg)
			return -errno;
		w->seg_no = seg;
	}
	for (uint32_t k = 0; k < p->cnt; k++) {
		uint32_t row = t->rows[p->first + k];

		w->seg->rows[first + k] = (row & 0xffff0000) | w->rule_of[row & 0xffff];
	}
	return 0;
}

/* Allocates the pages of a table, initially empty. */
static int alloc_pages(struct writing *w, const struct unwind_table *t, struct unwind_place *at)
{
	int err = runs__alloc(&w->s->page_runs, t->page_cnt, &at->first);

	if (err)
		return err;
	at->cnt = t->page_cnt;
	at->page0 = at->first - (uint32_t)t->first_page;
	memset(w->pages + at->first, 0, at->cnt * sizeof(*w->pages));
	return 0;
}

static struct page *map_pages(const struct unwind_store *s)
{
	return arena_map_fd(s->maps.pages, PAGE_CNT * sizeof(struct page), 1);
}

int unwind_store__add(struct unwind_store *s, const struct unwind_table *t, struct unwind_place *at)
{
	struct writing w = {.s = s};
	int err = 0;

	*at = (struct unwind_place){0};
	w.rule_of = calloc(t->rule_cnt + 1, sizeof(*w.rule_of));
	if (!w.rule_of)
		return -ENOMEM;
	for (size_t i = 0; i < t->rule_cnt && !err; i++)
		err = rule_set__intern(&s->rules, &t->rules[i], &w.rule_of[i]);
	if (!err)
		err = write_rules(s);
	if (!err && !(w.pages = map_pages(s)))
		err = -errno;
	if (!err)
		err = alloc_pages(&w, t, at);
	for (size_t i = 0; i < at->cnt && !err; i++)
		err = write_page(&w, t, i, at->first + i);
	s->table_cnt += at->cnt != 0;
	if (err && at->cnt) {
		unwind_store__drop(s, at);
		*at = (struct unwind_place){0};
	}
	arena_unmap(w.seg, sizeof(*w.seg));
	arena_unmap(w.pages, PAGE_CNT * sizeof(struct page));
	free(w.rule_of);
	return err;
}

void unwind_store__drop(struct unwind_store *s, const struct unwind_place *at)
{
	struct page *pages = at->cnt ? map_pages(s) : NULL;
	uint64_t since = now();

	if (!pages)
		return;
	for (uint32_t i = at->first; i < at->first + at->cnt; i++) {
		const struct page *p = &pages[i];

		if (p->row_cnt)
			runs__retire(&s->row_runs,
				     (struct run){(uint32_t)p->seg << ROW_SEG_SHIFT | p->first,
						  p->row_cnt},
				     since);
	}
	runs__retire(&s->page_runs, (struct run){at->first, at->cnt}, since);
	s->table_cnt--;
	arena_unmap(pages, PAGE_CNT * sizeof(struct page));
}

/* ---- processes ---- */

static struct published **find(const struct unwind_store *s, uint32_t tgid)
{
	struct published **p = (struct published **)&s->procs[tgid % PROC_BUCKETS];

	while (*p && (*p)->tgid != tgid)
		p = &(*p)->next;
	return p;
}

static int alloc_run(struct unwind_store *s, uint32_t cnt, struct run *run)
{
	int err = runs__alloc(&s->runs, cnt, &run->pos);

	if (err) {
		unwind_store__reclaim(s, now());
		err = runs__alloc(&s->runs, cnt, &run->pos);
	}
	if (err == -ENOSPC) {
		err = arena__grow(&s->ranges);
		if (!err)
			err = runs__add_segment(&s->runs, s->ranges.seg_cnt - 1);
		if (!err)
			err = runs__alloc(&s->runs, cnt, &run->pos);
	}
	run->cnt = err ? 0 : cnt;
	return err;
}

/* Segments stay mapped: each has 128 KiB and is written for each new process, and every munmap
 * interrupts other CPUs on which obrec has run. */
static int write_ranges(struct unwind_store *s, struct run run, uint32_t generation,
			const struct range *ranges)
{
	const struct range head = {.bias = generation};
	uint32_t no = run.pos >> RANGE_SEG_SHIFT;
	struct range *to;

	if (!s->range_seg[no])
		s->range_seg[no] = arena__map(&s->ranges, no);
	if (!s->range_seg[no])
		return -errno;
	to = &s->range_seg[no]->ranges[run.pos & (RANGE_SEG_CNT - 1)];
	*to = head;
	memcpy(to + 1, ranges, (run.cnt - 1) * sizeof(*ranges));
	return 0;
}

/* Called before the map entry exists. If several pids share a slot, the BPF side must look up the
 * map. */
static void note_target(struct unwind_store *s, uint32_t tgid, uint32_t flags)
{
	uint32_t *slot = s->maps.target_slots;
	bool target = (flags & (PROC_TARGET | PROC_IGNORE)) == PROC_TARGET;

	if (!slot)
		return;
	slot += tgid % TARGET_SLOTS;
	*slot = target && (!*slot || *slot == tgid) ? tgid : TARGET_SLOT_ASK;
}

/* The tgid may be reused by another process. */
static void forget_target(struct unwind_store *s, uint32_t tgid)
{
	uint32_t *slot = s->maps.target_slots;

	if (slot && slot[tgid % TARGET_SLOTS] == tgid)
		slot[tgid % TARGET_SLOTS] = 0;
}

void target_proc__note(struct target_proc *procs, uint32_t tgid, const struct proc *value)
{
	struct target_proc *t = procs + tgid % TARGET_PROCS;
	struct proc *to = &t->proc;

	if (!value && t->tgid != tgid)
		return;
	__atomic_store_n(&to->generation, 0, __ATOMIC_RELAXED);
	if (!value)
		return;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&t->tgid, tgid, __ATOMIC_RELAXED);
	__atomic_store_n(&to->flags, value->flags, __ATOMIC_RELAXED);
	__atomic_store_n(&to->ranges, value->ranges, __ATOMIC_RELAXED);
	__atomic_store_n(&to->range_cnt, value->range_cnt, __ATOMIC_RELAXED);
	__atomic_store_n(&to->jit_binary, value->jit_binary, __ATOMIC_RELAXED);
	__atomic_store_n(&to->generation, value->generation, __ATOMIC_RELEASE);
}

/* Before the map is written: exec clears the map first and this cache second, so neither keeps a
 * value that the other has lost. */
static void note_proc(struct unwind_store *s, uint32_t tgid, const struct proc *value)
{
	if (s->maps.target_procs)
		target_proc__note(s->maps.target_procs, tgid, value);
}

bool unwind_store__has_target(const struct unwind_store *s, uint32_t tgid)
{
	struct proc value;

	return s->memory ? *find(s, tgid) != NULL
			 : !bpf_map_lookup_elem(s->maps.procs, &tgid, &value) &&
				   value.flags & PROC_TARGET;
}

int unwind_store__publish(struct unwind_store *s, uint32_t tgid, uint32_t flags,
			  uint32_t jit_binary, const struct range *ranges, size_t range_cnt)
{
	struct published **at = find(s, tgid), *p = *at;
	struct proc value = {.flags = flags, .range_cnt = range_cnt, .jit_binary = jit_binary};
	struct run run = {0}, old = p ? p->run : (struct run){0};
	int err = 0;

	if (range_cnt >= RANGE_SEG_CNT)
		return -E2BIG;
	if (!++s->generation)
		s->generation = 1;
	value.generation = s->generation;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
	}
	if (range_cnt) {
		err = alloc_run(s, range_cnt + 1, &run);
		if (!err)
			err = write_ranges(s, run, value.generation, ranges);
		value.ranges = run.pos;
	}
	note_target(s, tgid, flags);
	if (!err)
		note_proc(s, tgid, &value);
	if (!err && !s->memory && bpf_map_update_elem(s->maps.procs, &tgid, &value, BPF_ANY))
		err = errno == E2BIG || errno == ENOMEM ? -ENOSPC : -errno;
	if (err) {
		note_proc(s, tgid, NULL);
		if (run.cnt)
			runs__retire(&s->runs, run, now());
		if (p != *at)
			free(p);
		return err;
	}
	if (old.cnt)
		runs__retire(&s->runs, old, now());
	p->tgid = tgid;
	p->value = value;
	p->run = run;
	*at = p;
	return 0;
}

/* ---- processes that have ended ---- */

/* Its tgid may have been published again since. */
static void drop_ended(struct unwind_store *s)
{
	uint32_t tgid = s->ended[s->ended_from++ % ENDED_MAX].tgid;
	struct proc value;

	if (!bpf_map_lookup_elem(s->maps.procs, &tgid, &value) && value.flags == PROC_ENDED)
		bpf_map_delete_elem(s->maps.procs, &tgid);
}

/* Removes the entry, also one that the kernel made for a child. */
static void drop_proc(struct unwind_store *s, uint32_t tgid)
{
	const struct proc ended = {.flags = PROC_ENDED};

	if (!s->maps.linger) {
		bpf_map_delete_elem(s->maps.procs, &tgid);
		return;
	}
	if (bpf_map_update_elem(s->maps.procs, &tgid, &ended, BPF_EXIST))
		return;
	if (s->ended_to - s->ended_from == ENDED_MAX)
		drop_ended(s);
	s->ended[s->ended_to++ % ENDED_MAX] = (struct ended){tgid, now()};
}

int unwind_store__remove(struct unwind_store *s, uint32_t tgid)
{
	struct published **at = find(s, tgid), *p = *at;

	forget_target(s, tgid);
	note_proc(s, tgid, NULL);
	if (!s->memory)
		drop_proc(s, tgid);
	if (!p)
		return -ENOENT;
	*at = p->next;
	if (p->run.cnt)
		runs__retire(&s->runs, p->run, now());
	free(p);
	return 0;
}

void unwind_store__reclaim(struct unwind_store *s, uint64_t now_ns)
{
	if (now_ns <= REST_NS)
		return;
	runs__reclaim(&s->runs, now_ns - REST_NS);
	runs__reclaim(&s->row_runs, now_ns - REST_NS);
	runs__reclaim(&s->page_runs, now_ns - REST_NS);
	while (s->ended_from != s->ended_to &&
	       s->ended[s->ended_from % ENDED_MAX].at_ns < now_ns - REST_NS)
		drop_ended(s);
}

struct unwind_store_stats unwind_store__stats(const struct unwind_store *s)
{
	return (struct unwind_store_stats){.tables = s->table_cnt,
					   .rows = s->row_runs.used,
					   .rules = s->rules.cnt,
					   .pages = s->page_runs.used,
					   .row_bytes = s->rows.seg_cnt * sizeof(struct row_seg),
					   .ranges = s->runs.used};
}

bool unwind_store__proc(const struct unwind_store *s, uint32_t tgid, struct proc *p)
{
	const struct published *pub = *find(s, tgid);

	if (pub)
		*p = pub->value;
	return pub != NULL;
}

int unwind_store__memory(const struct unwind_store *s, enum unwind_memory what, uint32_t seg,
			 size_t *size)
{
	const struct arena *a = what == UNWIND_MEM_RANGES ? &s->ranges : &s->rows;

	if (what == UNWIND_MEM_RANGES || what == UNWIND_MEM_ROWS) {
		*size = a->seg_sz;
		return seg < a->seg_cnt ? a->fds[seg] : -1;
	}
	*size = what == UNWIND_MEM_PAGES ? PAGE_CNT * sizeof(struct page) : RULE_CNT * RULE_STRIDE;
	return seg ? -1 : what == UNWIND_MEM_PAGES ? s->maps.pages : s->maps.rules;
}
