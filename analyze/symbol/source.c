/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/source.h"

#include "analyze/symbol/parallel.h"

static const char debug_too_big[] = "debug information exceeds the limit";
static const char names_too_big[] = "symbol names exceed the limit";

static void count_file(struct source *src, const struct elf_image *e)
{
	if (e)
		budget_add_file(&src->budget, elf_image__file(e).len);
}

/* Resets the budget for look-ups made after the DWARF has exceeded it. */
static void begin_budget(struct source *src)
{
	struct budget *reserve = src->budget.reserve;

	budget_settle(&src->budget);
	budget_init(&src->budget, reserve);
	count_file(src, src->main);
	count_file(src, src->separate);
	count_file(src, src->alt);
}

static void part_close(struct source_part *p)
{
	dwarf__close(p->dwarf);
	elf_image__close(p->alt);
	elf_image__close(p->elf);
}

static void drop_dwarf(struct source *src)
{
	for (size_t i = 0; i < src->part_cnt; i++)
		part_close(&src->parts[i]);
	free(src->parts);
	src->parts = NULL;
	src->part_cnt = src->part_cap = 0;
	dwarf__close(src->dwarf);
	elf_image__close(src->alt);
	src->dwarf = NULL;
	src->alt = NULL;
}

static void name_kind(struct source *src, const char *why)
{
	if (src->dwarf || src->part_cnt)
		src->kind = "dwarf";
	else if (src->symtab.cnt)
		src->kind = src->symtab.dynamic ? "dynsym" : "symtab";
	else
		src->kind = "none";
	src->why = src->dwarf || src->part_cnt ? NULL
		   : why		       ? why
		   : src->symtab.cnt	       ? "no DWARF"
					       : "no symbols";
}

/* Loaded before the DWARF, so that symbols are available even if the DWARF exceeds the budget. */
static int load_symtab(struct symtab *t, struct source *src, struct elf_image *e)
{
	struct meter m = {.budget = &src->budget};
	int err = symtab_load(t, e, &m);

	meter_fini(&m);
	return err == -E2BIG ? 0 : err;
}

static int open_dwarf(struct source *src, struct elf_image *e, const char *path,
		      const struct source_opts *opts)
{
	bool alt_wanted;
	int err;

	src->alt = debug_file_alt(e, path, opts, &alt_wanted);
	count_file(src, src->alt);
	err = dwarf__open(&src->dwarf, e, src->alt, path, &src->budget);
	if (err) {
		drop_dwarf(src);
		src->too_big = err == -E2BIG;
		return err == -ENOMEM ? err : 0;
	}
	src->alt_missing = alt_wanted && !src->alt;
	return 0;
}

/* A part that cannot be read is skipped. */
static int open_part(struct source *src, int fd, const char *path, const struct source_opts *opts)
{
	struct source_part p = {0};
	bool alt_wanted;
	const char *why;
	int err;

	if (elf_image__open(&p.elf, fd, &why))
		return 0;
	count_file(src, p.elf);
	p.alt = debug_file_alt(p.elf, path, opts, &alt_wanted);
	count_file(src, p.alt);
	err = dwarf__open(&p.dwarf, p.elf, p.alt, path, &src->budget);
	if (!err)
		err = grow(&src->parts, &src->part_cap, src->part_cnt + 1, sizeof(*src->parts));
	if (err) {
		part_close(&p);
		return err == -ENOMEM || err == -E2BIG ? err : 0;
	}
	src->alt_missing |= alt_wanted && !p.alt;
	src->parts[src->part_cnt++] = p;
	return 0;
}

enum { PARTS_MAX = 1024 }; /* a long capture has a few dozen */

static int open_parts(struct source *src, const char *path, const struct source_opts *opts)
{
	const struct symbol_archive *a = opts->archive;
	int err = 0;

	for (size_t i = 0; a && a->open_part && i < PARTS_MAX && !err; i++) {
		int fd = a->open_part(a->ctx, i);

		if (fd == -ENOENT)
			break;
		if (fd >= 0)
			err = open_part(src, fd, path, opts);
	}
	if (err != -E2BIG)
		return err;
	drop_dwarf(src);
	src->too_big = true;
	return 0;
}

/* The symbol table of the separate file is preferred, as it is more complete. */
static int open_separate(struct source *src, const char *id_hex, const char *path,
			 const struct source_opts *opts)
{
	const char *id = elf_image__build_id(src->main);
	struct meter m = {.budget = &src->budget};
	struct symtab fuller;
	int err;

	src->separate = debug_file_by_id(*id ? id : id_hex, opts);
	if (!src->separate)
		src->separate = debug_file_by_link(src->main, path, opts, &m);
	meter_fini(&m);
	if (!src->separate) {
		src->too_big = meter_over(&m);
		return 0;
	}
	count_file(src, src->separate);
	err = load_symtab(&fuller, src, src->separate);
	if (!err)
		err = open_dwarf(src, src->separate, path, opts);
	if (err) {
		symtab_fini(&fuller);
		return err;
	}
	if (fuller.cnt && (!src->symtab.cnt || (src->symtab.dynamic && !fuller.dynamic))) {
		symtab_fini(&src->symtab);
		src->symtab = fuller;
	} else {
		symtab_fini(&fuller);
	}
	return 0;
}

/* If the caller has no file, searches this machine for a debug file or the binary itself. */
static struct elf_image *find_elsewhere(const char *id_hex, const char *path,
					const struct source_opts *opts)
{
	struct elf_image *e = debug_file_by_id(id_hex, opts);

	if (!e && path && id_hex && *id_hex) {
		e = elf_image__open_path(path);
		if (e && !elf_image__is(e, id_hex)) {
			elf_image__close(e);
			e = NULL;
		}
	}
	return e;
}

int source_open(struct source *src, int fd, const char *id_hex, const char *path,
		const struct source_opts *opts, struct budget *reserve)
{
	int err;

	*src = (struct source){.kind = "none", .why = "file not available"};
	if (fd < 0 || elf_image__open(&src->main, fd, &src->why)) {
		src->main = find_elsewhere(id_hex, path, opts);
		src->main_found = src->main != NULL;
	}
	budget_init(&src->budget, reserve);
	if (!src->main)
		return 0;
	count_file(src, src->main);
	err = load_symtab(&src->symtab, src, src->main);
	if (!err)
		err = open_dwarf(src, src->main, path, opts);
	if (!err && !src->too_big)
		err = open_parts(src, path, opts);
	if (!err && !src->dwarf && !src->part_cnt && !src->too_big)
		err = open_separate(src, id_hex, path, opts);
	name_kind(src, src->too_big ? debug_too_big : NULL);
	if (src->too_big)
		begin_budget(src);
	return err;
}

void source_close(struct source *src)
{
	budget_settle(&src->budget);
	symtab_fini(&src->symtab);
	drop_dwarf(src);
	elf_image__close(src->separate);
	elf_image__close(src->main);
	*src = (struct source){0};
}

bool source_incomplete(const struct source *src)
{
	bool incomplete = src->alt_missing || (src->dwarf && dwarf__incomplete(src->dwarf));

	for (size_t i = 0; i < src->part_cnt && !incomplete; i++)
		incomplete = dwarf__incomplete(src->parts[i].dwarf);
	return incomplete;
}

bool source_doubtful(const struct source *src)
{
	return (src->main_found && !elf_image__ours(src->main)) ||
	       (src->separate && !elf_image__ours(src->separate)) ||
	       (src->alt && !elf_image__ours(src->alt));
}

/*
 * The linker appends the version to names in .symtab: "clock_nanosleep@@GLIBC_2.17". Returns the
 * length without it. Other names may contain "@" too, but not followed only by characters of a
 * version name.
 */
static size_t unversioned(const char *name)
{
	static const char version[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.";
	const char *at = strchr(name, '@'), *v;

	if (!at || at == name)
		return strlen(name);
	v = at + (at[1] == '@' ? 2 : 1);
	if (*v < 'A' || *v > 'Z' || v[strspn(v, version)])
		return strlen(name);
	return (size_t)(at - name);
}

static const struct pooled *add_name(struct name_pool *pool, const char *name, struct meter *m)
{
	size_t len = unversioned(name);
	const struct pooled *pooled;
	char *base;

	if (!name[len])
		return name_pool__add_symbol(pool, name, m);
	base = strndup(name, len);
	pooled = name_pool__add_symbol(pool, base ? base : name, m);
	free(base);
	return pooled;
}

/* Over budget, the remaining addresses get no answer. */
static int add_from_symtab(struct source *src, struct name_pool *pool, uint64_t addr,
			   struct meter *m, struct answers *out)
{
	struct answer_frame f = {0};
	struct symtab_hit hit;

	symtab_find(&src->symtab, addr, &hit);
	if (hit.name && !meter_over(m))
		f.name = add_name(pool, hit.name, m);
	if (!f.name)
		return answers_add(out, hit.lo, hit.hi, NULL, 0);
	f.file = name_pool__add(pool, hit.file, m);
	return answers_add(out, hit.lo, hit.hi, &f, 1);
}

enum { SLICE = 512 };

struct symtab_job {
	struct source *src;
	struct name_pool *pool;
	const uint64_t *addrs;
	size_t cnt;
	struct answers *slices;
};

static int resolve_slice(void *ctx, unsigned worker, size_t item)
{
	struct symtab_job *j = ctx;
	struct answers *out = &j->slices[item];
	struct meter m = {.budget = &j->src->budget};
	int err = 0;

	(void)worker;
	for (size_t i = item * SLICE; i < j->cnt && i < (item + 1) * SLICE && !err; i++)
		if (!out->cnt || j->addrs[i] >= out->v[out->cnt - 1].hi)
			err = add_from_symtab(j->src, j->pool, j->addrs[i], &m, out);
	meter_fini(&m);
	return err;
}

static int resolve_by_symtab(struct source *src, struct name_pool *pool, const uint64_t *addrs,
			     size_t cnt, unsigned jobs, struct answers *out)
{
	size_t slice_cnt = (cnt + SLICE - 1) / SLICE;
	struct symtab_job j = {src, pool, addrs, cnt, NULL};
	int err;

	j.slices = calloc(slice_cnt + 1, sizeof(*j.slices));
	if (!j.slices)
		return -ENOMEM;
	err = parallel_run(jobs, slice_cnt, resolve_slice, &j);
	for (size_t i = 0; i < slice_cnt; i++) {
		for (size_t k = 0; k < j.slices[i].cnt && !err; k++)
			err = answers_add_from(out, &j.slices[i], &j.slices[i].v[k]);
		answers_fini(&j.slices[i]);
	}
	free(j.slices);
	return err;
}

/* Looks each address up separately: one that a part does not cover may be in another. */
static int add_each_from_symtab(struct source *src, struct name_pool *pool, const uint64_t *addrs,
				size_t cnt, struct answers *out)
{
	struct meter m = {.budget = &src->budget};
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct answers one = {0};

		err = add_from_symtab(src, pool, addrs[i], &m, &one);
		if (!err && one.cnt)
			err = answers_add(out, addrs[i], addrs[i] + 1,
					  one.v[0].cnt ? one.frames : NULL, one.v[0].cnt);
		answers_fini(&one);
	}
	meter_fini(&m);
	return err;
}

/* Moves the addresses that d covers to `in` and the others to the front of addrs, keeping the
 * order. */
static size_t split_covered(const struct dwarf *d, uint64_t *addrs, size_t *cnt, uint64_t *in)
{
	size_t in_cnt = 0, left = 0;

	for (size_t i = 0; i < *cnt; i++)
		if (dwarf__covers(d, addrs[i]))
			in[in_cnt++] = addrs[i];
		else
			addrs[left++] = addrs[i];
	*cnt = left;
	return in_cnt;
}

static int resolve_covered(struct source *src, struct dwarf *d, struct name_pool *pool,
			   uint64_t *addrs, size_t *cnt, uint64_t *in, unsigned jobs,
			   struct answers *out)
{
	struct answers fresh = {0};
	size_t in_cnt = split_covered(d, addrs, cnt, in);
	int err = dwarf__resolve(d, &src->symtab, pool, in, in_cnt, jobs, &fresh);

	if (!err)
		err = answers_merge(out, &fresh);
	answers_fini(&fresh);
	return err;
}

/* The first file that covers an address is used for it. */
static int resolve_by_parts(struct source *src, struct name_pool *pool, const uint64_t *addrs,
			    size_t cnt, unsigned jobs, struct answers *out)
{
	uint64_t *left = calloc(2 * cnt + 1, sizeof(*left)), *in;
	struct answers rest = {0};
	int err = 0;

	if (!left)
		return -ENOMEM;
	in = left + cnt;
	if (cnt)
		memcpy(left, addrs, cnt * sizeof(*left));
	if (src->dwarf)
		err = resolve_covered(src, src->dwarf, pool, left, &cnt, in, jobs, out);
	for (size_t i = 0; i < src->part_cnt && !err; i++)
		err = resolve_covered(src, src->parts[i].dwarf, pool, left, &cnt, in, jobs, out);
	if (!err)
		err = add_each_from_symtab(src, pool, left, cnt, &rest);
	if (!err)
		err = answers_merge(out, &rest);
	answers_fini(&rest);
	free(left);
	return err;
}

static int resolve_by_dwarf(struct source *src, struct name_pool *pool, const uint64_t *addrs,
			    size_t cnt, unsigned jobs, struct answers *out)
{
	if (src->part_cnt)
		return resolve_by_parts(src, pool, addrs, cnt, jobs, out);
	return dwarf__resolve(src->dwarf, &src->symtab, pool, addrs, cnt, jobs, out);
}

int source_resolve(struct source *src, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
		   unsigned jobs, struct answers *out)
{
	int err;

	budget_add_addresses(&src->budget, cnt);
	if (src->dwarf || src->part_cnt) {
		err = resolve_by_dwarf(src, pool, addrs, cnt, jobs, out);
		if (err != -E2BIG)
			return err;
		answers_fini(out);
		drop_dwarf(src);
		name_kind(src, debug_too_big);
		begin_budget(src);
		budget_add_addresses(&src->budget, cnt);
	}
	err = resolve_by_symtab(src, pool, addrs, cnt, jobs, out);
	if (!err && src->budget.over)
		src->why = names_too_big;
	return err;
}
