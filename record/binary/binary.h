/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registry of ELF images. Each file is opened, identified and given an unwind table once, even if
 * many processes map it. Files with different inodes but the same content are one binary. The first
 * hit writes the `binary` record and requests debuginfo. A binary that no process maps is dropped
 * after a while. If it was hit, its id is remembered and reused when the same content is mapped
 * again.
 */
#ifndef RECORD_BINARY_H
#define RECORD_BINARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/archive.h"
#include "record/elf/binary_image.h"
#include "record/symbols/debuginfo.h"
#include "record/unwind/unwind_store.h"

struct binaries;
struct file_facts;
struct jit_names;
struct readers;

struct binary {
	uint32_t id;
	struct unwind_place table;
	uint16_t range_flags; /* enum range_flags */
	bool hit;	      /* its record has been written */
	char *path;
	uint64_t size;
	struct image image;
	struct jit_names *jit; /* for JIT code of one process; else NULL */
	/* How to reopen the file before the first hit. */
	int fd, root;		 /* O_PATH; -1: none */
	uint32_t pid;		 /* a process that maps it */
	uint64_t start, end;	 /* address range in that process */
	const char *why;	 /* why it could not be read; NULL: it was read */
	const char *no_table;	 /* why unwind rows are missing or incomplete */
	uint64_t cheap_key, key; /* struct build; 0: cannot be recognised again */
	bool has_build_id;	 /* the file has one; image.build_id may differ */
	uint64_t idle_ns;	 /* unmapped since about then; 0: mapped */
	uint32_t sweep;		 /* number of the last sweep that saw it */
	bool doomed, loading; /* loading: its unwind table is being built */
};

struct binaries_opts {
	struct readers *readers;   /* borrowed */
	unsigned facts;		   /* facts that opts.file needs: FILE_FACT_* */
	struct obz_writer *writer; /* this and the next as in struct tracker_opts */
	struct unwind_store *store;
	struct debuginfo *debuginfo;
	void (*loss)(void *ctx, const char *source, const char *cause, uint64_t count);
	void *loss_ctx;
	/*
	 * Called when a target maps a file executable that is new or was dropped from the registry.
	 * May be NULL. fd is O_PATH; all arguments are borrowed. If it returns true, file_gone is
	 * called when no process maps the file any more or the file is rewritten.
	 */
	bool (*file)(void *ctx, const struct file_facts *facts, int fd, const struct stat *st,
		     const char *path);
	void (*file_gone)(void *ctx, const struct stat *st);
	void *file_ctx;
	/* Called when the read of a file has completed. The caller may then repeat
	 * binaries__resolve() and publish mappings of the binary again. */
	void (*late)(void *ctx);
	void *late_ctx;
	/*
	 * Returns the limit in bytes for the unwind table of a file of that size. NULL: no limit.
	 */
	uint64_t (*room)(void *ctx, uint64_t file_sz);
	void *room_ctx;
};

int binaries__new(struct binaries **b, const struct binaries_opts *opts);
void binaries__free(struct binaries *b);

/* An executable mapping from /proc/PID/maps or a side-band record; path is unescaped. */
struct mapped {
	uint32_t pid;
	uint64_t start, end, offset, inode, generation;
	uint64_t ts_ns; /* when it was mapped; 0: not known, found in /proc */
	uint32_t major, minor;
	bool generation_known;
	struct span path;
};

/*
 * Finds the binary of a mapping, and loads it if it is new. Returns 1 and sets *out; 0: JIT code
 * (anonymous memory); -ENOENT: cannot be identified (vsyscall page, process gone); -EINPROGRESS:
 * the file is being read and opts.late will be called. Losses are counted.
 */
int binaries__resolve(struct binaries *b, const struct mapped *m, struct binary **out);

/*
 * Returns a binary for the JIT code of a process, or NULL if no id is free. JIT code cannot be
 * recognised again, so an id that was hit is never reused. When half of all ids are used, the
 * remaining ones are reserved for files, and all further processes share one JIT binary without
 * names.
 */
struct binary *binaries__jit(struct binaries *b, uint32_t pid);

uint64_t binaries__loaded(const struct binaries *b);	       /* since the start, including dropped
								* ones */
struct binary *binaries__get(struct binaries *b, uint32_t id); /* NULL: no such id */
/* Iteration: for (uint32_t i = 0; (bin = binaries__next(b, &i));). */
struct binary *binaries__next(const struct binaries *b, uint32_t *i);

/* Reports a frame in this binary. The first call writes its record and requests debuginfo, and
 * returns true. */
bool binaries__hit(struct binaries *b, struct binary *bin);

int binaries__reanchor(struct binaries *b);

/*
 * A sweep is due when binaries__crowded() returns true. Between begin and end the caller marks
 * every mapped binary with binaries__in_use(). The end drops unmarked binaries that have been idle
 * for some seconds, the longest idle first.
 */
void binaries__less_in_use(struct binaries *b); /* a process with JIT code has exited */
bool binaries__crowded(const struct binaries *b, uint64_t now_ns);
void binaries__sweep_begin(struct binaries *b);
void binaries__in_use(struct binaries *b, struct binary *bin);
void binaries__sweep_end(struct binaries *b, uint64_t now_ns);

#endif
