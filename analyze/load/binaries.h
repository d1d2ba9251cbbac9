/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The binaries of all captures: ELF files are one when build-id, path and what the archives hold of
 * their symbols agree, as a build-id may be forged; kernels, kernel
 * modules and JIT code belong to one capture. Holds the symbols that were resolved on the host.
 */
#ifndef ANALYZE_BINARIES_H
#define ANALYZE_BINARIES_H

#include <stdbool.h>

#include "format/records.h"
#include "analyze/base/strings.h"

enum binary_type { BINARY_UNKNOWN, BINARY_ELF, BINARY_JIT, BINARY_KERNEL };

struct host_symbol {
	uint64_t address, size;
	uint32_t name, binary; /* binary: the module */
};

struct binary {
	enum binary_type type;
	uint32_t capture;
	uint32_t build_id, path, name; /* strings; name: the path's last part */
	uint32_t content;	       /* string: of the debug member */
	uint32_t origin;	       /* the first capture that has it */
	bool told;		       /* there is a record of its symbols: the next three */
	uint32_t member, symbols, why; /* strings: what the recorder said, then what obana used */
	struct host_symbol *host;
	size_t host_cnt, host_cap;
	bool host_sorted;
};

struct binaries;

int binaries__new(struct binaries **b, struct strings *strings);
void binaries__free(struct binaries *b);

/* Records of a capture. content: captures__content, "" where nothing is to be told apart. 0 or
 * -ENOMEM. */
int binaries__define(struct binaries *b, uint32_t capture, const struct rec_binary *r,
		     const char *content);
int binaries__debuginfo(struct binaries *b, uint32_t capture, const struct rec_debuginfo *r);
int binaries__symbol(struct binaries *b, uint32_t capture, const struct rec_symbol *r);

/* The number of an archive's binary id (one whose definition was lost gets a number too); 0: in no
 * binary. */
uint32_t binaries__find(struct binaries *b, uint32_t capture, uint32_t id);

size_t binaries__cnt(const struct binaries *b); /* number 0 included */
struct binary *binaries__get(const struct binaries *b, uint32_t binary);

/* The host's symbol that covers the address; NULL. */
const struct host_symbol *binaries__symbol_at(struct binaries *b, uint32_t binary,
					      uint64_t address);

#endif
