/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts .eh_frame / .debug_frame of an ELF image to rows and rules. Pure: no BPF, no process;
 * tested and fuzzed in user space. The caller owns the table and frees it with __fini. */
#ifndef RECORD_UNWIND_TABLE_H
#define RECORD_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <libelf.h>

#include "bpf/unwind.h" /* struct rule: format of the unwinder */

/* Rows of 64 KiB of ELF address space: rows[first] and the cnt-1 following; none if nothing is
 * known. */
struct unwind_page {
	uint32_t first, cnt;
};

struct unwind_table {
	uint32_t *rows; /* low PC << 16 | index into rules; see wire.h */
	size_t row_cnt, row_cap;
	struct unwind_page *pages; /* page i begins at (first_page + i) << 16 */
	size_t page_cnt, page_cap;
	uint64_t first_page;
	struct rule *rules; /* deduplicated in this table; rules[0] is CFA_NONE */
	size_t rule_cnt;
	size_t fde_cnt, unsupported_cnt; /* FDEs used; rows whose rule is CFA_BAD */
	const char *source; /* ".eh_frame", ".debug_frame", ".gopclntab", "several", or "none" */
};

/*
 * Reads CFI by ELF section, else by PT_GNU_EH_FRAME, from the file `fd` of `elf`; -1: it is in
 * memory. Returns 0; -ENODATA: no CFI, or not an image for this processor; -EBADMSG: malformed, the
 * table has the readable, complete FDEs and can be used; -ENOMEM; -E2BIG: more than `room` bytes
 * would be needed at a time, including the copy made by unwind_store__add(). Never reads outside
 * the image. Open the image with ELF_C_READ, not mapped: truncation of a mapped file would raise
 * SIGBUS.
 */
int unwind_table__build(Elf *elf, int fd, uint64_t room, struct unwind_table *t);
void unwind_table__fini(struct unwind_table *t);

/* Returns the rule for an ELF address; NULL outside all pages. */
const struct rule *unwind_table__find(const struct unwind_table *t, uint64_t address);

#endif
