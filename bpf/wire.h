/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Interface between the BPF programs and obrec: ring-buffer records, map values and their limits.
 * Private to one build; the archive has its own format.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#include <linux/types.h>
#include "bpf/arch.h"

#define WIRE_MAX_CPUS 512
#define WIRE_MAX_FRAMES 768 /* per stack, in addition to the kernel frames */
#define WIRE_MAX_KERNEL_FRAMES 127
#define WIRE_COMM_LEN 16

/* Probe numbers; each is a bit number in a 64-bit mask. */
enum probe_number {
#define PROBE(name, number, ...) PROBE_##name = number,
#include "format/probes.def"
};

/* ---- ring-buffer records: start with struct wire_hdr; sizes are multiples of 8 ---- */

enum wire_kind {
	WIRE_STACK = 1,
	WIRE_SAMPLE = 2,
	WIRE_SOCK = 3,	      /* net.h */
	WIRE_PAYLOAD = 4,     /* net.h */
	WIRE_EVENT = 5,	      /* event.h */
	WIRE_ALLOC = 6,	      /* struct wire_sample, weighted by obrec: probe/alloc.h */
	WIRE_ALLOC_FREED = 7, /* probe/alloc.h */
	WIRE_KLOCK = 8,	      /* struct event_klock, texts by obrec: probe/lock_contention.bpf.c */
	WIRE_KIND_CNT
};

struct wire_hdr {
	__u16 kind;  /* enum wire_kind */
	__u16 probe; /* enum sample_kind of format/records.h, or record number */
	__u32 size;  /* size of the whole record */
};

/* A stack, sent once per epoch. Frames are leaf first, packed as described in format/records.h. */
struct wire_stack {
	struct wire_hdr hdr;
	__u64 hash; /* covers the frames and the error; never 0 */
	__u32 tgid; /* a process with this stack; used to resolve frames of binary 0 */
	__u16 frame_cnt;
	__u16 error;	 /* enum stack_error */
	__u64 frames[0]; /* frame_cnt entries; [0] so that buffers can embed it */
};

struct wire_sample {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 tgid, tid;
	__u64 user_stack;   /* wire_stack.hash, 0 for none */
	__u64 kernel_stack; /* wire_stack.hash, 0 for none */
	__u64 value;	    /* weight: CPU or blocked time in ns */
	char comm[WIRE_COMM_LEN];
};

/* Hash of the placeholder for a user stack that could not be read: no frames, STACK_NOT_TAKEN. */
#define WIRE_NOT_TAKEN 0x6e6f742074616b65ULL

/* ---- off-CPU: map `offcpu_threads`, key tid ---- */

struct offcpu_thread {
	__u64 since_ns;	    /* blocked since; 0: not blocked */
	__u64 carry_ns;	    /* sum of waits not yet sampled; less than the period */
	__u64 due_ns;	    /* weight of the sample pending its user stack; 0: none */
	__u64 ended_ns;	    /* end of the pending sample's wait */
	__u64 kernel_stack; /* of the pending wait (classic variant: current wait) */
	__u64 user_stack;   /* with OFFCPU_WALKED: stack taken when the thread went to sleep */
	__u64 ip, sp;	    /* user registers of that wait; the walk compares them */
	__u32 tgid;
	__u32 flags;
};
#define OFFCPU_WALKED 1
#define OFFCPU_THIN_SHIFT 8 /* log2 of the number of waits this sample represents */
#define OFFCPU_THIN(flags) ((flags) >> OFFCPU_THIN_SHIFT & 15)
/* The period grows with the throttling level, but is bounded so that every thread still gets
 * samples. */
#define OFFCPU_PERIOD_SHIFT(thin) ((thin) < 4 ? (thin) : 4)

/* One record per blocked thread, written by the BPF iterator `offcpu_open`. */
struct offcpu_open {
	__u32 tgid, tid;
	__u64 kernel_stack;
	__u64 switches; /* context switches of the thread; a change means that it has run since */
	__u64 regs[UNWIND_PT_CNT]; /* struct pt_regs; all 0 for a kernel thread */
	char comm[WIRE_COMM_LEN];
};

/* ---- recorded processes: map `procs`, key tgid ---- */

enum proc_flags {
	PROC_TARGET = 1,  /* recorded; without this flag the entry only provides mappings */
	PROC_INHERIT = 2, /* children become targets at fork, in the kernel */
	PROC_IGNORE = 4,  /* never recorded: obrec itself */
	PROC_ENDED = 8,	  /* was a target until a moment ago */
};

/*
 * Process entry. The process's executable ranges start at `ranges` in the range arena (see below):
 * first a head entry without addresses, whose bias is the generation; then range_cnt ranges sorted
 * by start. obrec writes a new copy of the ranges elsewhere, then replaces the whole value, and
 * reuses the old place after a second at the earliest. On fork the kernel side copies the value for
 * the child.
 */
struct proc {
	__u32 flags;
	__u32 ranges;	  /* arena position of the head entry: segment << RANGE_SEG_SHIFT | index */
	__u32 range_cnt;  /* head entry not included */
	__u32 generation; /* unique per content, never 0; key of the frame cache */
	__u32 jit_binary; /* binary id outside all ranges; 0: unknown mapping */
	__u32 pad;
};

/*
 * ---- unwind data, written by record/unwind/unwind_store.c, read by unwind_walk.h ----
 *
 *   range  (of a process)   address -> binary, bias, first page of the binary
 *   page   (of a binary)    64 KiB of ELF address space -> its rows
 *   row                     upper 16 bits: start PC in the page; lower 16 bits: rule. Sorted.
 *                           A row is valid until the next one; the first of a page starts at 0
 *   rule                    how to find CFA, return address and frame pointer; deduplicated
 *                           over all binaries
 *
 * Ranges and rows are stored in segments: inner array maps with a single element, so that indexing
 * is an addition, not a lookup. Segments are created when needed.
 */

#define RANGE_SEG_SHIFT 12 /* 4096 ranges = 128 KiB per segment */
#define RANGE_SEG_CNT (1u << RANGE_SEG_SHIFT)
#define RANGE_SEGS 256
#define ROW_SEG_SHIFT 16 /* 65536 rows = 256 KiB per segment */
#define ROW_SEG_CNT (1u << ROW_SEG_SHIFT)
#define ROW_SEGS 2048
#define PAGE_SHIFT_ELF 16
#define PAGE_CNT (1u << 18)
#define RULE_CNT (1u << 16)

enum range_flags {
	RANGE_TABLE = 1, /* has unwind pages */
	RANGE_JIT = 2,	 /* generated code: frame pointers */
	RANGE_FP = 4,	 /* no table: try frame pointers */
};

struct range {
	__u64 start, end; /* addresses in the process */
	__u64 bias;	  /* address - ELF virtual address */
	__u32 page0;	  /* page index = (ELF address >> PAGE_SHIFT_ELF) + page0, modulo 2^32 */
	__u16 binary;
	__u16 flags;
};

struct range_seg {
	struct range ranges[RANGE_SEG_CNT];
};

struct row_seg {
	__u32 rows[ROW_SEG_CNT];
};

/* The rows of one 64 KiB page, all in one segment. row_cnt 0: no unwind information. */
struct page {
	__u16 seg;
	__u16 first;
	__u32 row_cnt;
};

/*
 * Copies of the values of map `procs`, indexed by the low bits of the tgid. Reading one touches
 * half a cache line; a lookup in the map touches many lines and pages. generation 0: no entry here,
 * or obrec is writing it; look in the map. Generations are never reused, so data read between two
 * reads of the same generation is consistent.
 */
#define TARGET_PROCS 1024 /* a power of two */
struct target_proc {
	__u32 tgid;
	__u32 pad;
	struct proc proc;
};

#define TARGET_SLOTS 4096   /* a power of two */
#define TARGET_SLOT_ASK ~0u /* several processes, or unknown: look in map `procs` */

/* Numbers of helpers that do not exist; they stand for functions of the kernel (kernel.bpf.h). */
enum wire_kfunc {
	WIRE_KFUNC_FIRST = 0x0bca57,
	WIRE_RDONLY_CAST = WIRE_KFUNC_FIRST,
	WIRE_PREEMPT_DISABLE,
	WIRE_PREEMPT_ENABLE,
	WIRE_KFUNC_END
};
#define WIRE_KFUNCS (WIRE_KFUNC_END - WIRE_KFUNC_FIRST)

/* ---- loss counters: index into the per-CPU array `losses` ---- */
#define WIRE_LOSSES(X)                                                                             \
	X(RING_SAMPLE, "ring", "sample: ring buffer full")                                         \
	X(RING_STACK, "ring", "stack definition: ring buffer full")                                \
	X(SCRATCH, "probe", "nested too deeply for scratch memory")                                \
	X(OFFCPU_STATE, "offcpu", "thread table full")                                             \
	X(PROCS_FULL, "target", "process table full")                                              \
	X(RING_NET, "ring", "socket: ring buffer full")                                            \
	X(RING_PAYLOAD, "ring", "payload: ring buffer full")                                       \
	X(NET_SOCKS, "l4", "socket table full")                                                    \
	X(NET_SENDER, "l7", "datagram: sender, before its calls were traced")                      \
	X(NET_UNSEEN, "l4", "received bytes: spliced before splice() was traced")                  \
	X(NET_MESSAGES, "l7", "sendmmsg or recvmmsg of more than 64 messages")                     \
	X(TLS_SOCK, "tls", "TLS plaintext of an unknown connection")                               \
	X(NET_MEMORY, "l7", "payload: memory of the call not readable")                            \
	X(NET_VECTOR, "l7", "payload: beyond 256 buffers of a call")                               \
	X(NET_FRAMES, "l7", "HTTP/2: too many frames in a call, the last not parsed")              \
	X(NET_OTHERS, "l4", "call counted twice: too many sockets shared by processes")            \
	X(RING_EVENT, "ring", "event: ring buffer full")                                           \
	X(PENDING, "probe", "operation not followed to its end: table full")                       \
	X(OFFCPU_UNSEEN, "offcpu", "wait whose end was not seen: no program ran at that switch")   \
	X(WAKER_UNSEEN, "wakers",                                                                  \
	  "waker of a wait not known: woken before it was long enough to count")                   \
	X(FILE_PATHS, "file", "call: path not stored, table of files full")                        \
	X(MEM_RESIDENT, "mem", "resident memory of a process: table full")                         \
	X(RUNQ_UNSEEN, "runq", "wait whose end was not seen: no program ran at that switch")       \
	X(PMU_TASK, "pmu", "a thread's run: table of threads full")                                \
	X(PMU_UNSEEN, "pmu", "a thread's run: no program ran at a context switch")                 \
	X(ALLOC_FULL, "alloc", "allocation in use not followed: table full")                       \
	X(ALLOC_UNSEEN, "alloc", "free not seen: the address was returned again")                  \
	X(ALLOC_RATE, "alloc", "allocation of Go: its sampling rate could not be read")            \
	X(ALLOC_NEW, "alloc",                                                                      \
	  "allocation in use not followed: operator new of the allocator, which may throw")        \
	X(ALLOC_CALL, "alloc", "call not followed to its end: another one of its thread began")
enum wire_loss {
#define X(name, source, cause) LOSS_##name,
	WIRE_LOSSES(X)
#undef X
		LOSS_CNT
};

#endif
