/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of slim: the plan of the file, made by slim.c (selection of sections) and slim_layout.c
 * (offsets and headers). */
#ifndef RECORD_SLIM_LAYOUT_H
#define RECORD_SLIM_LAYOUT_H

#include "record/symbols/slim.h"
#include "record/symbols/slim_part.h"

/* One section of the slim ELF. part.out_sz 0: header only. */
struct slim_section {
	Elf64_Shdr h;
	const char *name;
	struct slim_part part;
};

struct slim {
	const struct slim_elf *base; /* provides section numbers and program headers */
	struct slim_elf mini;
	bool has_mini;
	struct slim_section *sections;
	size_t cnt;
	char *names;
	size_t names_sz;
	void *head, *tail; /* ELF and program headers; section headers */
	size_t head_sz, tail_sz;
	struct slim_info info;
};

/* Appends a section. slim__plan reserves room for SLIM_EXTRA_SECTIONS. */
#define SLIM_EXTRA_SECTIONS 10
struct slim_section *slim_append(struct slim *s);

/* Adds the section name table, sets all offsets, creates the headers. */
int slim_lay_out(struct slim *s);

#endif
