/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of generated code: which addresses of a process were hit, and what its perf map (perfmap.h)
 * says of them, which a reader process reads and keeps the index of. Another reader, or a new one,
 * begins at the map's start: it is told all addresses that are still without a name.
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

/* Remembers an address; true when it is new. */
bool jit_names__hit(struct jit_names *j, uint64_t address);

/*
 * Is it time to ask? Some addresses have no name, no request is under way, and the last one was not
 * in vain just now. `last`: there will be no other time.
 */
bool jit_names__due(const struct jit_names *j, uint64_t now_ns, bool last);
void jit_names__ask(struct jit_names *j, struct parcel *m);
/* Calls fn for each symbol that was not reported before. *refused: entries or addresses beyond the
 * bounds since the last call. 0 or negative errno. */
int jit_names__take(struct jit_names *j, struct parcel *answer, uint64_t now_ns,
		    void (*fn)(void *ctx, const struct perfmap_line *symbol), void *ctx,
		    uint64_t *refused);

#endif
