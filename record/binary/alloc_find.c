/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An allocator is a file that defines malloc() or another of its functions, possibly with a prefix.
 * Only in such a file are C++ operators new and delete functions of an allocator; others, as those
 * of libstdc++, call malloc().
 */
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/alloc_find.h"
#include "record/binary/alloc_find_go.h"
#include "record/binary/alloc_jumps.h"
#include "record/binary/elf_functions.h"
#include "record/binary/tls_sites.h"
#include "record/binary/uprobe_place.h"
#include "record/elf/elf_open.h"

struct known {
	const char *name;
	enum alloc_kind kind;
};

/* Of C, with any of the prefixes. */
static const struct known functions[] = {
	{"malloc", ALLOC_malloc},
	{"calloc", ALLOC_calloc},
	{"realloc", ALLOC_realloc},
	{"free", ALLOC_free},
	{"cfree", ALLOC_free},
	{"aligned_alloc", ALLOC_memalign},
	{"memalign", ALLOC_memalign},
	{"posix_memalign", ALLOC_posix_memalign},
	{"valloc", ALLOC_malloc},
	{"pvalloc", ALLOC_malloc},
	{"reallocarray", ALLOC_reallocarray},
	/* jemalloc */
	{"mallocx", ALLOC_malloc},
	{"rallocx", ALLOC_realloc},
	{"dallocx", ALLOC_free},
	{"sdallocx", ALLOC_free},
	/* C23 */
	{"free_sized", ALLOC_free},
	{"free_aligned_sized", ALLOC_free},
};

/* Empty: only global symbols. Others may be hidden in a program that is linked with them. */
static const char *const prefixes[] = {"",    "je_",	   "_rjem_", "je_arrow_", "tc_",
				       "mi_", "scalable_", "rp",     "__libc_"};

/* Of one allocator each; C++: Itanium ABI. */
static const struct known others[] = {
	{"mi_malloc_small", ALLOC_malloc},
	{"mi_zalloc_small", ALLOC_malloc},
	{"mi_zalloc", ALLOC_malloc},
	{"mi_mallocn", ALLOC_calloc},
	{"mi_malloc_aligned", ALLOC_malloc},
	{"mi_zalloc_aligned", ALLOC_malloc},
	{"mi_malloc_aligned_at", ALLOC_malloc},
	{"mi_zalloc_aligned_at", ALLOC_malloc},
	{"mi_calloc_aligned", ALLOC_calloc},
	{"mi_calloc_aligned_at", ALLOC_calloc},
	{"mi_realloc_aligned", ALLOC_realloc},
	{"mi_realloc_aligned_at", ALLOC_realloc},
	{"mi_reallocf", ALLOC_realloc},
	{"mi_reallocn", ALLOC_reallocarray},
	{"mi_rezalloc", ALLOC_realloc},
	{"mi_rezalloc_aligned", ALLOC_realloc},
	{"mi_recalloc_aligned", ALLOC_reallocarray},
	{"mi_recalloc", ALLOC_reallocarray},
	{"mi_rezalloc_aligned_at", ALLOC_realloc},
	{"mi_recalloc_aligned_at", ALLOC_reallocarray},
	{"mi_aligned_recalloc", ALLOC_reallocarray},
	{"mi_aligned_offset_recalloc", ALLOC_reallocarray},
	{"mi_heap_malloc", ALLOC_memalign},
	{"mi_heap_zalloc", ALLOC_memalign},
	{"mi_heap_malloc_small", ALLOC_memalign},
	{"mi_heap_malloc_aligned", ALLOC_memalign},
	{"mi_heap_malloc_aligned_at", ALLOC_memalign},
	{"mi_heap_zalloc_aligned", ALLOC_memalign},
	{"mi_heap_zalloc_aligned_at", ALLOC_memalign},
	{"mi_heap_mallocn", ALLOC_heap_calloc},
	{"mi_heap_calloc", ALLOC_heap_calloc},
	{"mi_heap_calloc_aligned", ALLOC_heap_calloc},
	{"mi_heap_calloc_aligned_at", ALLOC_heap_calloc},
	{"mi_heap_realloc", ALLOC_heap_realloc},
	{"mi_heap_reallocf", ALLOC_heap_realloc},
	{"mi_heap_realloc_aligned", ALLOC_heap_realloc},
	{"mi_heap_realloc_aligned_at", ALLOC_heap_realloc},
	{"mi_heap_rezalloc", ALLOC_heap_realloc},
	{"mi_heap_rezalloc_aligned", ALLOC_heap_realloc},
	{"mi_heap_rezalloc_aligned_at", ALLOC_heap_realloc},
	{"mi_heap_reallocn", ALLOC_heap_reallocarray},
	{"mi_heap_recalloc", ALLOC_heap_reallocarray},
	{"mi_heap_recalloc_aligned", ALLOC_heap_reallocarray},
	{"mi_heap_recalloc_aligned_at", ALLOC_heap_reallocarray},
	{"mi_new", ALLOC_new},
	{"mi_new_aligned", ALLOC_new},
	{"mi_new_n", ALLOC_new},
	{"mi_new_nothrow", ALLOC_malloc},
	{"mi_new_aligned_nothrow", ALLOC_malloc},
	{"mi_free_size", ALLOC_free},
	{"mi_free_aligned", ALLOC_free},
	{"mi_free_size_aligned", ALLOC_free},
	{"tc_malloc_skip_new_handler", ALLOC_malloc},
	{"tc_new", ALLOC_new},
	{"tc_newarray", ALLOC_new},
	{"tc_new_aligned", ALLOC_new},
	{"tc_newarray_aligned", ALLOC_new},
	{"tc_new_nothrow", ALLOC_malloc},
	{"tc_newarray_nothrow", ALLOC_malloc},
	{"tc_new_aligned_nothrow", ALLOC_malloc},
	{"tc_newarray_aligned_nothrow", ALLOC_malloc},
	{"scalable_aligned_malloc", ALLOC_malloc},
	{"scalable_aligned_realloc", ALLOC_realloc},
	{"scalable_aligned_free", ALLOC_free},
	{"__libc_malloc_impl", ALLOC_malloc}, /* musl */
	{"_Znwm", ALLOC_new},
	{"_Znam", ALLOC_new},
	{"_ZnwmSt11align_val_t", ALLOC_new},
	{"_ZnamSt11align_val_t", ALLOC_new},
	{"_ZnwmRKSt9nothrow_t", ALLOC_malloc},
	{"_ZnamRKSt9nothrow_t", ALLOC_malloc},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t", ALLOC_malloc},
	{"_ZnamSt11align_val_tRKSt9nothrow_t", ALLOC_malloc},
	{"_Znwm12__hot_cold_t", ALLOC_new},
	{"_Znam12__hot_cold_t", ALLOC_new},
	{"_ZnwmSt11align_val_t12__hot_cold_t", ALLOC_new},
	{"_ZnamSt11align_val_t12__hot_cold_t", ALLOC_new},
	{"_ZnwmRKSt9nothrow_t12__hot_cold_t", ALLOC_malloc},
	{"_ZnamRKSt9nothrow_t12__hot_cold_t", ALLOC_malloc},
	{"_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t", ALLOC_malloc},
	{"_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t", ALLOC_malloc},
};

/* All forms of operator delete and delete[], those of tcmalloc. */
static const char *const deletes[] = {"_ZdlPv", "_ZdaPv", "tc_delete", "tc_free"};

/* Arguments that the program reads. */
static const unsigned char args_of[ALLOC_KIND_CNT] = {
	[ALLOC_malloc] = 1,
	[ALLOC_new] = 1,
	[ALLOC_memalign] = 2,
	[ALLOC_calloc] = 2,
	[ALLOC_realloc] = 2,
	[ALLOC_reallocarray] = 3,
	[ALLOC_posix_memalign] = 3,
	[ALLOC_free] = 1,
	[ALLOC_heap_calloc] = 3,
	[ALLOC_heap_realloc] = 3,
	[ALLOC_heap_reallocarray] = 4,
};

struct finder {
	int fd;
	Elf *elf;
	struct alloc_site *site;
	size_t cnt;
	bool allocates;
};

static bool starts(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static bool kind_of(const char *name, bool global, enum alloc_kind *kind, bool *allocates)
{
	for (size_t p = 0; p < sizeof(prefixes) / sizeof(*prefixes); p++) {
		if (!starts(name, prefixes[p]) || (!*prefixes[p] && !global))
			continue;
		for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
			if (!strcmp(name + strlen(prefixes[p]), functions[i].name)) {
				*kind = functions[i].kind;
				*allocates = *kind != ALLOC_free;
				return true;
			}
	}
	*allocates = false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(name, others[i].name)) {
			*kind = others[i].kind;
			return true;
		}
	*kind = ALLOC_free;
	for (size_t i = 0; i < sizeof(deletes) / sizeof(*deletes); i++)
		if (starts(name, deletes[i]))
			return true;
	return false;
}

static void name_site(struct alloc_site *s, const char *name)
{
	snprintf(s->name, sizeof(s->name), "%s", name);
}

static bool on_symbol(void *ctx, const Elf64_Sym *sym, const char *name)
{
	bool global = ELF64_ST_BIND(sym->st_info) != STB_LOCAL, allocates;
	struct finder *f = ctx;
	enum alloc_kind kind;

	if (!kind_of(name, global, &kind, &allocates))
		return true;
	f->allocates |= allocates;
	for (size_t i = 0; i < f->cnt; i++) {
		struct alloc_site *s = &f->site[i];

		if (s->start != sym->st_value)
			continue;
		if (kind == ALLOC_new) /* one of its names may throw */
			s->kind = kind;
		if (strlen(name) < strlen(s->name)) /* not __libc_malloc */
			name_site(s, name);
		return true;
	}
	if (f->cnt == ALLOC_FUNCS)
		return false;
	f->site[f->cnt] = (struct alloc_site){
		.kind = kind,
		.start = sym->st_value,
		.end = sym->st_value + (sym->st_size ? sym->st_size : 1),
	};
	name_site(&f->site[f->cnt], name);
	f->cnt++;
	return true;
}

#if defined(__x86_64__)
/* Where a function leads that begins with a jump; 0: it does not. */
static uint64_t thunk_to(const uint8_t *code, uint64_t start)
{
	size_t at = !memcmp(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	int32_t by;

	if (code[at] != 0xe9)
		return 0;
	memcpy(&by, code + at + 1, sizeof(by));
	return start + at + 5 + by;
}
#else
static uint64_t thunk_to(const uint8_t *code, uint64_t start)
{
	return 0;
}
#endif

static bool is_site(const struct finder *f, uint64_t address)
{
	for (size_t i = 0; i < f->cnt; i++)
		if (f->site[i].start == address)
			return true;
	return false;
}

/* False: the function is not to be probed. */
static bool place(const struct finder *f, struct alloc_site *s)
{
	uint8_t code[UPROBE_CODE_SZ] = {0};
	uint64_t offset, to;
	size_t skip;

	if (!tls_file_offset(f->elf, s->start, &offset) ||
	    pread(f->fd, code, sizeof(code), offset) <= 0)
		return false;
	s->step = !uprobe_place_args(code, sizeof(code), args_of[s->kind], &skip);
	s->offset = offset + skip;
	s->address = s->start + skip;
	s->place.position = s->offset & 0xfff;
	if (pread(f->fd, s->place.code, sizeof(s->place.code), s->offset + ALLOC_CODE_AT) < 0)
		s->place.code[0] = 0;
	to = thunk_to(code, s->start);
	return !to || !is_site(f, to);
}

size_t alloc_find(int fd, struct alloc_site *sites, enum alloc_go_lack *go)
{
	struct finder f = {.fd = fd, .site = sites};
	bool *keep = NULL;
	size_t cnt = 0;

	*go = ALLOC_GO_LACKS_NOTHING;
	f.elf = elf_open(fd);
	if (f.elf && gelf_getclass(f.elf) == ELFCLASS64)
		elf_functions_each(fd, f.elf, on_symbol, &f);
	if (f.allocates)
		keep = calloc(f.cnt, sizeof(*keep));
	for (size_t i = 0; keep && i < f.cnt; i++)
		keep[i] = place(&f, &sites[i]);
	for (size_t i = 0; keep && i < f.cnt; i++)
		if (keep[i])
			sites[cnt++] = sites[i];
	free(keep);
	if (cnt)
		alloc_jumps_find(fd, f.elf, sites, cnt);
	if (f.elf)
		cnt += alloc_find_go(fd, f.elf, sites + cnt, ALLOC_FUNCS - cnt, go);
	elf_end(f.elf);
	return cnt;
}
