/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the bytes of a capture file in order and decompresses gzip, zstd and xz. Memory is bounded
 * for any file content. */
#ifndef ANALYZE_PCAP_SOURCE_H
#define ANALYZE_PCAP_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct source;

/* Takes ownership of f, on failure as well. 0 or -ENOMEM. */
int source__new(struct source **s, FILE *f);
void source__free(struct source *s);
/* Reads up to n bytes; fewer at the end of the file or on an error. */
size_t source__read(struct source *s, void *to, size_t n);
/* The reason of a premature end; NULL: none. */
const char *source__error(const struct source *s);

#endif
