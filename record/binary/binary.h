/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of ELF images: each file is opened, identified and given unwind rows once, however
 * many processes map it; the same build under several inodes is one binary. Writes the `binary`
 * record and asks for debuginfo at the first hit. A binary that no process maps any longer is
 * forgotten after a while; of one that was hit its number is remembered, should it come back.
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
	bool hit;	      /* its record is written */
	char *path;
	uint64_t size;
	struct image image;
	struct jit_names *jit; /* of generated code of one process; else NULL */
	/* Where to get the file while it has not been hit. */
	int fd, root;		 /* O_PATH; -1: not kept */
	uint32_t pid;		 /* a process that has it mapped, */
	uint64_t start, end;	 /* there */
	const char *why;	 /* could not be read; NULL: it was */
	const char *no_table;	 /* why it has no or not all unwind rows */
	uint64_t cheap_key, key; /* struct build; 0: not to be known again */
	bool has_build_id;	 /* of its own: image.build_id may be another */
	uint64_t idle_ns;	 /* nobody maps it since about then; 0: somebody does */
	uint32_t sweep;		 /* the last one that met it */
	bool doomed, loading; /* its table is on its way */
};

struct binaries_opts {
	struct readers *readers;   /* borrowed */
	unsigned facts;		   /* what opts.file wants to know: FILE_FACT_* */
	struct obz_writer *writer; /* these as in struct tracker_opts */
	struct unwind_store *store;
	struct debuginfo *debuginfo;
	void (*loss)(void *ctx, const char *source, const char *cause, uint64_t count);
	void *loss_ctx;
	/* A file that was not seen before, or is not remembered, is mapped to be executed; may be
	 * NULL. fd is O_PATH, all is borrowed. True: file_gone is called once nobody maps it, or it
	 * is rewritten. */
	bool (*file)(void *ctx, const struct file_facts *facts, int fd, const struct stat *st,
		     const char *path);
	void (*file_gone)(void *ctx, const struct stat *st);
	void *file_ctx;
	/* A file that was being read is known now: who asked for it may ask again, and mappings of
	 * its binary may be published anew. */
	void (*late)(void *ctx);
	void *late_ctx;
	/* Bytes that the unwind table of a file of that size may take; NULL: any. */
	uint64_t (*room)(void *ctx, uint64_t file_sz);
	void *room_ctx;
};

int binaries__new(struct binaries **b, const struct binaries_opts *opts);
void binaries__free(struct binaries *b);

/* An executable mapping as /proc/PID/maps or a side-band record has it; path unescaped. */
struct mapped {
	uint32_t pid;
	uint64_t start, end, offset, inode, generation;
	uint32_t major, minor;
	bool generation_known;
	struct span path;
};

/*
 * The binary of a mapping, loaded when it is new: 1 and *out; 0 for memory that is generated code;
 * -ENOENT when there is nothing to be known (vsyscall page, process gone); -EINPROGRESS: its file
 * is being read, opts.late will be called. Losses are counted.
 */
int binaries__resolve(struct binaries *b, const struct mapped *m, struct binary **out);

/*
 * A binary for the generated code of a process; NULL when ids have run out. Its number is never
 * given to another once it was hit, as what is generated cannot be known again; so when half of all
 * numbers are taken, what is left is kept for files, and one without names is every process's.
 */
struct binary *binaries__jit(struct binaries *b, uint32_t pid);

uint64_t binaries__loaded(const struct binaries *b);	       /* so far, forgotten ones as well */
struct binary *binaries__get(struct binaries *b, uint32_t id); /* NULL: no such id */
/* Walk: for (uint32_t i = 0; (bin = binaries__next(b, &i));). */
struct binary *binaries__next(const struct binaries *b, uint32_t *i);

/* A frame lies in it: its record and debuginfo, once. True the first time. */
bool binaries__hit(struct binaries *b, struct binary *bin);

int binaries__reanchor(struct binaries *b);

/*
 * A sweep, when binaries__crowded(): between begin and end every binary that a process maps is
 * named. Of the others those are forgotten that have been idle for longest, and for some seconds.
 */
void binaries__less_in_use(struct binaries *b); /* generated code has gone with its process */
bool binaries__crowded(const struct binaries *b, uint64_t now_ns);
void binaries__sweep_begin(struct binaries *b);
void binaries__in_use(struct binaries *b, struct binary *bin);
void binaries__sweep_end(struct binaries *b, uint64_t now_ns);

#endif
