/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 3000 */
/*
 * Runs the symbolizer on whole ELF images: headers, symbol tables, all of DWARF, compressed
 * sections. The corpus has small programs of several compilers and DWARF versions. The cost of
 * lookups must stay within the budget, and no memory may be allocated that is not charged.
 */
#include <sanitizer/allocator_interface.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symbol.h"

struct input {
	const uint8_t *data;
	size_t sz;
};

static int open_input(void *ctx)
{
	const struct input *in = ctx;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, in->data, in->sz) != (ssize_t)in->sz)
		abort();
	return fd;
}

static size_t sink;

static void touch(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		sink += chain[i].name ? strlen(chain[i].name) : 0;
		sink += chain[i].linkage_name ? strlen(chain[i].linkage_name) : 0;
		sink += chain[i].file ? strlen(chain[i].file) : 0;
		sink += chain[i].line + chain[i].inlined;
	}
}

/* Chooses addresses in the image's code, and some outside of any image. */
static size_t choose_addrs(struct input *in, uint64_t *addrs, size_t max)
{
	const struct elf_range *code;
	struct elf_image *e;
	const char *why;
	size_t n = 0, cnt;

	addrs[n++] = 0;
	addrs[n++] = 0x1000;
	addrs[n++] = UINT64_MAX;
	if (elf_image__open(&e, open_input(in), &why))
		return n;
	code = elf_image__code(e, &cnt);
	for (size_t i = 0; i < cnt && n < max; i++)
		for (uint64_t k = 0; k < 64 && n < max; k++)
			addrs[n++] = code[i].lo + (code[i].hi - code[i].lo) / 64 * k + k % 7;
	elf_image__close(e);
	return n;
}

static atomic_llong in_use, most;

static void note_malloc(const volatile void *p, size_t sz)
{
	long long now = atomic_fetch_add(&in_use, (long long)sz) + (long long)sz;

	if (p && now > atomic_load(&most))
		atomic_store(&most, now);
}

static void note_free(const volatile void *p)
{
	if (p && __sanitizer_get_ownership(p))
		atomic_fetch_sub(&in_use, (long long)__sanitizer_get_allocated_size(p));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return !__sanitizer_install_malloc_and_free_hooks(note_malloc, note_free);
}

/* Memory that is not charged: the header tables, proportional to the file, and the addresses. */
static void check_cost(const struct symbolizer *s, size_t sz, size_t cnt, long long before)
{
	long long used = atomic_load(&most) - before;
	struct symbol_cost c;

	symbolizer__cost(s, &c);
	if (c.work <= c.work_max && c.bytes <= c.bytes_max &&
	    used <= (long long)(c.bytes + (1 << 20) + 8 * sz + 1024 * cnt))
		return;
	fprintf(stderr, "%llu of %llu steps, %llu of %llu bytes, %lld bytes taken\n",
		(unsigned long long)c.work, (unsigned long long)c.work_max,
		(unsigned long long)c.bytes, (unsigned long long)c.bytes_max, used);
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct input in = {data, sz};
	struct symbolizer_opts opts = {.jobs = 1, .inlines = true};
	struct symbolizer *s;
	struct symbol_image *image;
	uint64_t addrs[256];
	size_t cnt = choose_addrs(&in, addrs, 256);
	long long before = atomic_load(&in_use);

	atomic_store(&most, before);
	if (symbolizer__new(&s, &opts))
		abort();
	if (symbolizer__image(s, NULL, NULL, open_input, &in, &image))
		abort();
	symbolizer__resolve(s, image, addrs, cnt, touch, NULL);
	check_cost(s, sz, cnt, before);
	symbolizer__free(s);
	return 0;
}
