/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the headers of one ELF file, with bounds, into 64-bit form. libelf is not used: a mapped
 * file that is truncated would raise SIGBUS, and memory must be bounded before it is allocated. The
 * descriptor is borrowed.
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
	const char *why; /* reason of a failed load; static text */
};

/* Returns 0, -EBADMSG (not a usable ELF file; see `why`), -ENOMEM, or the error of pread. */
int slim_elf__load(struct slim_elf *e, int fd);
void slim_elf__fini(struct slim_elf *e);

/* Never NULL. */
const char *slim_elf_name(const struct slim_elf *e, size_t index);
/* Returns the first section of that name, 0 if there is none. */
size_t slim_elf_find(const struct slim_elf *e, const char *name);
/* Returns the first section of that type, 0 if there is none. */
size_t slim_elf_find_type(const struct slim_elf *e, uint32_t type);
/* Returns true if the section has bytes and they are within the file. */
bool slim_elf_has_bytes(const struct slim_elf *e, size_t index);
/* Returns true if it has a non-empty .debug_info (or .zdebug_info). */
bool slim_elf_has_dwarf(const struct slim_elf *e);

/* Reads exactly len bytes at off. Returns 0, -EBADMSG if the file is shorter, or the error of
 * pread. */
int slim_elf_read(const struct slim_elf *e, uint64_t off, void *buf, size_t len);

/* The GNU build-id in hex; empty if there is none. */
void slim_elf_build_id(const struct slim_elf *e, char hex[BUILD_ID_HEX_SZ]);

/* .gnu_debuglink: file name (without slash) and CRC. .gnu_debugaltlink: path and build-id. -ENOENT:
 * none. */
int slim_elf_debuglink(const struct slim_elf *e, char name[256], uint32_t *crc);
int slim_elf_altlink(const struct slim_elf *e, char path[4096], char hex[BUILD_ID_HEX_SZ]);

#endif
