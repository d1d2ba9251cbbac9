/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the functions of Go's runtime that are called for allocations which its memory profiler
 * samples, and what their programs need to know. */
#ifndef RECORD_ALLOC_FIND_GO_H
#define RECORD_ALLOC_FIND_GO_H

#include <libelf.h>

#include "record/binary/alloc_find.h"

/* Stores up to `room` functions and returns their number. x86-64 only. */
size_t alloc_find_go(int fd, Elf *elf, struct alloc_site *sites, size_t room,
		     enum alloc_go_lack *lack);

/* ---- pure: what instructions say */

/* code: of the function at address `start` that computes the next gap. Returns the address of
 * runtime.MemProfileRate, which it compares with 1; 0: not found. */
uint64_t alloc_go_rate_at(const uint8_t *code, size_t len, uint64_t start);
/* code: of runtime.setprofilebucket, which stores the kind of its special. False: not found. */
bool alloc_go_special(const uint8_t *code, size_t len, struct alloc_go *go);

#endif
