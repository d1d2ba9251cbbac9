/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries symbols off the host: for each wanted binary a slim ELF (symtab, dynsym, DWARF) as archive member,
 * made by one low-priority thread while recording. Writes the `debuginfo` record of each binary.
 */
#ifndef RECORD_DEBUGINFO_H
#define RECORD_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "../format/archive.h"

enum debuginfo_mode { DEBUGINFO_AUTO, DEBUGINFO_FULL, DEBUGINFO_SYMTAB, DEBUGINFO_NONE };

struct debuginfo;

struct debuginfo_opts {
	enum debuginfo_mode mode;
	const char *exclude_file; /* build-ids, one a line; NULL for none */
	const char *cache_dir;	  /* --debuginfo-cache: slim ELFs kept over captures; NULL for none */
	struct obz_writer *writer;
};

int debuginfo__new(struct debuginfo **d, const struct debuginfo_opts *opts);

/*
 * Queue one binary. `fd` is dup'ed and was checked to be a regular ELF file (or a memfd of the vDSO); root_fd is a
 * directory fd of the process's root (/proc/PID/root; dup'ed) for debuglink and .build-id look-ups, or -1. id_hex is
 * the build-id or "sha1:HEX". Never blocks.
 */
int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, int root_fd, const char *path, const char *id_hex);

/* How many are not done yet. */
unsigned debuginfo__pending(const struct debuginfo *d);

/* Let the thread finish what is queued (raised priority), at most until the deadline (CLOCK_MONOTONIC; 0: no bound);
 * what is left gets a debuginfo record with the reason. */
int debuginfo__finish(struct debuginfo *d, uint64_t deadline_ns);
void debuginfo__free(struct debuginfo *d);

/* Build one slim ELF from in_fd into a new memfd or temporary file. *symbols: "dwarf", "symtab", "dynsym", "none". Pure; fuzzed. */
int debuginfo_slim(int in_fd, enum debuginfo_mode mode, int *out_fd, uint64_t *out_sz, const char **symbols);

#endif
