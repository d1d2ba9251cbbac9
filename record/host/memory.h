/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory use of obrec. */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stdint.h>

struct bpf_object;

/* Less does not hold the smallest rings and tables, kernel symbols and one process's unwind rows.
 */
#define MEMORY_MIN (64ULL << 20)

/* Kept free of --max-mem, for what is taken between two looks, and by extracting symbols. */
uint64_t memory_reserve(uint64_t max_mem);

/* Bytes of the BPF maps of an object, as the kernel accounts for them. What is mapped into obrec
 * (rings) is in its resident memory. */
uint64_t memory_of_maps(const struct bpf_object *obj);

/* Resident bytes of this process, 0 when not known. */
uint64_t memory_resident(void);

/* Gives the kernel what lies free within the heap: after a burst of processes or connections that
 * is nearly all of it, under a few pieces that stay. */
void memory_give_back(void);

#endif
