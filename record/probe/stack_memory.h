/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of threads that wait, as their stacks, of many processes at once: one whose memory cannot
 * be read does not delay the others. */
#ifndef RECORD_STACK_MEMORY_H
#define RECORD_STACK_MEMORY_H

#include "bpf/wire.h"
#include "record/reader/readers.h"

struct stack_memory {
	struct readers *readers;
	uint32_t tgid;
	uint64_t at; /* address of the bytes */
	struct span bytes;
	struct reading_request *more; /* owns the bytes that were asked for last; NULL: none */
	bool late;		      /* an answer is late: nothing more is asked */
};

/* An unwind_read_fn. */
int stack_memory_read(void *stack_memory, void *to, size_t size, uint64_t at);

struct memory_place {
	uint32_t tgid;
	uint64_t at;
	const void *of; /* the caller's */
};

/*
 * Calls fn for each place, with the bytes from there on. They are sorted by process. Returns the
 * number of processes whose memory was not read in time; fn then gets none.
 */
unsigned stack_memory_each(struct readers *readers, const struct memory_place *places, size_t cnt,
			   void (*fn)(void *ctx, const void *of, struct stack_memory *m),
			   void *ctx);

#endif
