/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The stack walk: computes frames from registers. Compiled twice, as BPF (unwind.bpf.c) and as a
 * user-space program (record/unwind/unwind_user.c). Before including this file, define:
 *
 *   UW_FUNC               storage class of the step functions
 *   uw_walk(slot)         struct unwind_walk *, NULL when there is no such slot
 *   uw_cache(slot)        struct unwind_cache *
 *   uw_ranges(segment)    const struct range_seg *, or NULL
 *   uw_rows(segment)      const struct row_seg *, or NULL
 *   uw_page(index)        const struct page *, or NULL
 *   uw_rule(index)        const struct rule *, or NULL
 *   uw_read(to, size, at) 0 when `size` bytes of user memory were read
 *   uw_load32(p), uw_load64(p)  the value at p, which may be unaligned
 *   uw_leave_uprobe(w)    nonzero: w->pc was in code that uprobes put into the process, and is where
 *                         it would be without them now
 *
 * unwind_frames() unwinds several frames and is called in a loop until it returns nonzero. It is
 * the fast path for nearly all frames: cached, CFA from rsp or rbp, return address below the CFA.
 * unwind_odd() handles all other frames. The functions are global and take a slot number, because
 * kernels from 5.10 verify such functions once, independent of the calling loop. The state is in
 * the slot between calls.
 */
#ifndef BPF_UNWIND_WALK_H
#define BPF_UNWIND_WALK_H

#include "bpf/unwind.h"
#include "format/records.h"

#define UNWIND_BATCH 8					   /* frames per call of unwind_frames */
#define UNWIND_CALLS (WIRE_MAX_FRAMES / UNWIND_BATCH + 16) /* with a margin for a restart */
#define UNWIND_OUTERMOST (-1)
#define UNWIND_AGAIN (-2) /* restart, following rbx */
#define UNWIND_NOWHERE (1ULL << 63) /* window_at of an empty window */
#define UNWIND_MAX_FP_FRAME (1u << 20)
#define UNWIND_HASH_K 0x9e3779b97f4a7c15ULL

/* The first three bytes of a rule in nearly all frames, except for three bits: register rsp (or
 * rbp), rbp saved at CFA (or not), frame-pointer record (or not). */
#define UNWIND_USUAL (CFA_REG | UNWIND_FP << 8 | RULE_SAVED(SAVED_AT_CFA, SAVED_SAME) << 16)
#define UNWIND_USUAL_SP ((UNWIND_SP ^ UNWIND_FP) << 8)
_Static_assert((UNWIND_SP & UNWIND_FP) == UNWIND_FP, "sp is fp and more");
#define UNWIND_USUAL_BY_FP (CFA_REG ^ CFA_FP)
#define UNWIND_USUAL_MASK                                                                          \
	(0xffffffu & ~(UNWIND_USUAL_SP | UNWIND_USUAL_FP_SAVED | UNWIND_USUAL_BY_FP))
#define UNWIND_USUAL_FP_SAVED ((__u32)RULE_SAVED(0, SAVED_AT_CFA) << 16)

UW_FUNC int unwind_seek(__u32 slot);
UW_FUNC int unwind_fill(__u32 slot, __u64 at);
UW_FUNC int unwind_find(__u32 slot);
UW_FUNC int unwind_leave_uprobe(__u32 slot);
UW_FUNC int unwind_odd(__u32 slot);
UW_FUNC int unwind_frames(__u32 slot);

#define UNWIND_PC_MASK 0xffffffffffffULL

static __always_inline __u32 unwind_cache_hash(__u64 pc)
{
	return (__u32)((pc * UNWIND_HASH_K) >> (64 - UNWIND_CACHE_INDEX_BITS));
}

/* Whether the lookup is for an interrupted instruction, not for a return address. */
static __always_inline int unwind_exact(const struct unwind_walk *w)
{
	return w->regs_from != UNWIND_REGS_NONE;
}

static __always_inline int unwind_is_cached(const struct unwind_walk *w,
					    const struct unwind_cached *e)
{
	return (e->pc_next & UNWIND_PC_MASK) == w->pc && e->generation == w->proc.generation;
}

/* Sets the entry of this frame to number `at`, and stores it as the successor in the previous
 * frame's entry. */
static __always_inline void unwind_follows(struct unwind_walk *w, struct unwind_cache *c, __u32 at)
{
	struct unwind_cached *before = &c->entry[w->entry & (UNWIND_CACHE_CNT - 1)];

	if (w->entry < UNWIND_CACHE_CNT)
		before->pc_next = (before->pc_next & UNWIND_PC_MASK) | (__u64)at << 48;
	w->next = at;
}

/* Allocates a cache entry for w->pc, which is not cached. */
static __always_inline struct unwind_cached *unwind_cache_take(struct unwind_walk *w,
							       struct unwind_cache *c)
{
	__u32 hash = unwind_cache_hash(w->pc), at = hash & (UNWIND_CACHE_EXACT - 1);

	if (!unwind_exact(w)) {
		at = w->turn;
		if (at < UNWIND_CACHE_EXACT || at >= UNWIND_CACHE_CNT)
			at = UNWIND_CACHE_EXACT;
		w->turn = at + 1;
		c->index[hash] = at;
	}
	unwind_follows(w, c, at);
	return &c->entry[at & (UNWIND_CACHE_CNT - 1)];
}

static __always_inline __u64 unwind_hash(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * UNWIND_HASH_K;
	return hash ^ hash >> 32;
}

/* Corrects a wrong prediction: sets w->next to the number of w->pc's entry. Nonzero: not cached. */
UW_FUNC int unwind_seek(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);
	struct unwind_cache *c = uw_cache(slot);
	__u32 hash, at;

	if (!w || !c)
		return -1;
	hash = unwind_cache_hash(w->pc);
	at = unwind_exact(w) ? hash & (UNWIND_CACHE_EXACT - 1) : c->index[hash];
	if (!unwind_is_cached(w, &c->entry[at & (UNWIND_CACHE_CNT - 1)]))
		return -1;
	unwind_follows(w, c, at);
	return 0;
}

/* Reads UNWIND_WINDOW bytes of stack starting at `at`, or the last ones of its page when the next
 * page cannot be read. */
UW_FUNC int unwind_fill(__u32 slot, __u64 at)
{
	struct unwind_walk *w = uw_walk(slot);

	if (!w)
		return -1;
	at &= ~63ULL;
	w->window_at = at;
	if (!uw_read(w->window, UNWIND_WINDOW, at))
		return 0;
	at = (at | 4095) + 1 - UNWIND_WINDOW;
	w->window_at = at;
	if (!uw_read(w->window, UNWIND_WINDOW, at))
		return 0;
	w->window_at = UNWIND_NOWHERE;
	return -1;
}

/*
 * A step of a binary search: continues with [mid + 1, hi) when `upper` is all ones, [lo, mid) when
 * it is 0. Branch-free: the verifier would follow both branches of each step; on 7.2 for 70,000
 * instructions.
 */
static __always_inline void unwind_halve(__u32 *lo, __u32 *hi, __u32 mid, __u32 upper)
{
	asm volatile("" : "+r"(upper)); /* prevents the compiler from creating a branch */
	*lo += (mid + 1 - *lo) & upper;
	*hi -= (*hi - mid) & ~upper;
}

static __always_inline const struct range *
unwind_find_range(struct unwind_walk *w, const struct range_seg *seg, __u32 head)
{
	const __u32 mask = RANGE_SEG_CNT - 1;
	__u32 lo = w->range_hint, hi = w->proc.range_cnt, mid;
	const struct range *r = &seg->ranges[(head + lo) & mask];

	if (lo && lo <= hi && w->pc >= r->start && w->pc < r->end)
		return r;
	lo = 0;
	for (int i = 0; i < RANGE_SEG_SHIFT + 1; i++) {
		if (lo >= hi)
			break;
		mid = (lo + hi) >> 1;
		r = &seg->ranges[(head + 1 + mid) & mask];
		unwind_halve(&lo, &hi, mid, (__s64)(r->start - w->pc - 1) >> 63);
	}
	/*
	 * lo ranges start at or below pc; the head comes before them, so the last one is entry lo
	 */
	r = &seg->ranges[(head + lo) & mask];
	if (!lo || w->pc >= r->end)
		return 0;
	w->range_hint = lo;
	return r;
}

/* The rule of an ELF address; NULL when the tables cannot be read (not in a consistent state). */
static __always_inline const struct rule *unwind_find_rule(__u64 elf, __u32 page0)
{
	__u32 low = (__u32)elf & 0xffff, lo = 0, hi, first, mid, id, row;
	const struct page *p = uw_page((__u32)(elf >> PAGE_SHIFT_ELF) + page0);
	const struct row_seg *seg;

	if (!p)
		return 0;
	hi = p->row_cnt;
	first = p->first;
	if (!hi)
		return uw_rule(0);
	seg = uw_rows(p->seg);
	if (!seg)
		return 0;
	for (int i = 0; i < ROW_SEG_SHIFT + 1; i++) {
		if (lo >= hi)
			break;
		mid = (lo + hi) >> 1;
		row = seg->rows[(first + mid) & (ROW_SEG_CNT - 1)] >> 16;
		unwind_halve(&lo, &hi, mid, (__s32)(row - low - 1) >> 31);
	}
	id = seg->rows[(first + lo - 1) & (ROW_SEG_CNT - 1)] & 0xffff;
	return uw_rule(id);
}

/* Looks up w->pc and caches the result. Returns 0 or enum stack_error. */
UW_FUNC int unwind_find(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);
	struct unwind_cache *c = uw_cache(slot);
	const struct rule by_fp = RULE_FP(0), guess = RULE_FP(STACK_NO_ROW);
	const struct range *r = 0;
	const struct rule *rule;
	const struct range_seg *seg;
	struct unwind_cached *e;
	__u64 elf, frame;
	__u32 head;

	if (!w || !c)
		return STACK_NO_PROCESS;
	e = unwind_cache_take(w, c);
	e->generation = 0;
	if (w->proc.range_cnt) {
		head = w->proc.ranges & (RANGE_SEG_CNT - 1);
		seg = uw_ranges(w->proc.ranges >> RANGE_SEG_SHIFT);
		if (!seg || seg->ranges[head].bias != w->proc.generation)
			return STACK_NO_PROCESS;
		r = unwind_find_range(w, seg, head);
	} else if (!w->proc.jit_binary) {
		return STACK_NO_PROCESS;
	}
	if (!r && !w->proc.jit_binary)
		return STACK_NO_MAPPING;
	elf = r ? w->pc - r->bias : w->pc;
	frame = frame_pack(r ? r->binary : w->proc.jit_binary, elf);
	if (r && r->flags & RANGE_TABLE) {
		rule = unwind_find_rule(elf, r->page0);
		if (!rule)
			return STACK_NO_TABLE;
		e->rule = *rule;
		if (e->rule.cfa == CFA_NONE)
			e->rule = guess;
		/* the trampoline was not called: its address is exact, but looked up minus 1, as
		 * libgcc does */
		if (e->rule.cfa & CFA_SIGNAL)
			frame++;
	} else {
		e->rule = by_fp;
		e->rule.add = r && !(r->flags & RANGE_JIT) ? STACK_NO_TABLE : 0;
	}
	e->pc_next = w->pc | (__u64)(w->next + 1) << 48;
	e->frame = frame;
	e->generation = w->proc.generation;
	return 0;
}

static __always_inline int unwind_record(struct unwind_walk *w, __u64 frame)
{
	__u32 cnt = w->stack.frame_cnt;

	if (cnt >= WIRE_MAX_FRAMES)
		return -1;
	w->frames[cnt] = frame;
	w->stack.frame_cnt = cnt + 1;
	w->stack.hash = unwind_hash(w->stack.hash, frame);
	return 0;
}

/* Value of a register in the current frame. Returns 0 when it is known. */
static __always_inline int unwind_reg(struct unwind_walk *w, __u32 reg, __u64 *v)
{
	if (reg == UNWIND_SP) {
		*v = w->sp;
		return 0;
	}
	if (reg == UNWIND_FP) {
		*v = w->fp;
		return 0;
	}
	if (reg >= UNWIND_REG_CNT)
		return -1;
	/* makes the compiler keep the index mask, which the verifier needs */
	__asm__ volatile("" : "+r"(reg));
	if (reg == UNWIND_RBX && w->careful == UNWIND_RBX_KNOWN) {
		*v = w->rbx;
		return 0;
	}
	if (w->regs_from == UNWIND_REGS_KERNEL) {
		*v = w->regs[UNWIND_PT_OF(reg)];
		return 0;
	}
	if (w->regs_from == UNWIND_REGS_SIGNAL)
		return uw_read(v, 8, w->regs_at + UNWIND_SIGCTX_OF(reg) * 8) ? -1 : 0;
	return -1;
}

/* Whether rbp is plausible: at or above the stack pointer, aligned, and the frame is not huge. */
static __always_inline int unwind_fp_sound(const struct unwind_walk *w)
{
	return w->fp >= w->sp && w->fp - w->sp <= UNWIND_MAX_FP_FRAME && !(w->fp & 7);
}

/* Unwinds by frame pointer. `guess`: the error on failure when frame pointers are only tried
 * because there is no row or table. */
static __always_inline int unwind_by_fp(struct unwind_walk *w, __u32 guess, __u64 *ra)
{
	__u64 fp = w->fp, pair[2];

	if (!fp && w->fp_chain) /* the ABI's marker of the outermost frame */
		return UNWIND_OUTERMOST;
	if (!unwind_fp_sound(w))
		return guess ? guess : STACK_BAD_FP;
	if (uw_read(pair, sizeof(pair), fp))
		return guess ? guess : STACK_READ_FAULT;
	if (w->careful)
		w->careful = UNWIND_RBX_LOST;
	w->fp_chain = 1;
	w->regs_from = UNWIND_REGS_NONE;
	w->fp = pair[0];
	w->sp = fp + 16;
	*ra = pair[1];
	return 0;
}

/* Computes *cfa by any rule. Returns 0, UNWIND_AGAIN or enum stack_error. */
static __always_inline int unwind_cfa(struct unwind_walk *w, const struct rule *rule, __u64 *cfa)
{
	__u32 kind = rule->cfa & CFA_KIND_MASK;
	__u64 base;

	if (kind != CFA_REG && kind != CFA_DEREF && kind != CFA_PLT)
		return STACK_BAD_RULE;
	if (unwind_reg(w, rule->reg, &base))
		return rule->reg == UNWIND_RBX && !w->careful ? UNWIND_AGAIN : STACK_BAD_RULE;
	base += (__s64)rule->off;
	if (kind == CFA_DEREF) {
		if (uw_read(&base, 8, base))
			return STACK_READ_FAULT;
		base += (__s64)rule->add;
	} else if (kind == CFA_PLT && (__s64)(w->pc & 15) >= rule->add) {
		base += 8;
	}
	*cfa = base;
	return 0;
}

/*
 * Locates a saved register. Returns 0: its address is in *at; 1: its value is in *at; -1: unknown.
 */
static __always_inline int unwind_place(struct unwind_walk *w, __u32 how, __s64 off, __u64 cfa,
					__u64 *at)
{
	switch (how) {
	case SAVED_AT_CFA:
		*at = cfa + off;
		return 0;
	case SAVED_AT_SP:
		*at = w->sp + off;
		return 0;
	case SAVED_AT_FP:
		*at = w->fp + off;
		return 0;
	case SAVED_IS_CFA:
		*at = cfa + off;
		return 1;
	case SAVED_REG:
		return unwind_reg(w, (__u32)off, at) ? -1 : 1;
	}
	return -1;
}

/* Updates rbx after leaving a frame; only a few tables describe it. */
static __always_inline void unwind_follow_rbx(struct unwind_walk *w, const struct rule *rule,
					      __u64 cfa)
{
	__u64 at = cfa - (__s64)rule->add * 8;

	if (rule->cfa == CFA_PLT || (rule->cfa == CFA_REG && rule->add == RBX_SAME))
		return;
	if (rule->cfa & CFA_SIGNAL)
		at = w->regs_at + UNWIND_SIGCTX_OF(UNWIND_RBX) * 8;
	else if (rule->cfa != CFA_REG || rule->add == RBX_UNKNOWN)
		at = 0;
	w->careful = !at || uw_read(&w->rbx, 8, at) ? UNWIND_RBX_LOST : UNWIND_RBX_KNOWN;
}

/* Applies any rule. Returns 0 and sets *ra; UNWIND_OUTERMOST, UNWIND_AGAIN; or enum stack_error. */
static __always_inline int unwind_apply(struct unwind_walk *w, const struct rule *rule, __u64 *ra)
{
	__u32 kind = rule->cfa & CFA_KIND_MASK, how_fp = rule->saved >> 4,
	      how_ra = rule->saved & 15;
	__u64 cfa, at = 0, fp = 0;
	int err;

	if (kind == CFA_END)
		return UNWIND_OUTERMOST;
	if (kind == CFA_FP)
		return unwind_by_fp(w, rule->add, ra);
	if (how_ra == SAVED_UNDEF)
		return UNWIND_OUTERMOST;
	err = unwind_cfa(w, rule, &cfa);
	if (err)
		return err;
	err = unwind_place(w, how_ra, rule->ra_off, cfa, &at);
	if (err < 0)
		return STACK_BAD_RULE;
	*ra = at;
	if (!err && uw_read(ra, 8, at))
		return STACK_READ_FAULT;
	if (how_fp == SAVED_SAME) {
		fp = w->fp;
	} else {
		err = unwind_place(w, how_fp, rule->fp_off, cfa, &at);
		fp = err == 1 ? at : 0;
		if (!err && uw_read(&fp, 8, at))
			return STACK_READ_FAULT;
	}
	if (rule->cfa & CFA_SIGNAL) {
		w->regs_from = UNWIND_REGS_SIGNAL;
		w->regs_at = w->sp + UNWIND_SIGCTX_OFF;
	} else {
		/* the stack pointer may stay the same only for an interrupted frame, whose return
		 * address can be in a register */
		if (cfa < w->sp || (cfa == w->sp && w->regs_from == UNWIND_REGS_NONE))
			return STACK_NO_PROGRESS;
		w->regs_from = UNWIND_REGS_NONE;
	}
	if (w->careful)
		unwind_follow_rbx(w, rule, cfa);
	w->fp_chain = how_fp == SAVED_AT_CFA;
	w->fp = fp;
	w->sp = cfa;
	return 0;
}

static __always_inline void unwind_restart(struct unwind_walk *w, __u32 careful)
{
	w->stack.frame_cnt = 0;
	w->stack.hash = 0;
	w->range_hint = 0;
	w->fp_chain = 0;
	w->window_at = UNWIND_NOWHERE;
	w->regs_from = UNWIND_REGS_KERNEL;
	w->careful = careful;
	w->entry = UNWIND_NO_ENTRY;
	w->rbx = w->regs[UNWIND_PT_BX];
	w->pc = w->regs[UNWIND_PT_IP];
	w->next = unwind_cache_hash(w->pc) & (UNWIND_CACHE_EXACT - 1);
	w->sp = w->regs[UNWIND_PT_SP];
	w->fp = w->regs[UNWIND_PT_BP];
}

UW_FUNC int unwind_leave_uprobe(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);

	return w ? uw_leave_uprobe(w) : 0;
}

/* Unwinds one frame of any kind. Nonzero: the walk is over. */
UW_FUNC int unwind_odd(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);
	struct unwind_cache *c = uw_cache(slot);
	struct unwind_cached *e;
	struct rule rule;
	__u64 ra = 0, frame;
	int err;

	if (!w || !c)
		return 1;
	e = &c->entry[w->next & (UNWIND_CACHE_CNT - 1)];
	if (!unwind_is_cached(w, e)) {
		err = unwind_seek(slot);
		if (err && unwind_leave_uprobe(slot))
			err = unwind_seek(slot);
		if (err)
			err = unwind_find(slot);
		if (err) {
			unwind_record(w, frame_pack(FRAME_BINARY_UNKNOWN, w->pc));
			w->stack.error = err;
			return 1;
		}
		e = &c->entry[w->next & (UNWIND_CACHE_CNT - 1)];
	}
	rule = e->rule;
	frame = e->frame;
	w->entry = w->next;
	w->next = e->pc_next >> 48;
	if (unwind_record(w, frame)) {
		w->stack.error = STACK_TOO_DEEP;
		return 1;
	}
	err = unwind_apply(w, &rule, &ra);
	if (err == UNWIND_AGAIN) {
		unwind_restart(w, UNWIND_RBX_KNOWN);
		return 0;
	}
	if (err) {
		w->stack.error = err < 0 ? STACK_NONE : err;
		return 1;
	}
	ra = UNWIND_CODE(ra);
	if (!ra) /* the ABI's other marker of the outermost frame: no return address */
		return 1;
	if (ra >= UNWIND_USER_END) {
		w->stack.error = STACK_NO_MAPPING;
		return 1;
	}
	w->pc = rule.cfa & CFA_SIGNAL ? ra : ra - 1;
	return 0;
}

/* Unwinds up to UNWIND_BATCH frames. Nonzero: the walk is over. */
UW_FUNC int unwind_frames(__u32 slot)
{
	struct unwind_walk *w = uw_walk(slot);
	struct unwind_cache *c = uw_cache(slot);
	struct unwind_cached *e;
	__u64 cfa, fp, ra, off;
	__u32 head;

	if (!w || !c)
		return 1;
	for (int i = 0; i < UNWIND_BATCH; i++) {
		e = &c->entry[w->next & (UNWIND_CACHE_CNT - 1)];
		if (!unwind_is_cached(w, e)) {
			if (unwind_seek(slot))
				goto odd;
			e = &c->entry[w->next & (UNWIND_CACHE_CNT - 1)];
		}
		head = uw_load32(&e->rule);
		if ((head & CFA_KIND_MASK) == CFA_END && !unwind_record(w, e->frame))
			return 1;
		if (w->careful || (head & UNWIND_USUAL_MASK) != UNWIND_USUAL)
			goto odd;
		if (head & UNWIND_USUAL_BY_FP && !unwind_fp_sound(w))
			goto odd;
		cfa = (head & UNWIND_USUAL_SP ? w->sp : w->fp) + (__s64)e->rule.off;
		if (cfa <= w->sp)
			goto odd;
		fp = w->fp;
		if (head & UNWIND_USUAL_FP_SAVED) {
			off = cfa + (__s64)e->rule.fp_off - w->window_at;
			if (off > UNWIND_WINDOW - 8) {
				if (unwind_fill(slot, off + w->window_at))
					goto odd;
				off = cfa + (__s64)e->rule.fp_off - w->window_at;
				if (off > UNWIND_WINDOW - 8)
					goto odd;
			}
			fp = uw_load64((char *)w->window + off);
		}
		off = cfa + (__s64)e->rule.ra_off - w->window_at;
		if (off > UNWIND_WINDOW - 8) {
			if (unwind_fill(slot, off + w->window_at))
				goto odd;
			off = cfa + (__s64)e->rule.ra_off - w->window_at;
			if (off > UNWIND_WINDOW - 8)
				goto odd;
		}
		ra = UNWIND_CODE(uw_load64((char *)w->window + off));
		if (ra - 1 >= UNWIND_USER_END - 1 || unwind_record(w, e->frame))
			goto odd;
		w->entry = w->next;
		w->next = e->pc_next >> 48;
		w->fp_chain = !!(head & UNWIND_USUAL_FP_SAVED);
		w->regs_from = UNWIND_REGS_NONE;
		w->fp = fp;
		w->sp = cfa;
		w->pc = ra - 1;
		continue;
	odd:
		if (unwind_odd(slot))
			return 1;
	}
	return 0;
}

/* Prepares the first step. Nonzero: there is nothing to walk. */
static __always_inline int unwind_begin(struct unwind_walk *w)
{
	w->stack.error = STACK_NONE;
	unwind_restart(w, UNWIND_RBX_OFF);
	if (!UNWIND_IS_USER(w->regs[UNWIND_PT_MODE])) {
		w->stack.error = STACK_NO_REGS;
	} else if (!w->proc.generation) {
		w->stack.error = STACK_NO_PROCESS;
		unwind_record(w, frame_pack(FRAME_BINARY_UNKNOWN, w->pc));
	}
	return w->stack.error;
}

/* Finishes a walk. The hash covers the error and is never 0. */
static __always_inline void unwind_end(struct unwind_walk *w)
{
	__u64 hash = unwind_hash(w->stack.hash, w->stack.error + 1);

	w->stack.hash = hash ? hash : 1;
}

#endif
