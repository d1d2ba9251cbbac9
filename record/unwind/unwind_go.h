/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Go's own tables (.gopclntab, which strip keeps): addresses of functions, the distance from the
 * stack pointer to the return address at each instruction, and the functions where a stack ends.
 * Layouts of Go 1.16, 1.18 and 1.20 (runtime/symtab.go).
 */
#ifndef RECORD_UNWIND_GO_H
#define RECORD_UNWIND_GO_H

#include "record/unwind/unwind_image.h"

enum go_kind {
	GO_NORMAL,
	GO_OUTERMOST, /* goroutine or thread entry, or a switch to another stack */
	GO_SIGNAL,    /* the signal trampoline */
};

struct go_table {
	struct cursor all;
	uint64_t text, nfunc;
	uint64_t steps_left; /* limit for stack depth entries of all functions */
	uint64_t names, pctab, functab;
	unsigned version; /* 16, 18, 20; 0: no table */
	unsigned quantum; /* bytes per unit of code positions; 1 on x86 */
};

struct go_function {
	uint64_t start, end;
	enum go_kind kind;
	uint64_t pcsp;	  /* position of its stack depth table */
	const char *name; /* points into the table; "" if too long */
	uint64_t name_at; /* its position in the table, however long */
};

void go_table__open(struct go_table *g, const struct unwind_image *im);
/* Opens a table that is in memory. text: address of runtime.text, to which positions of functions
 * are relative. */
void go_table__open_at(struct go_table *g, const void *table, size_t sz, uint64_t text);
/* The address of runtime.text in the table itself. 0: none, or it is set by a relocation. */
uint64_t go_table_text(const void *table, size_t sz);
bool go_table__function(const struct go_table *g, size_t i, struct go_function *f);
/* Computes the rows of a function. Returns 0, -EBADMSG, -ENOMEM. Functions that share more table
 * entries than is plausible are malformed. */
int go_table__run(struct go_table *g, const struct go_function *f, struct cfi_rows *rows);

#endif
