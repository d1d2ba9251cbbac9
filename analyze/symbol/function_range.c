/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/function_range.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/symbol/symtab.h"

struct function_ranges {
	struct elf_image *e;
	struct budget budget;
	struct symtab table;
};

static struct function_ranges *take(struct elf_image *e)
{
	struct function_ranges *f = e ? calloc(1, sizeof(*f)) : NULL;
	struct meter m = {0};

	if (!f) {
		elf_image__close(e);
		return NULL;
	}
	f->e = e;
	budget_init(&f->budget, NULL);
	budget_add_file(&f->budget, elf_image__file(e).len);
	m.budget = &f->budget;
	if (symtab_load(&f->table, e, &m))
		f->table.cnt = 0;
	meter_fini(&m);
	return f;
}

struct function_ranges *function_ranges__open(int fd)
{
	struct elf_image *e = NULL;
	const char *why;

	return fd >= 0 && !elf_image__open(&e, fd, &why) ? take(e) : NULL;
}

struct function_ranges *function_ranges__open_path(const char *path)
{
	return take(elf_image__open_path(path));
}

void function_ranges__free(struct function_ranges *f)
{
	if (!f)
		return;
	symtab_fini(&f->table);
	elf_image__close(f->e);
	free(f);
}

const char *function_ranges__refused(const struct function_ranges *f, const char *build_id)
{
	if (!f)
		return "not here, or not an ELF file";
	if (!*build_id || !strncmp(build_id, "sha1:", 5))
		return "recorded without a build-id, so no file is known to be the same";
	if (!elf_image__is(f->e, build_id))
		return "its build-id is not the recorded one";
	return elf_image__ours(f->e) ? NULL : "it belongs to another user";
}

bool function_ranges__find(const struct function_ranges *f, uint64_t address,
			   struct function_range *range)
{
	struct symtab_hit hit = {0};

	if (f && f->table.cnt)
		symtab_find(&f->table, address, &hit);
	*range = (struct function_range){hit.name, hit.lo, hit.hi};
	return hit.name != NULL;
}
