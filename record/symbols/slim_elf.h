/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The headers of one ELF file, read with bounds into 64-bit form. Not libelf: nothing is mapped (a
 * file cut while it is read must not raise SIGBUS) and memory is bounded before it is allocated,
 * whatever the file says. The descriptor is borrowed.
 */
#ifndef RECORD_SLIM_ELF_H
#define RECORD_SLIM_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_HEX_SZ 129 /* 64 bytes in hex and NUL */

struct slim_elf {
	int fd;
	uint64_t file_sz;
	bool is32;
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdrs;
	size_t phdr_cnt;
	Elf64_Shdr *shdrs;
	size_t shdr_cnt;
	char *names; /* .shstrtab, NUL-terminated */
	size_t names_sz;
	const char *why; /* what was wrong when load failed; static text */
};

/* 0, or -EBADMSG (not an ELF file one can use: `why` says what), -ENOMEM, or what pread gave. */
int slim_elf__load(struct slim_elf *e, int fd);
void slim_elf__fini(struct slim_elf *e);

/* Never NULL. */
const char *slim_elf_name(const struct slim_elf *e, size_t index);
/* The first section called `name`, 0 when there is none. */
size_t slim_elf_find(const struct slim_elf *e, const char *name);
/* The first section of that type, 0 when there is none. */
size_t slim_elf_find_type(const struct slim_elf *e, uint32_t type);
/* True when the section has bytes and they lie in the file. */
bool slim_elf_has_bytes(const struct slim_elf *e, size_t index);
/* True when it has .debug_info (or .zdebug_info) with bytes. */
bool slim_elf_has_dwarf(const struct slim_elf *e);

/* Exactly len bytes at off: 0, -EBADMSG when the file ends before, or what pread gave. */
int slim_elf_read(const struct slim_elf *e, uint64_t off, void *buf, size_t len);

/* The GNU build-id in hex; empty when there is none. */
void slim_elf_build_id(const struct slim_elf *e, char hex[BUILD_ID_HEX_SZ]);

/* .gnu_debuglink: file name (no slash) and CRC. .gnu_debugaltlink: path and build-id. -ENOENT when
 * there is none. */
int slim_elf_debuglink(const struct slim_elf *e, char name[256], uint32_t *crc);
int slim_elf_altlink(const struct slim_elf *e, char path[4096], char hex[BUILD_ID_HEX_SZ]);

#endif
