/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that encodes and writes chunks at usual priority: each takes milliseconds, and the
 * thread that records, which is urgent, would take them from what is recorded. */
#ifndef RECORD_PACKER_H
#define RECORD_PACKER_H

#include <stdint.h>

#include "format/archive.h"

struct packer;

int packer__new(struct packer **p, struct obz_writer *writer);
void packer__free(struct packer *p);
uint64_t packer__cpu_ns(const struct packer *p); /* what it took so far */

#endif
