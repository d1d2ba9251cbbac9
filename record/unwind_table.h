/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * .eh_frame / .debug_frame of one ELF image as rows and rules. Pure: no BPF, no process; tested and
 * fuzzed in user space. The caller owns the table and frees it with __fini.
 */
#ifndef RECORD_UNWIND_TABLE_H
#define RECORD_UNWIND_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <libelf.h>

#include "../bpf/unwind.h" /* struct rule: the unwinder's own form */

struct unwind_row {
	uint64_t address; /* ELF virtual address where the rule begins; sorted, no two alike */
	uint32_t rule;	  /* index into rules */
};

struct unwind_table {
	struct unwind_row *rows;
	size_t row_cnt;
	struct rule *rules; /* deduplicated in this table */
	size_t rule_cnt;
	size_t fde_cnt, unsupported_cnt;
	const char *source; /* ".eh_frame", ".debug_frame", both, or "none" */
};

/* Reads CFI by ELF section, else by PT_GNU_EH_FRAME. 0, or -ENODATA (no CFI), -EBADMSG (malformed: what was
 * readable is kept only if it is whole FDEs), -ENOMEM. Never reads outside the image. */
int unwind_table__build(Elf *elf, struct unwind_table *t);
void unwind_table__fini(struct unwind_table *t);

#endif
