/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds functions of an ELF file by name, and where to attach uprobes to them. Only reads the file.
 */
#ifndef RECORD_FUNC_FIND_H
#define RECORD_FUNC_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/probe/func.h"
#include "record/binary/func_exits.h"

enum { FUNC_PATTERNS_MAX = 16 };

struct func_site {
	const char *name;
	uint32_t pattern; /* the first that one of its names matches */
	uint32_t matches; /* all, as bits */
	uint64_t entry;	  /* file offset */
	uint32_t below;	  /* bytes between the stack pointer there and at the function's start */
	bool step;	  /* the instruction there must be single-stepped */
	bool go;	  /* its calls belong to goroutines */
	bool by_return;	  /* `exits` are not known: needs a uretprobe, which breaks Go, and programs
			   * whose exceptions pass the function */
	bool pinned;	  /* a uretprobe would always break it */
	bool loops;	  /* a call may come by `entry` again and again */
	struct func_exits exits; /* file offsets */
	struct func_place place; /* of `entry` */
};

/* How: without looking for exits; with places where functions that pattern i matches still have
 * their arguments; pattern i is not of functions but of USDT probes (usdt_find.h). */
enum { FUNC_FIND_URETPROBES = 1 };
#define FUNC_FIND_ARGS(i) (0x100ull << (i))
#define FUNC_FIND_USDT(i) (0x1000000ull << (i))

/*
 * Calls fn for each function that a pattern (func_pattern.h) matches, at most FUNC_MAX, until it
 * returns false. Of several names of a function, one that a pattern without wildcards names is
 * preferred, else the shortest; a name of several functions is followed by @ and the address.
 * *indirect: patterns, as bits, that match indirect functions (STT_GNU_IFUNC), whose
 * implementations are chosen at run time. Returns the number of functions left out.
 */
size_t func_find(int fd, const char *const *patterns, size_t cnt, uint64_t how,
		 bool (*fn)(void *ctx, const struct func_site *site), void *ctx,
		 uint32_t *indirect);

#endif
