/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the functions of memory allocators in an ELF file by name, and for each the instruction
 * where a uprobe is cheapest. Only reads the file. */
#ifndef RECORD_ALLOC_FIND_H
#define RECORD_ALLOC_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/probe/alloc.h"

enum { ALLOC_JUMPS = 6 };

struct alloc_site {
	enum alloc_kind kind;
	uint64_t offset;     /* of the place in the file */
	uint64_t address;    /* of the place */
	uint64_t start, end; /* of the function */
	unsigned tails;	     /* enum alloc_tails */
	uint64_t jumps[ALLOC_JUMPS]; /* starts of others where it may end; 0: none */
	bool step;	     /* the instruction must be single-stepped */
	struct alloc_place place;
	struct alloc_go go; /* ALLOC_go_sample; ALLOC_go_free */
	char name[48];
};

/* What is missing in a Go program. Numbers are in answers of readers. */
#define ALLOC_GO_LACKS(X)                                                                          \
	X(NOTHING, NULL) /* or it is none */                                                       \
	X(FUNCTION, "Go: runtime.profilealloc not found (inlined, or before Go 1.17)")             \
	X(FREES, "free not seen: Go: runtime.freeSpecial not found")                               \
	X(PROFILER, "Go: no use of runtime.MemProfile (as by pprof): it samples no allocations")
enum alloc_go_lack {
#define X(name, text) ALLOC_GO_LACKS_##name,
	ALLOC_GO_LACKS(X)
#undef X
		ALLOC_GO_LACK_CNT
};

/*
 * Returns the number of functions, at most ALLOC_FUNCS; 0: no allocator, or an unreadable file.
 * Functions that only jump to another one of them are left out. *go: what a Go program lacks.
 */
size_t alloc_find(int fd, struct alloc_site *sites, enum alloc_go_lack *go);

#endif
