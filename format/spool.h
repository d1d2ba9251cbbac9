/* SPDX-License-Identifier: BSD-2-Clause */
/* Temporary storage for data of unknown size: an anonymous file in TMPDIR, which is deleted when
 * its fd is closed. */
#ifndef FORMAT_SPOOL_H
#define FORMAT_SPOOL_H

#include <stdint.h>
#include <stddef.h>

struct spool {
	int fd; /* -1 until data was written */
	uint64_t sz;
};

void spool_init(struct spool *s);
void spool_fini(struct spool *s);
int spool_add(struct spool *s, const void *p, size_t len);
int spool_flush(struct spool *s);

#endif
