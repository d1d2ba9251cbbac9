/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the instruction at the beginning of a function where a uprobe is cheapest. Pure. */
#ifndef RECORD_UPROBE_PLACE_H
#define RECORD_UPROBE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UPROBE_CODE_SZ = 96 }; /* that suffices */

/*
 * code: the function's first bytes. *skip: length of the instructions before the place; they change
 * neither arguments nor the stack pointer. Returns false if the instruction there, which is the
 * first, must be single-stepped.
 */
bool uprobe_place(const uint8_t *code, size_t len, size_t *skip);

/*
 * As above for probes that need only the stack pointer at the entry: any instructions that are
 * executed one after the other may come before. *below: how far they have lowered the stack
 * pointer, a multiple of 8.
 */
bool uprobe_place_deep(const uint8_t *code, size_t len, size_t *skip, uint32_t *below);

/*
 * As uprobe_place_deep(), for probes that also need the first `args` (at most 6) arguments and the
 * return address on top of the stack: the instructions before change neither these registers nor
 * the stack pointer.
 */
bool uprobe_place_args(const uint8_t *code, size_t len, unsigned args, size_t *skip);

/* For those who know places by their code: makes the file's code at offset `at` what it is in
 * memory, where uprobes are breakpoints. patched: their offsets, in order. */
void uprobe_place_sort(uint64_t *patched, size_t cnt);
void uprobe_place_patch(uint8_t *code, size_t len, uint64_t at, const uint64_t *patched,
			size_t cnt);

#endif
