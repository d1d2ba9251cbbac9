/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Collects symbols for the archive. For each requested binary it adds slim ELF files (slim.h) as
 * archive members: the symbol table at once, DWARF at low priority during the capture. A
 * `debuginfo` record is written whenever more is available. Never blocks the main thread.
 *
 * Sources in order of preference: the file itself; the separate debug file by build-id
 * (/usr/lib/debug/.build-id) or .gnu_debuglink, below the host's root, then below the target's;
 * MiniDebugInfo. A dwz alternate file becomes a separate member under its own build-id.
 */
#ifndef RECORD_DEBUGINFO_H
#define RECORD_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"

struct nursery;

enum debuginfo_mode {
	DEBUGINFO_AUTO,	  /* DWARF of hit functions (excerpt.h), and symbol tables */
	DEBUGINFO_FULL,	  /* all DWARF */
	DEBUGINFO_SYMTAB, /* symbol tables only */
	DEBUGINFO_NONE,
};

/* Limits for DEBUGINFO_AUTO, uncompressed bytes of DWARF. */
#define DEBUGINFO_AUTO_BINARY_MAX (512ULL << 20)
#define DEBUGINFO_AUTO_CAPTURE_MAX (2ULL << 30)

struct debuginfo;

struct debuginfo_opts {
	enum debuginfo_mode mode;
	const char
		*exclude_file; /* build-ids (or sha1:HEX), one per line, # comments; NULL: none */
	const char *cache_dir; /* --debuginfo-cache: slim ELFs kept across captures; NULL: none */
	uint64_t mem_max;      /* memory limit for extraction in bytes; 0: unlimited */
	struct obz_writer *writer;
	struct nursery *nursery; /* borrowed; its readers read the files */
};

/* Reads the exclude file and opens the cache. Reports errors on one line. */
int debuginfo__new(struct debuginfo **d, const struct debuginfo_opts *opts);

/*
 * Queues one binary. `fd` is dup'ed and may be O_PATH; file_sz: its size. root_fd is a descriptor
 * of the process's root (/proc/PID/root; dup'ed) for debuglink and .build-id look-ups, or -1. path
 * is as the process sees it. id_hex is the build-id or "sha1:HEX"; binaries with the same id have
 * the same content and share a member. Never blocks. Call from one thread, before __finish.
 */
int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		    const char *path, const char *id_hex);

/* Reports an address (ELF virtual) of the binary in a stack: with DEBUGINFO_AUTO only DWARF of such
 * addresses is extracted. Call after __want, from the same thread. */
void debuginfo__hit(struct debuginfo *d, uint32_t binary, uint64_t addr);
/* Call at least every second; passes on pending requests. */
void debuginfo__tick(struct debuginfo *d, uint64_t now_ns);

/* Returns what the archive has for a binary so far: "dwarf", "symtab", "dynsym", "none"; NULL: not
 * requested. */
const char *debuginfo__symbols(const struct debuginfo *d, uint32_t binary);

/* Returns the number of unfinished binaries. */
unsigned debuginfo__pending(const struct debuginfo *d);

/*
 * At the end of the capture: continues at normal priority. Waits until nothing is pending or the
 * timeout expires; returns the number pending. Use short timeouts where the wait must be
 * interruptible.
 */
unsigned debuginfo__wait(struct debuginfo *d, unsigned timeout_ms);

/*
 * Calls __wait until the deadline (CLOCK_MONOTONIC; 0: none), then drops the rest; their records
 * give the reason. Afterwards every requested binary has its record. Returns the writer's error, if
 * any.
 */
int debuginfo__finish(struct debuginfo *d, uint64_t deadline_ns);
/* Call after __finish: number of files that did not respond. */
unsigned debuginfo__timed_out(const struct debuginfo *d);
void debuginfo__free(struct debuginfo *d);

/* Makes one slim ELF from in_fd alone in a new temporary file (offset 0). -EBADMSG: not a usable
 * ELF file. *symbols: "dwarf", "symtab", "dynsym", "none". */
int debuginfo_slim(int in_fd, enum debuginfo_mode mode, int *out_fd, uint64_t *out_sz,
		   const char **symbols);

#endif
