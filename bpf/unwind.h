/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The unwind rule and the state of one walk: what the row builder writes, what the walk
 * (unwind_walk.h) reads, in BPF and in user space alike. Registers are DWARF numbers (arch.h); the
 * text speaks of x86-64, where rsp is sp, rbp is the frame pointer x29 of arm64.
 */
#ifndef BPF_UNWIND_H
#define BPF_UNWIND_H

#include "bpf/arch.h"
#include "bpf/wire.h"

/* How the canonical frame address (the caller's stack pointer) is found; appended only. */
enum rule_cfa {
	CFA_NONE = 0,  /* no unwind information here */
	CFA_REG = 1,   /* reg + off */
	CFA_DEREF = 2, /* *(reg + off) + add: realigned stacks, signal frames */
	CFA_PLT = 3,   /* reg + off, 8 more when (pc & 15) >= add: lazy PLT entries */
	CFA_END = 4,   /* outermost frame of a thread */
	CFA_BAD = 5,   /* described in a way that is not supported */
	CFA_FP = 9,    /* frame-pointer record at rbp; CFA_REG and a bit, see UNWIND_USUAL */
};
#define CFA_KIND_MASK 0x0f
#define CFA_SIGNAL                                                                                 \
	0x10 /* the caller was interrupted here: its pc is exact, all registers are saved */

/* Where the return address (low nibble of rule.saved) and the caller's rbp (high nibble) are. */
enum rule_saved {
	SAVED_SAME = 0,	  /* still in its register (the frame pointer only) */
	SAVED_AT_CFA = 1, /* *(CFA + x_off) */
	SAVED_AT_SP = 2, /* *(rsp + x_off) */
	SAVED_AT_FP = 3, /* *(rbp + x_off) */
	SAVED_REG = 4,	  /* in register x_off */
	SAVED_IS_CFA = 5, /* CFA + x_off itself */
	SAVED_UNDEF = 6,  /* lost; for the return address: the end of the stack */
};
#define RULE_SAVED(ra, fp) ((ra) | (fp) << 4)

struct rule {
	__u8 cfa; /* enum rule_cfa, CFA_SIGNAL */
	__u8 reg;
	__u8 saved; /* RULE_SAVED */
	__s8 add;   /* CFA_DEREF, CFA_PLT, CFA_FP: see there; CFA_REG: rule_rbx */
	__s32 off;
	__s16 ra_off, fp_off;
};

/*
 * rbx is needed where glibc's lazy binding (_dl_runtime_resolve) keeps its frame in it, and only
 * through that one library. A table that has such a frame says in each of its CFA_REG rules where
 * rbx is: saved at CFA - 8 * add, unchanged, or not said. A walk follows it only from when it met
 * the need, in a second start (unwind_odd).
 */
enum rule_rbx { RBX_UNKNOWN = 0, RBX_SAME = -1, RBX_MAX = 127 };

/* A frame-pointer record as a rule: rbp points to the caller's rbp, the return address above it.
 * `add`: enum stack_error to end with when it fails; 0 where frame pointers are the rule. */
#define RULE_FP(guess)                                                                             \
	{                                                                                          \
		.cfa = CFA_FP, .reg = UNWIND_FP, .saved = RULE_SAVED(SAVED_AT_CFA, SAVED_AT_CFA), \
		.add = (guess), .off = 16, .ra_off = -8, .fp_off = -16                             \
	}

/*
 * Frame cache, one per slot (a CPU and entry context): what a look-up found, so that a hit costs
 * half a cache line and no search. Stacks come again and again: each entry says which one was
 * needed after it last time, and entries are taken in turn, so that those of a stack lie one after
 * the other, as the memory's prefetching likes it. When the guess is wrong, `index` finds the entry
 * by its address. Interrupted instructions, which vary, have a part of their own. generation 0
 * never matches.
 */
#define UNWIND_CACHE_CNT 1024
#define UNWIND_CACHE_EXACT 256 /* of them for interrupted instructions */
#define UNWIND_CACHE_INDEX_BITS 11
#define UNWIND_NO_ENTRY UNWIND_CACHE_CNT
struct unwind_cached {
	__u64 pc_next; /* lower 48 bits: pc; upper 16: number of the entry after it */
	__u64 frame;   /* packed, as recorded */
	__u32 generation;
	struct rule rule;
};
struct unwind_cache {
	struct unwind_cached entry[UNWIND_CACHE_CNT];
	__u16 index[1 << UNWIND_CACHE_INDEX_BITS];
};
_Static_assert(sizeof(struct unwind_cache) % 4096 == 0, "whole pages");

#define UNWIND_CONTEXTS 4 /* slots a CPU: one for each entry context that may interrupt another */

/* Where registers other than rsp and rbp can be had: only in a frame that was interrupted. */
enum unwind_regs { UNWIND_REGS_NONE, UNWIND_REGS_KERNEL, UNWIND_REGS_SIGNAL };

enum unwind_rbx { UNWIND_RBX_OFF, UNWIND_RBX_KNOWN, UNWIND_RBX_LOST };

#define UNWIND_WINDOW 512

struct unwind_walk {
	__u64 pc; /* to look up: a return address less one, or exact */
	__u64 sp, fp;
	__u64 regs_at;	  /* user address of the signal context's registers */
	__u64 window_at;  /* user address of `window` */
	__u32 regs_from;  /* enum unwind_regs */
	__u32 range_hint; /* last range found */
	__u32 fp_chain;	  /* the last step followed a frame-pointer record */
	__u32 careful;	  /* follows rbx: enum unwind_rbx */
	__u64 rbx;
	__u32 entry; /* cache entry of the last frame, UNWIND_NO_ENTRY before the first */
	__u32 next;  /* the one it expects to be next */
	__u32 turn;  /* the cache entry to be taken next */
	__u32 pad;

	/* What goes in: the process's value of map `procs`, the registers of user mode. */
	struct proc proc;
	__u64 regs[UNWIND_PT_CNT];
	__u64 window[UNWIND_WINDOW / 8]; /* a piece of the user stack, fetched at once */

	/* What comes out: hash, frame_cnt, error and frames are set by the walk, the rest is the
	 * caller's. One piece, so that it can go into a ring as it is. */
	struct wire_stack stack;
	__u64 frames[WIRE_MAX_FRAMES];
};

#endif
