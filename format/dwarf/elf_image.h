/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A little-endian ELF file mapped read-only, with its sections by name, decompressed at first use.
 * Returned data is valid until __close. Calls must not be concurrent; the data may be read by any
 * thread.
 */
#ifndef FORMAT_ELF_IMAGE_H
#define FORMAT_ELF_IMAGE_H

#include "format/dwarf/symbol_budget.h"
#include "format/dwarf/section_bytes.h"

struct elf_image;

struct elf_section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, addr, off, sz, entsize;
};

struct elf_range {
	uint64_t lo, hi;
};

/* Takes ownership of fd, also on failure. On failure *why is set to a static one-line text. */
int elf_image__open(struct elf_image **e, int fd, const char **why);
/* NULL unless it is an ELF file. Only regular files are opened, because opening a device may have
 * side effects. */
struct elf_image *elf_image__open_path(const char *path);
void elf_image__close(struct elf_image *e);

/* Whether the file belongs to root or this user, so that no other user can have forged its
 * build-id. */
bool elf_image__ours(const struct elf_image *e);

uint16_t elf_image__machine(const struct elf_image *e);
bool elf_image__is64(const struct elf_image *e);

size_t elf_image__section_cnt(const struct elf_image *e);
const struct elf_section *elf_image__section(const struct elf_image *e,
					     size_t index); /* NULL: none */
const struct elf_section *elf_image__find(const struct elf_image *e, const char *name);

/* The whole file. */
struct bytes elf_image__file(const struct elf_image *e);

/* The bytes of a section; empty for NOBITS and for sections out of bounds. */
struct bytes elf_image__data(struct elf_image *e, const struct elf_section *s);

/* As elf_image__data(), decompressed; also empty when decompression exceeds the budget of m. */
struct bytes elf_image__unpacked(struct elf_image *e, const struct elf_section *s, struct meter *m);

/* The decompressed bytes of ".debug_NAME" (NAME: "info", "info.dwo") or ".zdebug_NAME". */
struct bytes elf_image__debug(struct elf_image *e, const char *name, struct meter *m);

/* Hex of the GNU build-id, NUL-terminated, or "". */
const char *elf_image__build_id(struct elf_image *e);

/* Address ranges of code, sorted and merged; none when the file does not specify them. */
const struct elf_range *elf_image__code(const struct elf_image *e, size_t *cnt);

/* Drops the pages read so far from the process (they stay in the page cache), to bound its resident
 * size. */
void elf_image__release_pages(struct elf_image *e);

/* Whether the file's build-id is `hex`; an empty hex matches all files. */
bool elf_image__is(struct elf_image *e, const char *hex);

#endif
