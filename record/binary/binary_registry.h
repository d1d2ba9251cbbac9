/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the registry. binary_registry.c assigns ids, binary_file.c looks up files,
 * binary_forget.c drops unused binaries, binary.c writes records. */
#ifndef RECORD_BINARY_REGISTRY_H
#define RECORD_BINARY_REGISTRY_H

#include "record/binary/binary.h"
#include "record/elf/binary_content.h"
#include "record/base/idmap.h"
#include "record/binary/read_file.h"

#define ROOTS_MAX 256

/* A root directory in which binaries were found. Kept open to look up separate debug files. */
struct root {
	ino_t mnt_ns, ino;
	dev_t dev;
	int fd;
};

struct binaries {
	struct binaries_opts opts;
	struct idmap files;    /* hash of (device, inode) -> struct file */
	struct idmap builds;   /* struct build.key -> struct binary */
	struct binary **by_id; /* NULL: dropped */
	uint64_t *tags;	       /* content tags, same size as by_id; 0: not computed yet */
	uint32_t cnt, cap;
	uint64_t loaded;
	/* binary_build.c */
	struct content_key content;
	struct idmap claims; /* hash of a written id -> number of the first binary with that id */
	uint64_t shared_ids;
	/* binary_forget.c */
	struct idmap known; /* key of a dropped binary that was hit -> its id */
	uint32_t *free_ids; /* ids of dropped binaries that were not hit; same size as by_id */
	uint32_t free_cnt;
	uint32_t live, sweep;
	uint64_t loaded_then, swept_ns; /* values at the last sweep */
	size_t files_kept;
	bool resting; /* the next sweep has binaries to drop */
	struct root root[ROOTS_MAX];
	int root_cnt;
	uint64_t fds, fds_max;
	struct {
		size_t len;
		bool compat;
		struct binary *binary;
	} vdso[4];
	unsigned vdso_cnt;
	struct binary *jit; /* shared by all processes; NULL: each process has its own */
};

#define BINARY_ID_MAX 0xfffeu /* 0xffff: the kernel */

static inline void binaries_lose(struct binaries *b, const char *source, const char *cause)
{
	if (b->opts.loss)
		b->opts.loss(b->opts.loss_ctx, source, cause, 1);
}

/* Adds a binary with the next free id. Returns NULL, and counts the loss, if no id is free. */
struct binary *binaries_add(struct binaries *b, struct span path);
/* Hands over an open descriptor. It is closed if too many descriptors are open. */
void binaries_keep(struct binaries *b, struct binary *bin, int fd);
/* Returns the index of the process's root directory in root[], or -1 if it cannot be kept. Takes
 * ownership of r->root_fd. */
int binaries_root(struct binaries *b, struct file_read *r);
/* Adds a binary again under its former id. It counts as hit. */
struct binary *binaries_add_again(struct binaries *b, struct span path, uint32_t id);
/* Closes its descriptor. */
void binaries_close(struct binaries *b, struct binary *bin);
void binaries_free_one(struct binaries *b, struct binary *bin);

/* binary_read.c */
uint64_t binaries_device_of(const struct mapped *m); /* for readers__ask(); m may be NULL */
/* Returns the answer if it arrives within the wait, else NULL. */
struct reading_request *binaries_ask_now(struct binaries *b, struct parcel *m, uint32_t pid,
					 uint64_t device);
/* Counts a missing answer of a reader; returns err. */
int binaries_lose_answer(struct binaries *b, int err);
/* Asks a reader for the content of bin->fd or, if that is -1, of the file mapped at m. Returns its
 * O_PATH descriptor (fd may be NULL) and its id. -ETIMEDOUT: no answer yet. */
int binaries_read_content(struct binaries *b, const struct mapped *m, const struct binary *bin,
			  int *fd, char id[IMAGE_ID_CAP]);
/* Returns the tag of a file's content; 0: not available. */
uint64_t binaries_read_tag(struct binaries *b, int fd);

/* binary_file.c */
void binaries_free_files(struct binaries *b);
/*
 * Drops files of doomed binaries, files without a binary that were not looked up since `since_ns`,
 * and files of other binaries that were not looked up in the minute before and can be found again
 * by content.
 */
void binaries_drop_files(struct binaries *b, uint64_t since_ns);

/* binary_build.c: keys under which a file is found. */
struct build {
	uint64_t cheap; /* from build-id, size and segments; without build-id from the file's
			 * identity */
	uint64_t key;	/* `cheap`, or `cheap` mixed with the tag if contents differ; 0: none */
	uint64_t tag;	/* 0: not computed */
};
/* Returns the binary with that content. Returns NULL if there is none, with *build filled for
 * binaries_add_build(). fd and im are borrowed. */
struct binary *binaries_find_build(struct binaries *b, const struct image *im, int fd,
				   const struct stat *st, struct build *build);
/* Adds a binary, or restores a dropped one (then `hit` is set). Takes ownership of im unless it is
 * NULL. */
struct binary *binaries_add_build(struct binaries *b, struct span path, const struct image *im,
				  int fd, uint64_t size, struct build *build);
/* Removes the binary from the content index. */
void binaries_drop_build(struct binaries *b, struct binary *bin);
/* For a binary that was hit and is dropped: reserves its id for its content. */
void binaries_remember(struct binaries *b, struct binary *bin);
/* Sets image.build_id to the id under which the archive records the binary. */
void binaries_settle_id(struct binaries *b, struct binary *bin);

#endif
