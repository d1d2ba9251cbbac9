/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chunks to load, and whose turn it is. Chunks are decoded by several threads but taken one at
 * a time and in archive order: the thread that decoded chunk N waits until chunk N-1 was taken. So
 * the result does not depend on timing, loaders need no locks, and memory holds one chunk per
 * thread.
 *
 * There are two lanes, each with turns of its own. Chunks of LANE_APART begin when the first chunks
 * of LANE_MAIN, up to the call of chunks__start_apart, were taken; from then on both proceed side
 * by side.
 */
#ifndef ANALYZE_CHUNKS_H
#define ANALYZE_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct obz_member;
struct chunks;

enum lane { LANE_MAIN, LANE_APART, LANE_CNT };

struct chunk {
	uint32_t capture, meter;
	const struct obz_member *member;
};

/* A chunk in the hands of one thread. */
struct turn {
	struct chunks *chunks;
	const struct chunk *chunk;
	enum lane lane;
	size_t at;
	bool mine; /* its turn has come */
};

struct chunks_ops {
	/* Decodes a chunk and takes it, see turn_await. */
	void (*take)(void *ctx, struct turn *t);
	/* The last chunk before those of LANE_APART was taken. Called in its turn. */
	void (*apart)(void *ctx);
	void *ctx;
};

int chunks__new(struct chunks **chunks, const struct chunks_ops *ops);
int chunks__add(struct chunks *c, enum lane lane, const struct chunk *chunk);
/* What was added to LANE_MAIN until now comes before LANE_APART. */
void chunks__start_apart(struct chunks *c);
size_t chunks__cnt(const struct chunks *c);

/* Starts up to `threads` - 1 threads; __run_main and __join make the caller one of them. */
void chunks__start(struct chunks *c, size_t threads);
/* Returns when all chunks of LANE_MAIN were taken. */
void chunks__run_main(struct chunks *c);
/* Returns when all chunks were taken and all threads have ended. */
void chunks__join(struct chunks *c);
void chunks__free(struct chunks *c);

/* Waits for the turn of the chunk; further calls return at once. */
void turn_await(struct turn *t);
/* Protects what the lanes share. */
void chunks__lock(struct chunks *c);
void chunks__unlock(struct chunks *c);

#endif
