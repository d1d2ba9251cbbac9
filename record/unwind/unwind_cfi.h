/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Call frame information (CFI) as bytes: cursor, encoded pointers, CIEs and FDEs, and the
 * interpreter of their programs. DWARF 5 section 6.4, Linux Standard Base Core 5.0 chapter 10.6,
 * x86-64 psABI 3.6.2. The section's bytes are borrowed.
 */
#ifndef RECORD_UNWIND_CFI_H
#define RECORD_UNWIND_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

/* Reading past the end, or a number of more than 64 bits, returns 0 and sets bad. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

uint64_t cursor_uint(struct cursor *c, unsigned size); /* 1, 2, 4 or 8 bytes, little endian */
int64_t cursor_sint(struct cursor *c, unsigned size);
uint64_t cursor_uleb(struct cursor *c);
int64_t cursor_sleb(struct cursor *c);
void cursor_skip(struct cursor *c, uint64_t n);
struct cursor cursor_take(struct cursor *c, uint64_t n); /* cursor over the next n bytes */

/* The part of a section in memory: bytes `from` to `from` + `cnt`. */
struct cfi_piece {
	uint8_t *bytes;
	size_t cap, from, cnt;
};

/* A section read piecewise from a file. */
struct cfi_file {
	int fd;
	uint64_t offset; /* file offset of the section */
	struct cfi_piece entries, cies;
};

struct cfi_section {
	const uint8_t *data; /* the whole section; NULL: read from `file` */
	struct cfi_file *file;
	size_t size;
	uint64_t address;	/* ELF address of data, for pc-relative pointers */
	uint64_t text, datarel; /* bases of DW_EH_PE_textrel and _datarel */
	bool debug_frame;	/* not .eh_frame */
	bool until_zero;	/* unknown size: ended by a zero length */
	bool follow_rbx;	/* rules include the location of rbx */
};

struct cfi_cie {
	size_t offset;
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra_reg;
	uint8_t pointer_enc, address_size;
	bool augmented, signal_frame;
	struct cursor program;
};

struct cfi_fde {
	uint64_t start, end; /* ELF addresses */
	bool augmented;
	struct cursor program;
};

enum cfi_entry { CFI_END, CFI_CIE, CFI_FDE, CFI_BAD };

void cfi_file__fini(struct cfi_file *f);

/*
 * Reads the entry at *offset, which advances to the next. An FDE's CIE is read into *cie unless
 * *cie already has it (by offset). CFI_BAD with *offset advanced: one unusable entry; not advanced:
 * the rest of the section is unusable. For a file, the previous entry is overwritten.
 */
enum cfi_entry cfi_next(const struct cfi_section *s, size_t *offset, struct cfi_cie *cie,
			struct cfi_fde *fde);

/* Reads a DW_EH_PE-encoded pointer (without DW_EH_PE_indirect) at c, which points into s. */
uint64_t cfi_pointer(const struct cfi_section *s, struct cursor *c, uint8_t enc,
		     uint8_t address_size, uint64_t func);

struct cfi_row {
	uint64_t address;
	struct rule rule;
};

struct cfi_rows {
	struct cfi_row *v;
	size_t cnt, cap;
};

int cfi_rows_add(struct cfi_rows *rows, uint64_t address, const struct rule *rule); /* 0, -ENOMEM */

/* Runs an FDE's program: rows from fde->start up to, not including, fde->end. Returns 0, -EBADMSG,
 * -ENOMEM. */
int cfi_run(const struct cfi_section *s, const struct cfi_cie *cie, const struct cfi_fde *fde,
	    struct cfi_rows *rows);

/* A DWARF expression as a location: reg + off, or *(reg + off) + add, or relative to the CFA; or
 * the CFA of lazy PLT entries. */
enum cfi_place { PLACE_REG, PLACE_CFA, PLACE_DEREF, PLACE_PLT, PLACE_UNKNOWN };
struct cfi_expr {
	enum cfi_place place;
	uint32_t reg;
	int64_t off, add;
};
/* with_cfa: the CFA is initially on the stack. */
struct cfi_expr cfi_expression(struct cursor c, bool with_cfa);

#endif
