/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads the unwind tables of a process's executable mappings, read once from /proc/PID/maps, into a
 * store. For tests of the unwinder. */
#ifndef TESTS_UNWIND_LOAD_H
#define TESTS_UNWIND_LOAD_H

#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <elf.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "record/unwind/unwind_store.h"

#define LOAD_MAX 256

struct loaded {
	struct range ranges[LOAD_MAX];
	char *paths[LOAD_MAX];
	size_t cnt;
};

/* An unwind_read_fn; ctx: a pid_t. */
static inline int read_process(void *ctx, void *to, size_t size, uint64_t at)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)at, size};

	return process_vm_readv(*(const pid_t *)ctx, &local, 1, &remote, 1, 0) == (ssize_t)size
		       ? 0
		       : -1;
}

/* Registers of a stopped thread, in the order of struct pt_regs, which is how the result of ptrace
 * starts. */
static inline int thread_registers(int tid, uint64_t words[UNWIND_PT_CNT])
{
	uint64_t all[64] = {0};
	struct iovec v = {all, sizeof(all)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &v))
		return -1;
	memcpy(words, all, UNWIND_PT_CNT * sizeof(*words));
	return 0;
}

/* Opens the mapped file, or a copy of the vDSO. */
static int load_open(int pid, const char *path, uint64_t start, uint64_t end)
{
	char name[64];
	int fd, mem;

	if (path[0] == '/')
		return open(path, O_RDONLY | O_CLOEXEC);
	if (strcmp(path, "[vdso]"))
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	snprintf(name, sizeof(name), "/proc/%d/mem", pid);
	mem = open(name, O_RDONLY | O_CLOEXEC);
	for (uint64_t at = start; at < end; at += 4096) {
		char page[4096];

		if (pread(mem, page, sizeof(page), at) != sizeof(page) ||
		    write(fd, page, sizeof(page)) != sizeof(page))
			break;
	}
	close(mem);
	return fd;
}

static uint64_t load_bias(Elf *elf, uint64_t start, uint64_t offset)
{
	size_t cnt = 0;

	elf_getphdrnum(elf, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
		    (ph.p_offset & ~4095UL) <= offset && offset < ph.p_offset + ph.p_filesz)
			return start - offset - (ph.p_vaddr - ph.p_offset);
	}
	return start - offset;
}

static void load_mapping(struct unwind_store *s, struct loaded *l, int pid, const char *path,
			 uint64_t start, uint64_t end, uint64_t offset)
{
	struct range *r = &l->ranges[l->cnt];
	int fd = load_open(pid, path, start, end);
	struct unwind_place at;
	struct unwind_table t;
	Elf *elf;

	if (fd < 0 || l->cnt == LOAD_MAX)
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	*r = (struct range){.start = start,
			    .end = end,
			    .bias = load_bias(elf, start, offset),
			    .binary = l->cnt + 1};
	r->flags = !unwind_table__build(elf, fd, UINT64_MAX, &t) && !unwind_store__add(s, &t, &at)
			   ? RANGE_TABLE
			   : RANGE_FP;
	r->page0 = r->flags == RANGE_TABLE ? at.page0 : 0;
	unwind_table__fini(&t);
	l->paths[l->cnt++] = strdup(path);
	elf_end(elf);
	close(fd);
}

/* Binary ids are the numbers of the ranges, from 1. Returns 0 or -errno of the store. */
static int load_process(struct unwind_store *s, struct loaded *l, int pid, uint32_t jit_binary)
{
	char name[64], line[4096], perm[8], path[2048];
	unsigned long start, end, offset;
	FILE *f;

	elf_version(EV_CURRENT);
	l->cnt = 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %2047[^\n]", &start, &end, perm, &offset,
			   path) >= 4 &&
		    perm[2] == 'x')
			load_mapping(s, l, pid, path, start, end, offset);
	}
	fclose(f);
	return unwind_store__publish(s, pid, PROC_TARGET, jit_binary, l->ranges, l->cnt);
}

static void load_free(struct loaded *l)
{
	while (l->cnt)
		free(l->paths[--l->cnt]);
}

#endif
