/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/dwarf.h"

#include <stdatomic.h>

#include "analyze/symbol/dwarf_func.h"
#include "format/dwarf/dwarf_line.h"
#include "format/dwarf/dwarf_map.h"
#include "analyze/symbol/dwarf_name.h"
#include "format/dwarf/dwarf_split.h"
#include "analyze/symbol/parallel.h"

struct dwarf {
	struct dwarf_file file, alt;
	struct dwarf_package package;
	struct unit_map map;
	struct budget *budget;
	char *path;
	atomic_bool incomplete;
	atomic_ullong touched; /* bytes read since pages were last released */
};

static bool any_split(const struct dwarf_file *f)
{
	for (size_t i = 0; i < f->unit_cnt; i++)
		if (f->units[i].dwo_name)
			return true;
	return false;
}

static int load(struct dwarf *d, struct elf_image *elf, struct elf_image *alt, struct meter *m)
{
	int err;

	dwarf_file_init(&d->file, elf, false, m);
	if (alt) { /* opened first: compilation directories may be strings in it */
		dwarf_file_init(&d->alt, alt, false, m);
		d->file.alt = &d->alt;
	}
	err = dwarf_file_load(&d->file, m);
	if (!err && !d->file.unit_cnt)
		err = -ENOENT;
	if (!err && alt)
		err = dwarf_file_load(&d->alt, m);
	if (!err)
		err = unit_map_build(&d->map, &d->file, m);
	if (!err && any_split(&d->file))
		dwarf_package_open(&d->package, &(struct split_place){.path = d->path}, m);
	return meter_over(m) ? -E2BIG : err;
}

int dwarf__open(struct dwarf **out, struct elf_image *elf, struct elf_image *alt, const char *path,
		struct budget *budget)
{
	struct dwarf *d = calloc(1, sizeof(*d));
	struct meter m = {.budget = budget};
	int err = -ENOMEM;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	d->budget = budget;
	if (path) {
		d->path = strdup(path);
		if (!d->path)
			goto cleanup;
	}
	err = load(d, elf, alt, &m);
	elf_image__release_pages(elf);
cleanup:
	meter_fini(&m);
	if (err)
		dwarf__close(d);
	else
		*out = d;
	return err;
}

void dwarf__close(struct dwarf *d)
{
	if (!d)
		return;
	dwarf_package_close(&d->package);
	unit_map_fini(&d->map);
	dwarf_file_fini(&d->alt);
	dwarf_file_fini(&d->file);
	free(d->path);
	free(d);
}

bool dwarf__covers(const struct dwarf *d, uint64_t addr)
{
	return unit_map_find(&d->map, addr) != NULL;
}

bool dwarf__incomplete(const struct dwarf *d)
{
	return atomic_load(&d->incomplete);
}

/* Addresses of one unit, or a slice of those in no unit. */
struct item {
	const struct dwarf_unit *unit;
	size_t first, cnt;
	struct answers answers;
};

struct worker {
	struct abbrev_cache abbrevs;
	struct func_table funcs;
	struct line_table lines;
	struct name_memo names;
	struct meter meter;
};

struct batch {
	struct dwarf *d;
	const struct symtab *symtab;
	struct name_pool *pool;
	uint64_t *addrs; /* grouped by item, ascending within each */
	struct item *items;
	size_t item_cnt;
	struct worker *workers;
};

/* State of one address while its chain is built. */
struct lookup {
	uint64_t addr, lo, hi;
	struct answer_frame frames[CHAIN_MAX];
	size_t cnt;
};

static void narrow(struct lookup *l, uint64_t lo, uint64_t hi)
{
	if (lo > l->lo)
		l->lo = lo;
	if (hi < l->hi)
		l->hi = hi;
}

/* The innermost frame's line is from the line table, that of each outer frame from its call
 * site. */
static void add_chain(struct batch *b, struct worker *w, const struct dwarf_unit *u,
		      struct lookup *l)
{
	struct name_search names = {&w->names, &w->abbrevs, b->pool, &w->meter};
	struct answer_frame next = {0};
	struct line_hit line;
	struct call_site site;
	const struct func *f;
	uint64_t lo, hi;

	if (line_table_find(&w->lines, l->addr, &line)) {
		next.file = line_table_file(&w->lines, line.file, b->pool, &w->meter);
		next.line = next.file ? line.line : 0;
		narrow(l, line.lo, line.hi);
	} else {
		narrow(l, l->addr, l->addr + 1);
	}
	f = func_table_find(&w->funcs, l->addr, &lo, &hi);
	narrow(l, lo, hi);
	while (f && l->cnt < CHAIN_MAX) {
		next.name = dwarf_func_name(&names, u, f->die_off, &site);
		l->frames[l->cnt++] = next;
		if (!f->inlined || !f->parent)
			return;
		next = (struct answer_frame){
			.file = line_table_file(&w->lines, site.file, b->pool, &w->meter),
			.line = site.line > UINT32_MAX ? 0 : (uint32_t)site.line,
		};
		f = &w->funcs.funcs[f->parent - 1];
	}
	if (!l->cnt && next.file)
		l->frames[l->cnt++] = next;
}

/*
 * The outermost function gets its name from the symbol table, if it has one: clones (".cold",
 * ".isra.0") and assembler functions have no better name. llvm-symbolizer does the same.
 */
static void add_symbol(struct batch *b, struct worker *w, struct lookup *l)
{
	struct answer_frame *f;
	struct symtab_hit hit;

	symtab_find(b->symtab, l->addr, &hit);
	narrow(l, hit.lo, hit.hi);
	if (!hit.name)
		return;
	if (!l->cnt)
		l->frames[l->cnt++] = (struct answer_frame){0};
	f = &l->frames[l->cnt - 1];
	f->name = name_pool__add_symbol(b->pool, hit.name, &w->meter);
	if (!f->file)
		f->file = name_pool__add(b->pool, hit.file, &w->meter);
}

static bool answered(const struct answers *a, uint64_t addr)
{
	return a->cnt && addr < a->v[a->cnt - 1].hi;
}

/* The chain length is limited (CHAIN_MAX), but every address may have its own chain. */
static int add_answer(struct worker *w, struct item *it, const struct lookup *l)
{
	uint64_t sz = sizeof(struct answer) + l->cnt * sizeof(struct answer_frame);

	if (!meter_work(&w->meter, 1 + l->cnt) || !meter_bytes(&w->meter, 2 * sz))
		return -E2BIG;
	return answers_add(&it->answers, l->lo, l->hi, l->frames, l->cnt);
}

static int answer_without_unit(struct batch *b, struct worker *w, struct item *it)
{
	int err = 0;

	for (size_t i = 0; i < it->cnt && !err; i++) {
		struct lookup l;
		const struct unit_range *next;

		l.addr = b->addrs[it->first + i];
		if (answered(&it->answers, l.addr))
			continue;
		l.lo = l.addr;
		l.hi = UINT64_MAX;
		l.cnt = 0;
		next = unit_map_next(&b->d->map, l.addr);
		if (next)
			l.hi = next->lo;
		add_symbol(b, w, &l);
		err = add_answer(w, it, &l);
	}
	return err;
}

static int answer_in_unit(struct batch *b, struct worker *w, struct item *it,
			  const struct dwarf_unit *u)
{
	const uint64_t *addrs = b->addrs + it->first;
	const struct abbrev_table *ab = abbrev_cache_get(&w->abbrevs, u, &w->meter);
	int err;

	if (!ab)
		return meter_error(&w->meter);
	err = func_table_load(&w->funcs, u, ab, b->d->file.elf, addrs, it->cnt, &w->meter);
	if (!err)
		err = line_table_load(&w->lines, it->unit, addrs, it->cnt, &w->meter);
	for (size_t i = 0; i < it->cnt && !err; i++) {
		const struct unit_range *r;
		struct lookup l;

		if (answered(&it->answers, addrs[i]))
			continue;
		r = unit_map_find(&b->d->map, addrs[i]);
		l.addr = addrs[i];
		l.lo = r->lo;
		l.hi = r->hi;
		l.cnt = 0;
		add_chain(b, w, u, &l);
		add_symbol(b, w, &l);
		err = add_answer(w, it, &l);
	}
	return err;
}

/* Releases pages of the mapped file, which count as resident. The limit allows for strings and
 * ranges, about as large as the DIEs. */
static void bound_memory(struct dwarf *d, uint64_t bytes)
{
	if (atomic_fetch_add(&d->touched, bytes) + bytes < UINT64_C(32) << 20)
		return;
	atomic_store(&d->touched, 0);
	elf_image__release_pages(d->file.elf);
}

static int do_item(void *ctx, unsigned worker, size_t index)
{
	struct batch *b = ctx;
	struct worker *w = &b->workers[worker];
	struct item *it = &b->items[index];
	const struct split_place place = {.path = b->d->path};
	struct dwarf_split split;
	int err;

	if (!it->unit)
		return answer_without_unit(b, w, it);
	if (dwarf_split_open(&split, &b->d->package, it->unit, &place, &w->meter)) {
		err = answer_in_unit(b, w, it, split.unit);
		abbrev_cache_drop(&w->abbrevs, &split.file);
		name_memo_fini(&w->names);
		dwarf_split_close(&split);
	} else {
		if (it->unit->dwo_name)
			atomic_store(&b->d->incomplete, true);
		err = answer_in_unit(b, w, it, it->unit);
	}
	bound_memory(b->d, it->unit->end - it->unit->off);
	/* An empty result caused by the budget is an error, not an answer. */
	return !err && meter_over(&w->meter) ? -E2BIG : err;
}

struct placed {
	uint64_t addr;
	uint32_t unit; /* 1 + index; 0: none */
};

static int by_unit(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

enum { SLICE = 512 }; /* addresses without a unit, per item */

static int make_items(struct batch *b, const uint64_t *addrs, size_t cnt)
{
	struct placed *placed = calloc(cnt + 1, sizeof(*placed));

	b->addrs = calloc(cnt + 1, sizeof(*b->addrs));
	b->items = calloc(cnt + 1, sizeof(*b->items));
	if (!placed || !b->addrs || !b->items) {
		free(placed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++) {
		const struct unit_range *r = unit_map_find(&b->d->map, addrs[i]);

		placed[i] = (struct placed){addrs[i], r ? r->unit + 1 : 0};
	}
	qsort(placed, cnt, sizeof(*placed), by_unit);
	for (size_t i = 0; i < cnt; i++) {
		struct item *it = b->item_cnt ? &b->items[b->item_cnt - 1] : NULL;

		b->addrs[i] = placed[i].addr;
		if (!it || placed[i].unit != placed[i - 1].unit ||
		    (!it->unit && it->cnt == SLICE)) {
			it = &b->items[b->item_cnt++];
			it->unit = placed[i].unit ? &b->d->file.units[placed[i].unit - 1] : NULL;
			it->first = i;
		}
		it->cnt++;
	}
	free(placed);
	return 0;
}

struct answer_ref {
	const struct item *item;
	const struct answer *answer;
};

static int by_answer(const void *a, const void *b)
{
	const struct answer *x = ((const struct answer_ref *)a)->answer;
	const struct answer *y = ((const struct answer_ref *)b)->answer;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sorts the answers of all units, whose addresses may interleave. */
static int gather(struct batch *b, struct answers *out)
{
	struct answer_ref *refs;
	size_t cnt = 0;
	int err = 0;

	for (size_t i = 0; i < b->item_cnt; i++)
		cnt += b->items[i].answers.cnt;
	refs = calloc(cnt + 1, sizeof(*refs));
	if (!refs)
		return -ENOMEM;
	cnt = 0;
	for (size_t i = 0; i < b->item_cnt; i++)
		for (size_t k = 0; k < b->items[i].answers.cnt; k++)
			refs[cnt++] = (struct answer_ref){&b->items[i], &b->items[i].answers.v[k]};
	qsort(refs, cnt, sizeof(*refs), by_answer);
	for (size_t i = 0; i < cnt && !err; i++)
		err = answers_add_from(out, &refs[i].item->answers, refs[i].answer);
	free(refs);
	return err;
}

static void worker_fini(struct worker *w)
{
	abbrev_cache_fini(&w->abbrevs);
	func_table_fini(&w->funcs);
	line_table_fini(&w->lines);
	name_memo_fini(&w->names);
	meter_fini(&w->meter);
}

int dwarf__resolve(struct dwarf *d, const struct symtab *symtab, struct name_pool *pool,
		   const uint64_t *addrs, size_t cnt, unsigned jobs, struct answers *out)
{
	struct batch b = {.d = d, .symtab = symtab, .pool = pool};
	int err;

	if (!cnt)
		return 0;
	b.workers = calloc(jobs, sizeof(*b.workers));
	err = b.workers ? make_items(&b, addrs, cnt) : -ENOMEM;
	for (unsigned i = 0; !err && i < jobs; i++)
		b.workers[i].meter.budget = d->budget;
	if (!err)
		err = parallel_run(jobs, b.item_cnt, do_item, &b);
	if (!err)
		err = gather(&b, out);
	for (unsigned i = 0; b.workers && i < jobs; i++)
		worker_fini(&b.workers[i]);
	for (size_t i = 0; i < b.item_cnt; i++)
		answers_fini(&b.items[i].answers);
	free(b.items);
	free(b.addrs);
	free(b.workers);
	return err;
}
