/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/excerpt.h"

#include <fcntl.h>
#include <unistd.h>

#include "record/symbols/excerpt_impl.h"

/* ---- files and units */

static struct src_file *add_file(struct excerpt_work *x, struct dwarf_file *f)
{
	struct src_file *sf;

	if (meter_grow(x->m, &x->files, &x->file_cap, x->file_cnt + 1, sizeof(struct src_file *)))
		return NULL;
	sf = meter_calloc(x->m, 1, sizeof(*sf));
	if (!sf)
		return NULL;
	sf->f = f ? f : &sf->split.file;
	x->files[x->file_cnt++] = sf;
	return sf;
}

static int list_units(struct excerpt_work *x, struct src_file *sf)
{
	sf->units = meter_calloc(x->m, sf->f->unit_cnt + 1, sizeof(struct src_unit *));
	return sf->units ? 0 : meter_error(x->m);
}

struct src_unit *excerpt_unit(struct excerpt_work *x, struct src_file *f, size_t number)
{
	struct src_unit *su = f->units[number];

	if (su)
		return su;
	su = meter_calloc(x->m, 1, sizeof(*su));
	if (!su)
		return NULL;
	su->u = &f->f->units[number];
	su->skeleton = su->u->skeleton ? su->u->skeleton : su->u;
	return f->units[number] = su;
}

struct src_unit *excerpt_unit_at(struct excerpt_work *x, struct src_file *f, uint64_t off)
{
	const struct dwarf_unit *u = dwarf_file_unit(f->f, off);

	return u ? excerpt_unit(x, f, (size_t)(u - f->f->units)) : NULL;
}

struct src_file *excerpt_target(struct excerpt_work *x, const struct dwarf_unit *u,
				const struct attr_value *v)
{
	const struct dwarf_file *f = v->cls == ATTR_REF	      ? u->file
				     : v->cls == ATTR_REF_ALT ? u->file->alt
							      : NULL;

	/* usually the last one: split units are processed one by one */
	for (size_t i = x->file_cnt; f && i-- > 0;)
		if (x->files[i]->f == f)
			return x->files[i];
	return NULL;
}

static void unit_free(struct src_unit *su)
{
	if (!su)
		return;
	free(su->kept);
	free(su->targets.v);
	free(su->ranges.v);
	free(su->used_files);
	free(su);
}

static void work_fini(struct excerpt_work *x)
{
	for (size_t i = 0; i < x->file_cnt; i++) {
		struct src_file *sf = x->files[i];

		for (size_t k = 0; sf->units && k < sf->f->unit_cnt; k++)
			unit_free(sf->units[k]);
		free(sf->units);
		if (sf->f == &sf->split.file)
			dwarf_split_close(&sf->split);
		free(sf);
	}
	free(x->files);
	abbrev_cache_fini(&x->abbrevs);
	dwarf_package_close(&x->package);
	unit_map_fini(&x->map);
	dwarf_file_fini(&x->alt);
	dwarf_file_fini(&x->file);
	free(x->info.p);
	free(x->abbrev.p);
	free(x->line.p);
	free(x->str.p);
	free(x->rnglists.p);
	free(x->fixups);
	free(x->names);
}

/* ---- mapping addresses to units */

struct placed {
	uint64_t addr;
	uint32_t unit;
};

static int by_unit(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void queue_unit(struct excerpt_work *x, struct src_unit *su, const uint64_t *addrs,
		       size_t cnt)
{
	su->wanted = addrs;
	su->wanted_cnt = cnt;
	su->queued = true;
	su->next_queued = x->queue;
	x->queue = su;
}

static bool note_missing(struct excerpt_work *x, struct excerpt *e, uint64_t off)
{
	if (meter_grow(x->m, &e->missing, &x->missing_cap, e->missing_cnt + 1, sizeof(off)))
		return false;
	e->missing[e->missing_cnt++] = off;
	return true;
}

/* Returns the unit with the DIEs; the skeleton itself if the split unit is unavailable. */
static struct src_unit *unit_of(struct excerpt_work *x, const struct excerpt_opts *opts,
				uint32_t number, struct excerpt *e)
{
	struct dwarf_unit *u = &x->file.units[number];
	struct src_file *sf;

	if (!u->dwo_name || !opts->split)
		return excerpt_unit(x, x->files[0], number);
	sf = add_file(x, NULL);
	if (sf && dwarf_split_open(&sf->split, &x->package, u, opts->split, x->m))
		return list_units(x, sf)
			       ? NULL
			       : excerpt_unit(x, sf, (size_t)(sf->split.unit - sf->f->units));
	if (sf) {
		x->file_cnt--;
		free(sf);
	}
	if (!note_missing(x, e, u->off))
		return NULL;
	return excerpt_unit(x, x->files[0], number);
}

static int place(struct excerpt_work *x, const struct excerpt_opts *opts, uint64_t *addrs,
		 struct excerpt *e)
{
	struct placed *placed = meter_calloc(x->m, opts->cnt + 1, sizeof(*placed));
	size_t cnt = 0;
	int err = placed ? 0 : meter_error(x->m);

	for (size_t i = 0; i < opts->cnt && !err; i++) {
		const struct unit_range *r = unit_map_find(&x->map, opts->addrs[i]);

		if (r)
			placed[cnt++] = (struct placed){opts->addrs[i], r->unit};
	}
	if (cnt)
		qsort(placed, cnt, sizeof(*placed), by_unit);
	for (size_t i = 0, end; i < cnt && !err; i = end) {
		struct src_unit *su = unit_of(x, opts, placed[i].unit, e);

		for (end = i; end < cnt && placed[end].unit == placed[i].unit; end++)
			addrs[end] = placed[end].addr;
		if (su)
			queue_unit(x, su, addrs + i, end - i);
		else
			err = meter_error(x->m);
	}
	free(placed);
	return err;
}

/* ---- ranges covered by each unit */

static int add_range(struct excerpt_work *x, struct range_list_of *l, uint64_t lo, uint64_t hi)
{
	if (lo >= hi)
		return 0;
	if (meter_grow(x->m, &l->v, &l->cap, l->cnt + 1, sizeof(*l->v)))
		return meter_error(x->m);
	l->v[l->cnt++] = (struct excerpt_range){lo, hi};
	return 0;
}

static int by_lo(const void *a, const void *b)
{
	const struct excerpt_range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

static void sort_ranges(struct range_list_of *l)
{
	size_t n = 0;

	if (l->cnt)
		qsort(l->v, l->cnt, sizeof(*l->v), by_lo);
	for (size_t i = 0; i < l->cnt; i++) {
		if (n && l->v[i].lo <= l->v[n - 1].hi) {
			if (l->v[i].hi > l->v[n - 1].hi)
				l->v[n - 1].hi = l->v[i].hi;
		} else {
			l->v[n++] = l->v[i];
		}
	}
	l->cnt = n;
}

/* Addresses outside all functions get at least a line. */
static int add_lone_addresses(struct excerpt_work *x, struct src_unit *su)
{
	struct range_list_of *l = &su->ranges;
	size_t cnt = l->cnt, k = 0;
	int err = 0;

	for (size_t i = 0; i < su->wanted_cnt && !err; i++) {
		while (k < cnt && l->v[k].hi <= su->wanted[i])
			k++;
		if (k == cnt || l->v[k].lo > su->wanted[i])
			err = add_range(x, l, su->wanted[i], su->wanted[i] + 1);
	}
	sort_ranges(l);
	return err;
}

/* Ignores what the unit says about addresses of another unit. */
static int cut_to_unit(struct excerpt_work *x, struct src_unit *su)
{
	uint32_t number = (uint32_t)(su->skeleton - x->file.units);
	struct range_list_of all = su->ranges;
	int err = 0;

	su->ranges = (struct range_list_of){0};
	for (size_t i = 0; i < all.cnt && !err; i++) {
		const struct unit_range *r = unit_map_next(&x->map, all.v[i].lo);

		for (; r && r < x->map.v + x->map.cnt && r->lo < all.v[i].hi && !err; r++) {
			if (!meter_work(x->m, 1))
				err = -E2BIG;
			else if (r->unit == number)
				err = add_range(x, &su->ranges,
						r->lo > all.v[i].lo ? r->lo : all.v[i].lo,
						r->hi < all.v[i].hi ? r->hi : all.v[i].hi);
		}
	}
	free(all.v);
	return err;
}

static int settle_ranges(struct excerpt_work *x, struct range_list_of *covered)
{
	int err = 0;

	for (size_t i = 0; i < x->file_cnt; i++)
		for (size_t k = 0; k < x->files[i]->f->unit_cnt && !err; k++) {
			struct src_unit *su = x->files[i]->units[k];

			if (!su || !su->wanted)
				continue;
			sort_ranges(&su->ranges);
			err = add_lone_addresses(x, su);
			if (!err)
				err = cut_to_unit(x, su);
			for (size_t n = 0; n < su->ranges.cnt && !err; n++)
				err = add_range(x, covered, su->ranges.v[n].lo, su->ranges.v[n].hi);
		}
	sort_ranges(covered);
	return err;
}

/* ---- main function */

static bool any_split(const struct dwarf_file *f)
{
	for (size_t i = 0; i < f->unit_cnt; i++)
		if (f->units[i].dwo_name)
			return true;
	return false;
}

static int load(struct excerpt_work *x, struct elf_image *alt, const struct split_place *split)
{
	int err = dwarf_file_load(&x->file, x->m);

	if (!err && !x->file.unit_cnt)
		err = -ENOENT;
	if (!err && alt)
		err = dwarf_file_load(&x->alt, x->m);
	if (!err)
		err = unit_map_build(&x->map, &x->file, x->m);
	if (!err && split && any_split(&x->file))
		dwarf_package_open(&x->package, split, x->m);
	if (!err)
		err = add_file(x, &x->file) ? list_units(x, x->files[0]) : meter_error(x->m);
	if (!err && alt)
		err = add_file(x, &x->alt) ? list_units(x, x->files[1]) : meter_error(x->m);
	return err;
}

static int make(struct excerpt_work *x, struct elf_image *elf, struct elf_image *alt,
		const struct excerpt_opts *opts, struct excerpt *e)
{
	uint64_t *addrs = meter_calloc(x->m, opts->cnt + 1, sizeof(*addrs));
	struct range_list_of covered = {0};
	int err = addrs ? load(x, alt, opts->split) : meter_error(x->m);

	elf_image__release_pages(elf); /* one page per unit was read */
	if (!err)
		err = place(x, opts, addrs, e);
	if (!err && x->queue) {
		err = excerpt_choose(x);
		if (!err)
			err = settle_ranges(x, &covered);
		if (!err)
			err = excerpt_write_units(x);
		if (!err && !x->info.len) /* units whose first DIE is unreadable */
			covered.cnt = 0;
		else if (!err)
			err = excerpt_write_elf(x, elf, e);
	}
	e->covered = covered.v;
	e->covered_cnt = covered.cnt;
	free(addrs);
	return err;
}

static struct elf_image *open_image(int fd)
{
	struct elf_image *elf;
	const char *why;
	int own = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);

	return own >= 0 && !elf_image__open(&elf, own, &why) ? elf : NULL;
}

/* Compressed sections are decompressed into unnamed files, so they need no memory. */
enum { STEPS_PER_BYTE = 4 };
#define UNPACKED_MAX (8ULL << 30)

int excerpt_make(struct excerpt *e, const struct excerpt_opts *opts)
{
	struct elf_image *elf = open_image(opts->fd), *alt = elf ? open_image(opts->alt_fd) : NULL;
	struct budget unpacking, working;
	struct meter um = {.budget = &unpacking}, m = {.budget = &working};
	struct excerpt_work *x = calloc(1, sizeof(*x));
	int err = !x ? -ENOMEM : !elf ? -EBADMSG : 0;

	*e = (struct excerpt){0};
	budget_init(&unpacking, NULL);
	budget_grant(&unpacking, UNPACKED_MAX, UNPACKED_MAX);
	budget_init(&working, NULL);
	if (!err) {
		dwarf_file_init(&x->file, elf, false, &um);
		if (alt) {
			dwarf_file_init(&x->alt, alt, false, &um);
			x->file.alt = &x->alt;
		}
		budget_grant(&working,
			     BUDGET_WORK_RESERVE +
				     STEPS_PER_BYTE * (x->file.sec.info.len + x->file.sec.line.len +
						       x->alt.sec.info.len),
			     opts->mem_max ? opts->mem_max : EXCERPT_MEM_MAX);
		x->m = &m;
		err = make(x, elf, alt, opts, e);
		if (meter_over(&m) || meter_over(&um))
			err = -E2BIG;
		work_fini(x);
	}
	meter_fini(&um);
	meter_fini(&m);
	free(x);
	elf_image__close(alt);
	elf_image__close(elf);
	if (err)
		excerpt_fini(e);
	return err;
}

void excerpt_fini(struct excerpt *e)
{
	free(e->elf);
	free(e->covered);
	free(e->missing);
	*e = (struct excerpt){0};
}
