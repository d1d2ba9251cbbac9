/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF unwinder's own code run in user space, over the same tables: for threads that no probe
 * meets because they stay blocked, and for tests. Borrows the store; keeps what it has mapped of it
 * until __free, so do not keep it long.
 */
#ifndef RECORD_UNWIND_USER_H
#define RECORD_UNWIND_USER_H

#include "record/unwind/unwind_store.h"

struct unwind_user;

/* Reads another's memory: 0 when all of it was read. */
typedef int (*unwind_read_fn)(void *ctx, void *to, size_t size, uint64_t at);

int unwind_user__new(struct unwind_user **u, const struct unwind_store *store);
void unwind_user__free(struct unwind_user *u);

/*
 * The stack of a thread of process `tgid` that stands still, from its user registers in the order
 * of struct pt_regs (cs with the ring; only rip, rsp, rbp and cs must be right unless it was
 * interrupted in a prologue). Its memory is read by process_vm_readv. The result (stack: hash,
 * error, frame_cnt; frames) is that of the BPF walk and lasts until the next call. NULL: the
 * process was never published.
 */
const struct unwind_walk *unwind_user__thread(struct unwind_user *u, uint32_t tgid,
					      const uint64_t regs[UNWIND_PT_CNT]);

/* The same with memory from elsewhere. */
const struct unwind_walk *unwind_user__walk(struct unwind_user *u, const struct proc *proc,
					    const uint64_t regs[UNWIND_PT_CNT], unwind_read_fn read,
					    void *ctx);

#endif
