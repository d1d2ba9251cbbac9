/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file behind a mapping, opened and parsed by a reader process. obrec itself gets descriptors
 * that have opened nothing (O_PATH): a file system is not asked when such a one is closed, and a
 * reader can open the file through it later, whatever has become of its name and process.
 */
#ifndef RECORD_READ_FILE_H
#define RECORD_READ_FILE_H

#include <sys/stat.h>

#include "record/binary/binary.h"
#include "record/elf/binary_content.h"
#include "record/base/parcel.h"
#include "record/binary/tls_sites.h"

/* ---- what is mapped ---- */

/* What a probe wants to know of a file (struct probe). */
enum { FILE_FACT_TLS = 1, FILE_FACT_SPLICE = 2 };

struct file_facts {
	bool may_splice;
	bool remote; /* the file system is served by a process or another host, and may not answer
		      */
	struct tls_site tls[TLS_SITES_MAX]; /* names point into the answer */
	size_t tls_cnt;
};

struct file_read {
	struct stat st;	 /* of it: device, inode, size, mtime */
	int fd, root_fd; /* O_PATH, the caller's: the file; the process's root directory, -1: none
			  */
	struct {
		ino_t mnt_ns, ino;
		dev_t dev;
	} root;
	struct image image; /* load_cnt 0: it is no ELF image, and why not is in image_err */
	int image_err;	    /* of image_read() */
	struct file_facts facts;
};

int read_file_serve(int proc, struct parcel *request, struct parcel *answer);
void read_file_ask(struct parcel *m, const struct mapped *what, unsigned facts);
/* 0; -ENXIO: no regular file, -ESTALE, -EPERM, ... as binary_open_mapped(). Nothing is the caller's
 * then. */
int read_file_take(struct parcel *answer, struct file_read *f);
void file_read_fini(struct file_read *f);

/* Only the stat, to see whether it is still the same file. */
int read_stat_serve(int proc, struct parcel *request, struct parcel *answer);
void read_stat_ask(struct parcel *m, const struct mapped *what);
int read_stat_take(struct parcel *answer, struct stat *st);

/* ---- its unwind table ---- */

int read_table_serve(int proc, struct parcel *request, struct parcel *answer);
/* fd: O_PATH, dup'ed. room: bytes that building it may take. */
void read_table_ask(struct parcel *m, int fd, uint64_t room);
/* *t points into the answer, and is checked. NULL, or why it has no rows or not all. */
const char *read_table_take(struct parcel *answer, struct unwind_table *t);

/* ---- its content, when it is hit ---- */

int read_content_serve(int proc, struct parcel *request, struct parcel *answer);
/* The file of `fd` (dup'ed), or where that is -1, what is mapped there, if it is still the image
 * that was seen, of that size. `sum`: its image_content_id() is wanted though it has a build-id. */
void read_content_ask(struct parcel *m, int fd, const struct mapped *what, const struct image *seen,
		      uint64_t size, bool sum);
/* 0 and its O_PATH descriptor; id: its build-id, else image_content_id(). -ESTALE: it has changed.
 */
int read_content_take(struct parcel *answer, int *fd, char id[IMAGE_ID_CAP]);

int read_tag_serve(int proc, struct parcel *request, struct parcel *answer);
/* content_tag() of the file; the answer's is 0 where that failed. */
void read_tag_ask(struct parcel *m, int fd, const struct content_key *key);
uint64_t read_tag_take(struct parcel *answer);

#endif
