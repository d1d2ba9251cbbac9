/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel symbols of the addresses hit, from /proc/kallsyms, written as `symbol` records (binary
 * 0xffff) once each. Kernel, module and BPF program text alike. The table is loaded at the first
 * hit, and again (at most every few seconds) when an address is in none of its symbols: modules and
 * BPF programs come while recording.
 */
#ifndef RECORD_KALLSYMS_H
#define RECORD_KALLSYMS_H

#include <stdint.h>

#include "format/archive.h"

struct kallsyms;

/* Opens the files and keeps them: what may be seen is decided at the opening, privileges may be
 * dropped afterwards. -EPERM when addresses are hidden; one line was said that names the sysctl. */
int kallsyms__new(struct kallsyms **k, struct obz_writer *writer);
void kallsyms__free(struct kallsyms *k);

/* Its symbol's record is written at the first hit. -ENOENT: no symbol is there; else the writer's
 * error. */
int kallsyms__hit(struct kallsyms *k, uint64_t address);

/* Writes the records of all symbols hit so far again, for captures of hours. */
int kallsyms__reanchor(struct kallsyms *k);

/* The same from other files; modules may be NULL. For tests. */
int kallsyms__new_from(struct kallsyms **k, struct obz_writer *writer, const char *symbols,
		       const char *modules);

#endif
