/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory use of obrec. */
#ifndef RECORD_MEMORY_H
#define RECORD_MEMORY_H

#include <stdint.h>

struct bpf_object;

/* Minimum for the smallest rings and tables, kernel symbols and the unwind rows of one process. */
#define MEMORY_MIN (64ULL << 20)

/* The part of --max-mem kept free for allocations between two checks and for symbol extraction. */
uint64_t memory_reserve(uint64_t max_mem);

/* Memory of the BPF maps of an object in bytes, as accounted by the kernel. Excludes what is mapped
 * into obrec (rings); that is part of its resident memory. */
uint64_t memory_of_maps(const struct bpf_object *obj);

/* Resident memory of this process in bytes; 0: unknown. */
uint64_t memory_resident(void);

/* Calls malloc_trim(). After a burst of processes or connections most of the heap is free but
 * cannot shrink, because a few live blocks lie above. */
void memory_give_back(void);

#endif
