/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs the code of the BPF unwinder in user space with the same tables: for threads that stay
 * blocked so that no probe sees them, and for tests. Borrows the store. Keeps segments mapped until
 * __free, so do not keep it long.
 */
#ifndef RECORD_UNWIND_USER_H
#define RECORD_UNWIND_USER_H

#include "record/unwind/unwind_store.h"

struct unwind_user;

/* Reads memory of another process. Returns 0 if all of it was read. */
typedef int (*unwind_read_fn)(void *ctx, void *to, size_t size, uint64_t at);

int unwind_user__new(struct unwind_user **u, const struct unwind_store *store);
void unwind_user__free(struct unwind_user *u);

/*
 * Unwinds a stopped thread of process `tgid` from its user registers in the order of struct pt_regs
 * (cs with the ring; only rip, rsp, rbp and cs are needed unless it was interrupted in a prologue).
 * Memory is read by `read`. The result (stack: hash, error, frame_cnt; frames) equals
 * that of the BPF unwinder and is valid until the next call. NULL: the process was never published.
 */
const struct unwind_walk *unwind_user__thread(struct unwind_user *u, uint32_t tgid,
					      const uint64_t regs[UNWIND_PT_CNT],
					      unwind_read_fn read, void *ctx);

/* The same, of a process as published. */
const struct unwind_walk *unwind_user__walk(struct unwind_user *u, const struct proc *proc,
					    const uint64_t regs[UNWIND_PT_CNT], unwind_read_fn read,
					    void *ctx);

#endif
