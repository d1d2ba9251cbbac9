/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A little-endian ELF file mapped read-only, its sections by name, decompressed when first asked
 * for. Spans lent live until __close. Calls are for one thread at a time; the spans may be read by
 * any.
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

/* Consumes fd, also when it fails. *why: one line, static; set on failure. */
int elf_image__open(struct elf_image **e, int fd, const char **why);
/* NULL unless it is an ELF file. What is no regular file is not even opened: devices may act on
 * that. */
struct elf_image *elf_image__open_path(const char *path);
void elf_image__close(struct elf_image *e);

/* It is root's or this user's: nobody else can have given it another's build-id. */
bool elf_image__ours(const struct elf_image *e);

uint16_t elf_image__machine(const struct elf_image *e);
bool elf_image__is64(const struct elf_image *e);

size_t elf_image__section_cnt(const struct elf_image *e);
const struct elf_section *elf_image__section(const struct elf_image *e,
					     size_t index); /* NULL: none */
const struct elf_section *elf_image__find(const struct elf_image *e, const char *name);

/* All of the file. */
struct bytes elf_image__file(const struct elf_image *e);

/* The bytes of a section; empty for NOBITS and what is out of bounds. */
struct bytes elf_image__data(struct elf_image *e, const struct elf_section *s);

/* The same, decompressed; empty also when unpacking it is more than m affords. */
struct bytes elf_image__unpacked(struct elf_image *e, const struct elf_section *s, struct meter *m);

/* The bytes of ".debug_NAME" ("info", "info.dwo") or ".zdebug_NAME", whatever its compression. */
struct bytes elf_image__debug(struct elf_image *e, const char *name, struct meter *m);

/* Hex of the GNU build-id, NUL-terminated, or "". */
const char *elf_image__build_id(struct elf_image *e);

/* Where code is, sorted and merged; none when the file does not say. */
const struct elf_range *elf_image__code(const struct elf_image *e, size_t *cnt);

/* Gives pages read so far back to the page cache, so that resident size stays bounded. */
void elf_image__release_pages(struct elf_image *e);

/* True for an own build-id of `hex`; an empty hex matches all. */
bool elf_image__is(struct elf_image *e, const char *hex);

#endif
