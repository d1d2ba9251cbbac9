/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of JIT code: which addresses of a process were hit, and the symbols for them in its perf
 * map (perfmap.h). A reader process reads the map and keeps its index. If another reader takes
 * over, it starts at the beginning of the map and gets all addresses that have no name yet.
 */
#ifndef RECORD_READ_JIT_H
#define RECORD_READ_JIT_H

#include "record/base/parcel.h"
#include "record/binary/perfmap.h"

int read_jit_serve(int proc, struct parcel *request, struct parcel *answer);

struct jit_names;

int jit_names__new(struct jit_names **j, uint32_t pid);
void jit_names__free(struct jit_names *j);
uint32_t jit_names__pid(const struct jit_names *j);

/* Adds an address; returns true if it is new. */
bool jit_names__hit(struct jit_names *j, uint64_t address);

/* Returns true if a request should be sent: some addresses have no name, no request is in flight,
 * and the last one was not fruitless a short time ago. `last`: this is the final chance. */
bool jit_names__due(const struct jit_names *j, uint64_t now_ns, bool last);
void jit_names__ask(struct jit_names *j, struct parcel *m);
/* Calls fn for each symbol not reported before. *refused: number of entries or addresses rejected
 * because of limits since the last call. Returns 0 or a negative errno. */
int jit_names__take(struct jit_names *j, struct parcel *answer, uint64_t now_ns,
		    void (*fn)(void *ctx, const struct perfmap_line *symbol), void *ctx,
		    uint64_t *refused);

#endif
