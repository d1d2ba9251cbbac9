/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of unknown number on their way to somewhere else: an anonymous file in TMPDIR, gone with
 * its fd. */
#ifndef FORMAT_SPOOL_H
#define FORMAT_SPOOL_H

#include <stdint.h>
#include <stddef.h>

struct spool {
	int fd; /* -1 until something was written */
	uint64_t sz;
};

/* An unnamed file in TMPDIR, else /tmp, else in memory; negative errno. */
int spool_file(void);

void spool_init(struct spool *s);
void spool_fini(struct spool *s);
int spool_add(struct spool *s, const void *p, size_t len);
int spool_flush(struct spool *s);

#endif
