/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader process opens and parses the file behind a mapping. obrec itself holds only O_PATH
 * descriptors: closing one does not call the file system, and a reader can reopen the file through
 * it even after its name or process is gone.
 */
#ifndef RECORD_READ_FILE_H
#define RECORD_READ_FILE_H

#include <sys/stat.h>

#include "record/binary/binary.h"
#include "record/elf/binary_content.h"
#include "record/base/parcel.h"
#include "record/binary/tls_sites.h"

/* ---- a mapped file ---- */

/* What a probe needs to know about a file (struct probe). */
enum { FILE_FACT_TLS = 1, FILE_FACT_SPLICE = 2, FILE_FACT_ALLOC = 4 };

struct file_facts {
	bool may_splice;
	bool remote; /* served by a process or another host; may not answer */
	struct tls_site tls[TLS_SITES_MAX]; /* names point into the answer */
	size_t tls_cnt;
	struct span alloc; /* array of struct alloc_site, unaligned, in the answer */
	unsigned alloc_go; /* enum alloc_go_lack */
	uint64_t mapped_ns; /* by the first target; 0: not known, found in /proc */
};

struct file_read {
	struct stat st;	 /* of the file: device, inode, size, mtime */
	int fd, root_fd; /* O_PATH, owned by the caller: the file; the process's root (-1: none) */
	struct {
		ino_t mnt_ns, ino;
		dev_t dev;
	} root;
	struct image image; /* load_cnt 0: not an ELF image, see image_err */
	int image_err;	    /* result of image_read() */
	struct file_facts facts;
};

int read_file_serve(int proc, struct parcel *request, struct parcel *answer);
void read_file_ask(struct parcel *m, const struct mapped *what, unsigned facts);
/* Returns 0. -ENXIO: not a regular file; -ESTALE, -EPERM, ... as binary_open_mapped(). On error
 * nothing is owned by the caller. */
int read_file_take(struct parcel *answer, struct file_read *f);
void file_read_fini(struct file_read *f);

/* Reads only the stat, to check whether the file has changed. */
int read_stat_serve(int proc, struct parcel *request, struct parcel *answer);
void read_stat_ask(struct parcel *m, const struct mapped *what);
int read_stat_take(struct parcel *answer, struct stat *st);

/* ---- unwind table of a file ---- */

int read_table_serve(int proc, struct parcel *request, struct parcel *answer);
/* fd: O_PATH, dup'ed. room: memory limit in bytes for building the table. */
void read_table_ask(struct parcel *m, int fd, uint64_t room);
/* *t points into the answer and has been validated. Returns NULL, or why rows are missing or
 * incomplete. */
const char *read_table_take(struct parcel *answer, struct unwind_table *t);

/* ---- content of a file that was hit ---- */

int read_content_serve(int proc, struct parcel *request, struct parcel *answer);
/*
 * Identifies the file `fd` (dup'ed) or, if fd is -1, the file mapped at `what`, provided it still
 * has the image `seen` and that size. `sum`: compute image_content_id() even if it has a build-id.
 */
void read_content_ask(struct parcel *m, int fd, const struct mapped *what, const struct image *seen,
		      uint64_t size, bool sum);
/* Returns 0 and an O_PATH descriptor. id: build-id, else image_content_id(). -ESTALE: the file has
 * changed. */
int read_content_take(struct parcel *answer, int *fd, char id[IMAGE_ID_CAP]);

int read_tag_serve(int proc, struct parcel *request, struct parcel *answer);
/* Requests content_tag() of the file; the answer is 0 on error. */
void read_tag_ask(struct parcel *m, int fd, const struct content_key *key);
uint64_t read_tag_take(struct parcel *answer);

#endif
