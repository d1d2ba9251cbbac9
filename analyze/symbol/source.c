/* SPDX-License-Identifier: BSD-2-Clause */
#include "source.h"

#include "parallel.h"

int source_open(struct source *src, int fd, const char *id_hex, const char *path,
		const struct symbolizer_opts *opts)
{
	int err;

	*src = (struct source){.kind = "none", .why = "file not available"};
	if (fd < 0 || elf_image__open(&src->main, fd, &src->why))
		return 0;
	src->debug = src->main;
	err = symtab_load(&src->symtab, src->debug);
	if (err)
		return err;
	src->why = src->symtab.cnt ? "no DWARF" : "no symbols";
	if (src->symtab.cnt)
		src->kind = src->symtab.dynamic ? "dynsym" : "symtab";
	return 0;
}

void source_close(struct source *src)
{
	symtab_fini(&src->symtab);
	elf_image__close(src->separate);
	elf_image__close(src->main);
	*src = (struct source){0};
}

static int add_from_symtab(struct source *src, struct name_pool *pool, uint64_t addr,
			   struct answers *out)
{
	struct answer_frame f = {0};
	struct symtab_hit hit;

	symtab_find(&src->symtab, addr, &hit);
	if (!hit.name)
		return answers_add(out, hit.lo, hit.hi, NULL, 0);
	f.name = name_pool__add_symbol(pool, hit.name, NULL);
	f.file = name_pool__add(pool, hit.file);
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
	int err = 0;

	(void)worker;
	for (size_t i = item * SLICE; i < j->cnt && i < (item + 1) * SLICE && !err; i++)
		if (!out->cnt || j->addrs[i] >= out->v[out->cnt - 1].hi)
			err = add_from_symtab(j->src, j->pool, j->addrs[i], out);
	return err;
}

int source_resolve(struct source *src, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
		   unsigned jobs, struct answers *out)
{
	size_t slice_cnt = (cnt + SLICE - 1) / SLICE;
	struct symtab_job j = {src, pool, addrs, cnt, calloc(slice_cnt + 1, sizeof(*j.slices))};
	int err;

	if (!j.slices)
		return -ENOMEM;
	err = parallel_run(jobs, slice_cnt, resolve_slice, &j);
	for (size_t i = 0; i < slice_cnt; i++) {
		for (size_t k = 0; k < j.slices[i].cnt && !err; k++) {
			const struct answer *x = &j.slices[i].v[k];

			err = answers_add(out, x->lo, x->hi, j.slices[i].frames + x->first, x->cnt);
		}
		answers_fini(&j.slices[i]);
	}
	free(j.slices);
	return err;
}
