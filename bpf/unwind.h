/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The unwind rule, written by the row builder and read by the walk (unwind_walk.h), and the state
 * of one walk. Used by BPF and user space. Registers are DWARF numbers (arch.h). Comments use the
 * names of x86-64: on arm64, rsp stands for sp and rbp for the frame pointer x29.
 */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include "bpf/arch.h"
#include "bpf/wire.h"

/* How to compute the canonical frame address (CFA, the caller's stack pointer). Values are stable;
 * append new ones. */
enum rule_cfa {
	CFA_NONE = 0,  /* no unwind information here */
	CFA_REG = 1,   /* reg + off */
	CFA_DEREF = 2, /* *(reg + off) + add: realigned stacks, signal frames */
	CFA_PLT = 3,   /* reg + off, 8 more when (pc & 15) >= add: lazy PLT entries */
	CFA_END = 4,   /* outermost frame of a thread */
	CFA_BAD = 5,   /* uses an unsupported description */
	CFA_FP = 9,    /* frame-pointer record at rbp; CFA_REG plus a bit, see UNWIND_USUAL */
};
#define CFA_KIND_MASK 0x0f
#define CFA_SIGNAL                                                                                 \
	0x10 /* the caller was interrupted here: its pc is exact, all registers are saved */

/* Where the return address (low nibble of rule.saved) and the caller's rbp (high nibble) are
 * stored. */
enum rule_saved {
	SAVED_SAME = 0,	  /* unchanged, in its register (frame pointer only) */
	SAVED_AT_CFA = 1, /* *(CFA + x_off) */
	SAVED_AT_SP = 2, /* *(rsp + x_off) */
	SAVED_AT_FP = 3, /* *(rbp + x_off) */
	SAVED_REG = 4,	  /* in register x_off */
	SAVED_IS_CFA = 5, /* its value is CFA + x_off */
	SAVED_UNDEF = 6,  /* not recoverable; for the return address: end of the stack */
};
#define RULE_SAVED(ra, fp) ((ra) | (fp) << 4)

struct rule {
	__u8 cfa; /* enum rule_cfa, CFA_SIGNAL */
	__u8 reg;
	__u8 saved; /* RULE_SAVED */
	__s8 add;   /* meaning depends on cfa; with CFA_REG: rule_rbx */
	__s32 off;
	__s16 ra_off, fp_off;
};

/*
 * glibc's lazy binding (_dl_runtime_resolve) uses rbx as frame base; this is the only known case
 * that needs rbx. A table that has such a frame stores in each of its CFA_REG rules where the
 * caller's rbx is: saved at CFA - 8 * add, unchanged, or unknown. A walk follows rbx only after it
 * has met such a frame and restarted (unwind_odd).
 */
enum rule_rbx { RBX_UNKNOWN = 0, RBX_SAME = -1, RBX_MAX = 127 };

/*
 * A frame-pointer record as a rule: rbp points to the caller's rbp, with the return address above
 * it. `add`: the enum stack_error to end with on failure; 0 where frame pointers are known to be
 * used.
 */
#define RULE_FP(guess)                                                                             \
	{                                                                                          \
		.cfa = CFA_FP, .reg = UNWIND_FP, .saved = RULE_SAVED(SAVED_AT_CFA, SAVED_AT_CFA), \
		.add = (guess), .off = 16, .ra_off = -8, .fp_off = -16                             \
	}

/*
 * Frame cache, one per slot (CPU and entry context). It stores lookup results; a hit reads half a
 * cache line and needs no search. Stacks repeat, so each entry stores the number of the entry that
 * followed it last time. Entries are allocated in order, so that those of one stack are adjacent
 * and the hardware prefetches them. When the prediction is wrong, `index` finds the entry by its
 * address. Interrupted instructions, whose addresses vary, have their own part of the cache.
 * generation 0 never matches.
 */
#define UNWIND_CACHE_CNT 1024
#define UNWIND_CACHE_EXACT 256 /* of these, entries for interrupted instructions */
#define UNWIND_CACHE_INDEX_BITS 11
#define UNWIND_NO_ENTRY UNWIND_CACHE_CNT
struct unwind_cached {
	__u64 pc_next; /* lower 48 bits: pc; upper 16: number of the next entry */
	__u64 frame;   /* packed, as recorded */
	__u32 generation;
	struct rule rule;
};
struct unwind_cache {
	struct unwind_cached entry[UNWIND_CACHE_CNT];
	__u16 index[1 << UNWIND_CACHE_INDEX_BITS];
};
_Static_assert(sizeof(struct unwind_cache) % 4096 == 0, "whole pages");

#define UNWIND_CONTEXTS 4 /* slots per CPU: one per entry context that may interrupt another */

/* Where registers other than rsp and rbp can be read; only in an interrupted frame. */
enum unwind_regs { UNWIND_REGS_NONE, UNWIND_REGS_KERNEL, UNWIND_REGS_SIGNAL };

enum unwind_rbx { UNWIND_RBX_OFF, UNWIND_RBX_KNOWN, UNWIND_RBX_LOST };

#define UNWIND_WINDOW 512

struct unwind_walk {
	__u64 pc; /* address to look up: return address - 1, or an exact one */
	__u64 sp, fp;
	__u64 regs_at;	  /* user address of the signal context's registers */
	__u64 window_at;  /* user address of `window` */
	__u32 regs_from;  /* enum unwind_regs */
	__u32 range_hint; /* index of the last range found */
	__u32 fp_chain;	  /* the last step followed a frame-pointer record */
	__u32 careful;	  /* enum unwind_rbx; nonzero: follows rbx */
	__u64 rbx;
	__u32 entry; /* cache entry of the last frame; UNWIND_NO_ENTRY before the first */
	__u32 next;  /* predicted next cache entry */
	__u32 turn;  /* cache entry to allocate next */
	__u32 pad;

	/* Input: the process's value of map `procs` and its user-mode registers. */
	struct proc proc;
	__u64 regs[UNWIND_PT_CNT];
	__u64 window[UNWIND_WINDOW / 8]; /* part of the user stack, read in one piece */

	/* Output: the walk sets hash, frame_cnt, error and frames; the caller sets the rest.
	 * Contiguous, so that it can be sent to a ring buffer as it is. */
	struct wire_stack stack;
	__u64 frames[WIRE_MAX_FRAMES];
};

#endif
