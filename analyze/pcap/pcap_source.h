/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a capture file in order, decompressed when they are gzip, zstd or xz. Memory is
 * bounded whatever the file says. */
#ifndef ANALYZE_PCAP_SOURCE_H
#define ANALYZE_PCAP_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source;

/* Takes f over, on failure as well. 0 or -ENOMEM. */
int source__new(struct source **s, FILE *f);
void source__free(struct source *s);
/* Up to n bytes; less at the end of the file or at an error. */
size_t source__read(struct source *s, void *to, size_t n);
/* What ended it too early; NULL: its end was whole. */
const char *source__error(const struct source *s);

#endif
