/* SPDX-License-Identifier: BSD-2-Clause */
/* Thread that compresses and writes chunks at normal priority. A chunk takes milliseconds of CPU
 * time, which the main thread with its raised priority would take from the recorded programs. */
#ifndef RECORD_PACKER_H
#define RECORD_PACKER_H

#include <stdint.h>

#include "format/archive.h"

struct packer;

int packer__new(struct packer **p, struct obz_writer *writer);
void packer__free(struct packer *p);
uint64_t packer__cpu_ns(const struct packer *p); /* CPU time used so far */

#endif
