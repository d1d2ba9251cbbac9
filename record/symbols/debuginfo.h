/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carries symbols off the host: for each wanted binary a slim ELF (slim.h) as archive member, made
 * at low priority while recording, and exactly one `debuginfo` record. Nothing here makes the
 * session's thread wait.
 *
 * Sources, the first that fits: the file itself; the separate debug file by build-id
 * (/usr/lib/debug/.build-id) or .gnu_debuglink, first below the host's root, then below the
 * target's; MiniDebugInfo. A dwz alternate file becomes a member by its own build-id.
 */
#ifndef RECORD_DEBUGINFO_H
#define RECORD_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "format/archive.h"

struct nursery;

enum debuginfo_mode {
	DEBUGINFO_AUTO,	  /* DWARF within the bounds below, else symbol tables */
	DEBUGINFO_FULL,	  /* DWARF always */
	DEBUGINFO_SYMTAB, /* symbol tables only */
	DEBUGINFO_NONE,
};

/* Bounds of DEBUGINFO_AUTO, raw bytes of DWARF. */
#define DEBUGINFO_AUTO_BINARY_MAX (512ULL << 20)
#define DEBUGINFO_AUTO_CAPTURE_MAX (2ULL << 30)

struct debuginfo;

struct debuginfo_opts {
	enum debuginfo_mode mode;
	const char
		*exclude_file; /* build-ids (or sha1:HEX), one a line, # comments; NULL for none */
	const char *cache_dir; /* --debuginfo-cache: slim ELFs kept over captures; NULL for none */
	uint64_t mem_max;      /* bytes that extracting may take; 0: no bound */
	struct obz_writer *writer;
	struct nursery *nursery; /* files are read by its readers; borrowed */
};

/* Reads the exclude file and opens the cache; what is wrong with either was reported on one line.
 */
int debuginfo__new(struct debuginfo **d, const struct debuginfo_opts *opts);

/*
 * Queue one binary. `fd` is dup'ed, and may be O_PATH; file_sz: what it has; root_fd is a directory
 * fd of the process's root
 * (/proc/PID/root; dup'ed) for debuglink and .build-id look-ups, or -1. path is as the process sees
 * it. id_hex is the build-id or "sha1:HEX"; binaries of one id have one content and share a member.
 * Never blocks; from one thread, before __finish.
 */
int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		    const char *path, const char *id_hex);

/* How many are not done yet. */
unsigned debuginfo__pending(const struct debuginfo *d);

/* The end of the capture: from now on at normal priority. Waits until nothing is pending or the
 * time is over; returns what is pending. Call it in slices where the wait must be interruptible. */
unsigned debuginfo__wait(struct debuginfo *d, unsigned timeout_ms);

/*
 * __wait until the deadline (CLOCK_MONOTONIC; 0: no bound), then drop what is left: it gets its
 * record with that reason. Every binary wanted has its one record afterwards. Returns the writer's
 * error, if there was one.
 */
int debuginfo__finish(struct debuginfo *d, uint64_t deadline_ns);
/* After it: how many files did not answer. */
unsigned debuginfo__timed_out(const struct debuginfo *d);
void debuginfo__free(struct debuginfo *d);

/*
 * One slim ELF from in_fd alone into a new temporary file (seek 0). -EBADMSG: not an ELF file that
 * can be used. *symbols: "dwarf", "symtab", "dynsym", "none".
 */
int debuginfo_slim(int in_fd, enum debuginfo_mode mode, int *out_fd, uint64_t *out_sz,
		   const char **symbols);

#endif
