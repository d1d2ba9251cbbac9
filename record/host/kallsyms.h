/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbolizes kernel addresses from /proc/kallsyms: kernel, modules and BPF programs. Each symbol
 * hit is written once as a `symbol` record (binary 0xffff). The table is loaded at the first hit.
 * It is reloaded, at most every few seconds, if an address has no symbol, because modules and BPF
 * programs may be loaded during the capture.
 */
#ifndef RECORD_KALLSYMS_H
#define RECORD_KALLSYMS_H

#include <stdint.h>

#include "format/archive.h"

struct kallsyms;

/* Opens the files and keeps them open: the kernel checks permission at open, so privileges may be
 * dropped afterwards. -EPERM: addresses are hidden; one line that names the sysctl was printed. */
int kallsyms__new(struct kallsyms **k, struct obz_writer *writer);
void kallsyms__free(struct kallsyms *k);

/*
 * Writes the symbol's record at its first hit. -ENOENT: no symbol found; else the writer's error.
 */
int kallsyms__hit(struct kallsyms *k, uint64_t address);

/* The name of the function that contains the address, valid until the next call; NULL: not known. */
const char *kallsyms__name(struct kallsyms *k, uint64_t address);

/* Writes the records of all symbols hit so far again, for long captures. */
int kallsyms__reanchor(struct kallsyms *k);

/* Same with other files, for tests. modules may be NULL. */
int kallsyms__new_from(struct kallsyms **k, struct obz_writer *writer, const char *symbols,
		       const char *modules);

#endif
