/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 3000 */
/* Any bytes as a file with DWARF, and as dwz's common file, with addresses spread over it. The
 * result must be an ELF file from which an excerpt can be made again. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/symbols/excerpt.h"
#include "record/symbols/slim_elf.h"

enum { ADDRESSES = 256 };

#define CHECK(x)                                                                                   \
	do                                                                                         \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s\n", #x);                                               \
			abort();                                                                   \
		}                                                                                  \
	while (0)

static int to_file(const void *p, size_t sz)
{
	int fd = memfd_create("excerpt", MFD_CLOEXEC);

	CHECK(fd >= 0 && write(fd, p, sz) == (ssize_t)sz);
	return fd;
}

static void check(const struct excerpt *e, const struct excerpt_opts *from)
{
	struct excerpt_opts opts = *from;
	struct excerpt again;
	struct slim_elf elf;

	for (size_t i = 0; i < e->covered_cnt; i++)
		CHECK(e->covered[i].lo < e->covered[i].hi &&
		      (!i || e->covered[i].lo > e->covered[i - 1].hi));
	if (!e->elf)
		return;
	opts.fd = to_file(e->elf, e->sz);
	CHECK(!slim_elf__load(&elf, opts.fd) && slim_elf_has_dwarf(&elf));
	slim_elf__fini(&elf);
	if (!excerpt_make(&again, &opts))
		excerpt_fini(&again);
	close(opts.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t addrs[ADDRESSES];
	struct excerpt_opts opts = {.fd = to_file(data, size), .addrs = addrs, .cnt = ADDRESSES};
	struct excerpt e;

	opts.mem_max = 16 << 20;
	for (size_t i = 0; i < ADDRESSES; i++) /* programs, and units relocated to 0 */
		addrs[i] = i < ADDRESSES / 2 ? i * 16 : 0x1000 + (i - ADDRESSES / 2) * 24;
	for (int with_alt = 0; with_alt < 2; with_alt++) {
		opts.alt_fd = with_alt ? opts.fd : -1;
		if (excerpt_make(&e, &opts))
			continue;
		check(&e, &opts);
		excerpt_fini(&e);
	}
	close(opts.fd);
	return 0;
}
