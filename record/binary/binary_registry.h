/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry from inside: binary_registry.c numbers binaries, binary_file.c finds them by their
 * files, binary_forget.c forgets them, binary.c writes them. */
#ifndef RECORD_BINARY_REGISTRY_H
#define RECORD_BINARY_REGISTRY_H

#include "record/binary/binary.h"
#include "record/elf/binary_content.h"
#include "record/base/idmap.h"
#include "record/binary/read_file.h"

#define ROOTS_MAX 256

/* A root directory that binaries were found under, kept for looking up separate debug files. */
struct root {
	ino_t mnt_ns, ino;
	dev_t dev;
	int fd;
};

struct binaries {
	struct binaries_opts opts;
	struct idmap files;    /* hash of (device, inode) -> struct file */
	struct idmap builds;   /* struct build.key -> struct binary */
	struct binary **by_id; /* NULL: forgotten */
	uint64_t *tags;	       /* of the contents; as large as by_id; 0: not known yet */
	uint32_t cnt, cap;
	uint64_t loaded;
	/* binary_build.c */
	struct content_key content;
	struct idmap claims; /* of a written id -> the number of the first that had it */
	uint64_t shared_ids;
	/* binary_forget.c */
	struct idmap known; /* key of a forgotten binary that was hit -> its id */
	uint32_t *free_ids; /* of forgotten ones that were not; as large as by_id */
	uint32_t free_cnt;
	uint32_t live, sweep;
	uint64_t loaded_then, swept_ns; /* at the last sweep */
	size_t files_kept;
	bool resting; /* some are to be forgotten at the next */
	struct root root[ROOTS_MAX];
	int root_cnt;
	uint64_t fds, fds_max;
	struct {
		size_t len;
		bool compat;
		struct binary *binary;
	} vdso[4];
	unsigned vdso_cnt;
	struct binary *jit; /* of all processes; NULL while each gets its own */
};

#define BINARY_ID_MAX 0xfffeu /* 0xffff is the kernel */

static inline void binaries_lose(struct binaries *b, const char *source, const char *cause)
{
	if (b->opts.loss)
		b->opts.loss(b->opts.loss_ctx, source, cause, 1);
}

/* A new one with the next id; NULL when there are no more, which is counted. */
struct binary *binaries_add(struct binaries *b, struct span path);
/* Gives it the open file, which is kept or, beyond the bound of descriptors, closed. */
void binaries_keep(struct binaries *b, struct binary *bin, int fd);
/* The index of the process's root directory among those kept, -1 when it cannot be. Takes
 * r->root_fd. */
int binaries_root(struct binaries *b, struct file_read *r);
/* The same with the number it had before: it is as good as hit. */
struct binary *binaries_add_again(struct binaries *b, struct span path, uint32_t id);
/* Closes its file. */
void binaries_close(struct binaries *b, struct binary *bin);
void binaries_free_one(struct binaries *b, struct binary *bin);

/* binary_read.c */
uint64_t binaries_device_of(const struct mapped *m); /* for readers__ask(); m may be NULL */
/* The answer at once, or none: NULL. */
struct reading_request *binaries_ask_now(struct binaries *b, struct parcel *m, uint32_t pid,
					 uint64_t device);
/* Counts that a reader did not answer; returns err. */
int binaries_lose_answer(struct binaries *b, int err);
/* What the reader says of the content of bin->fd or, where that is -1, of the file mapped at m: its
 * O_PATH descriptor (fd may be NULL) and its id. -ETIMEDOUT: nothing, so far. */
int binaries_read_content(struct binaries *b, const struct mapped *m, const struct binary *bin,
			  int *fd, char id[IMAGE_ID_CAP]);
/* The tag of a file's content; 0: not to be had. */
uint64_t binaries_read_tag(struct binaries *b, int fd);

/* binary_file.c */
void binaries_free_files(struct binaries *b);
/* Those of doomed binaries, those of none that were not asked for since then, and those that are
 * not missed and were not asked for in the minute before. */
void binaries_drop_files(struct binaries *b, uint64_t since_ns);

/* binary_build.c: what a file may be found by. */
struct build {
	uint64_t cheap; /* of build-id, size and segments, or of the file without build-id */
	uint64_t key;	/* the same, or made with the tag of another content; 0: not to be known */
	uint64_t tag;	/* 0: not needed so far */
};
/* The binary of that content, or NULL with what to add it by. fd and im are borrowed. */
struct binary *binaries_find_build(struct binaries *b, const struct image *im, int fd,
				   const struct stat *st, struct build *build);
/* A new one, or one that was forgotten (hit is set). Takes im, unless it is NULL. */
struct binary *binaries_add_build(struct binaries *b, struct span path, const struct image *im,
				  int fd, uint64_t size, struct build *build);
/* Takes it out of what is found by its content. */
void binaries_drop_build(struct binaries *b, struct binary *bin);
/* It was hit and is forgotten: its number is for its content alone. */
void binaries_remember(struct binaries *b, struct binary *bin);
/* image.build_id becomes what the archive shall know it by. */
void binaries_settle_id(struct binaries *b, struct binary *bin);

#endif
