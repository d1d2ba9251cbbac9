/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_RUNQ_H
#define BPF_RUNQ_H

#include "bpf/metric.h"

enum {
	SERIES_runq_latency = SERIES_OWN,
	SERIES_runq_blame,	  /* name of the waiting thread; who it waited for */
	SERIES_runq_blame_cgroup, /* cgroup of the waiting thread; of whom it waited for */
	SERIES_runq_preemptions,  /* name; by whom */
	SERIES_runq_migrations,	  /* name; RUNQ_PART_WAITING */
};
/* key parts after the name */
enum { RUNQ_PART_CGROUP = 2, RUNQ_PART_WAITING = 2 };

#define RUNQ_SLOTS 32768 /* threads with a slot of their own; a power of two */
#define RUNQ_SLICES 64	 /* per CPU; a power of two */
#define RUNQ_STACKS 16	 /* user stacks taken after a long wait */

/* Who ran, in the last byte of a name and of a cgroup id. The kinds behind RUNQ_KERNEL have no
 * name. */
#define RUNQ_KIND_SHIFT 56
#define RUNQ_KIND(kind) ((__u64)(kind) << RUNQ_KIND_SHIFT)
enum {
	RUNQ_USER,
	RUNQ_KERNEL, /* a kernel thread, with a name */
	RUNQ_IDLE,   /* none, the CPU was idle */
	RUNQ_IRQ,
	RUNQ_STEAL,
	RUNQ_QUOTA,
	RUNQ_MOVED,   /* before the thread was migrated */
	RUNQ_OLDER,   /* before the slices kept */
	RUNQ_UNKNOWN, /* no program ran at a switch */
	RUNQ_KINDS
};

#endif
