/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binaries of all captures. ELF files are the same binary if build-id, path and the content of
 * their archived symbols agree; the build-id alone may be forged. Kernels, kernel modules and JIT
 * code belong to one capture. Also holds symbols that were resolved on the recorded host.
 */
#ifndef ANALYZE_BINARIES_H
#define ANALYZE_BINARIES_H

#include <stdbool.h>

#include "format/records.h"
#include "analyze/base/strings.h"

enum binary_type { BINARY_UNKNOWN, BINARY_ELF, BINARY_JIT, BINARY_KERNEL };

struct host_symbol {
	uint64_t address, size;
	uint32_t name, binary; /* binary: kernel module */
};

struct binary {
	enum binary_type type;
	uint32_t capture;
	uint32_t build_id, path, name; /* strings; name: last path component */
	uint32_t content;	       /* string: content hash of the debug member */
	uint32_t origin;	       /* first capture that has it */
	bool told;		       /* a record describes its symbols: the next three */
	uint32_t member, symbols, why; /* strings: recorder's values, later obana's */
	struct host_symbol *host;
	size_t host_cnt, host_cap;
	bool host_sorted;
};

struct binaries;

int binaries__new(struct binaries **b, struct strings *strings);
void binaries__free(struct binaries *b);

/* Adds a record of a capture. content: from captures__content, "" if no distinction is needed. 0 or
 * -ENOMEM. */
int binaries__define(struct binaries *b, uint32_t capture, const struct rec_binary *r,
		     const char *content);
int binaries__debuginfo(struct binaries *b, uint32_t capture, const struct rec_debuginfo *r);
int binaries__symbol(struct binaries *b, uint32_t capture, const struct rec_symbol *r);

/* Number of a binary for frames that obana itself adds, which are named by __name. 0: out of
 * memory. */
uint32_t binaries__artificial(struct binaries *b, const char *path);
/* Names an address; name: string. Repeated names have no effect. 0 or -ENOMEM. */
int binaries__name(struct binaries *b, uint32_t binary, uint64_t address, uint32_t name);

/* Number of an archive's binary id. An id whose definition was lost gets a number too. 0: not in a
 * binary. */
uint32_t binaries__find(struct binaries *b, uint32_t capture, uint32_t id);

size_t binaries__cnt(const struct binaries *b); /* including number 0 */
struct binary *binaries__get(const struct binaries *b, uint32_t binary);

/* Symbol from the host that covers the address; NULL: none. */
const struct host_symbol *binaries__symbol_at(struct binaries *b, uint32_t binary,
					      uint64_t address);

#endif
