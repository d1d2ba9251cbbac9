/* SPDX-License-Identifier: BSD-2-Clause */
/* /proc/kallsyms as a sorted table of text symbols, or of variables: 16 bytes per symbol, names in
 * one block. */
#ifndef RECORD_KSYM_TABLE_H
#define RECORD_KSYM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KSYM_RANK_LABEL 255 /* of a section: not in its stead, if there is another symbol */

struct ksym {
	uint64_t address;
	uint32_t name;	 /* offset in names */
	uint16_t module; /* index in modules; 0: the kernel proper */
	uint8_t rank;	 /* of aliases, the symbol with the lowest rank is kept */
	uint8_t end;	 /* end label of a section: no function starts here */
};

struct kmodule {
	char name[64];
	uint64_t end; /* upper bound of its text; 0: unknown */
};

struct ksym_table {
	struct ksym *syms;
	size_t cnt, cap;
	char *names;
	size_t names_sz, names_cap;
	struct kmodule *modules;
	size_t module_cnt, module_cap;
	bool variables; /* of these, and the labels of text sections; not of functions */
};

/* Reads both files from the start; modules_fd may be -1. -EPERM: all addresses are 0. */
int ksym_table__load(struct ksym_table *t, int symbols_fd, int modules_fd);
/* As above, of variables. */
int ksym_table__load_variables(struct ksym_table *t, int symbols_fd);
void ksym_table__fini(struct ksym_table *t);

/* Checks in the first block whether text addresses are visible: 0, -EPERM, -ENODATA (no text
 * symbol), or a read error. */
int ksym_table_visible(int symbols_fd);

/* Returns the symbol that contains the address, and its size; NULL: none. */
const struct ksym *ksym_table_find(const struct ksym_table *t, uint64_t address, uint64_t *size);

/* Finds where a function of the kernel proper begins and ends. -ENOENT; -EPERM: addresses are
 * hidden. */
int ksym_range(const char *func, uint64_t range[2]);

static inline const char *ksym_name(const struct ksym_table *t, const struct ksym *s)
{
	return t->names + s->name;
}

static inline const char *ksym_module(const struct ksym_table *t, const struct ksym *s)
{
	return t->modules[s->module].name;
}

#endif
