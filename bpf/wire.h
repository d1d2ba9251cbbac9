/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What the BPF programs and obrec share: ring-buffer records, map values, their limits.
 * Private between the two halves of one build; the archive has its own format.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#include <linux/types.h>
#include "bpf/arch.h"

#define WIRE_MAX_CPUS 512
#define WIRE_MAX_FRAMES 768	    /* user frames a walk may record; 127 kernel frames besides */
#define WIRE_MAX_KERNEL_FRAMES 127
#define WIRE_COMM_LEN 16

/* Probes by name, as bits of 64. */
enum probe_number {
#define PROBE(name, number, ...) PROBE_##name = number,
#include "format/probes.def"
};

/* ---- ring-buffer records: each begins with struct wire_hdr, sizes are multiples of 8 ---- */

enum wire_kind {
	WIRE_STACK = 1,
	WIRE_SAMPLE = 2,
	WIRE_SOCK = 3,	  /* net.h */
	WIRE_PAYLOAD = 4, /* net.h */
	WIRE_EVENT = 5,	  /* event.h */
	WIRE_KIND_CNT
};

struct wire_hdr {
	__u16 kind; /* enum wire_kind */
	__u16 probe; /* enum sample_kind of format/records.h; of an event, its record's number */
	__u32 size; /* whole record */
};

/* A stack seen for the first time in this epoch. Frames leaf first, packed as format/records.h says. */
struct wire_stack {
	struct wire_hdr hdr;
	__u64 hash;  /* of the frames and the error, never 0 */
	__u32 tgid;  /* one process that has it: what resolves frames of binary 0 */
	__u16 frame_cnt;
	__u16 error; /* enum stack_error */
	__u64 frames[0]; /* frame_cnt of them (zero-length, so that a record buffer can begin with this) */
};

struct wire_sample {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 tgid, tid;
	__u64 user_stack;   /* wire_stack.hash, 0 for none */
	__u64 kernel_stack; /* wire_stack.hash, 0 for none */
	__u64 value;	    /* ns of cpu or blocked time it stands for */
	char comm[WIRE_COMM_LEN];
};

/* The hash of the user stack that exists and was not taken: no frames, STACK_NOT_TAKEN. */
#define WIRE_NOT_TAKEN 0x6e6f742074616b65ULL

/* ---- off-CPU: map `offcpu_threads`, key tid ---- */

struct offcpu_thread {
	__u64 since_ns;	    /* blocked since; 0: not blocked */
	__u64 carry_ns;	    /* waits shorter than the period, added up; below it */
	__u64 due_ns;	    /* weight of a sample whose user stack is still to be walked; 0: none */
	__u64 ended_ns;	    /* of the wait that is due */
	__u64 kernel_stack; /* of the wait that is due (classic form: that is going on) */
	__u64 user_stack;   /* OFFCPU_WALKED: taken when it went to sleep */
	__u64 ip, sp;	    /* user registers of the wait that is due: the walk must find the same */
	__u32 tgid;
	__u32 flags;
};
#define OFFCPU_WALKED 1
#define OFFCPU_THIN_SHIFT 8 /* log2 of how many waits this one stands for */
#define OFFCPU_THIN(flags) ((flags) >> OFFCPU_THIN_SHIFT & 15)
/* The period grows with it, not so far that a thread has no sample any more. */
#define OFFCPU_PERIOD_SHIFT(thin) ((thin) < 4 ? (thin) : 4)

/* One for each thread that is blocked, as the iterator `offcpu_open` writes them. */
struct offcpu_open {
	__u32 tgid, tid;
	__u64 kernel_stack;
	__u64 switches; /* how often it left a CPU: tells whether it has moved since */
	__u64 regs[UNWIND_PT_CNT]; /* struct pt_regs; all 0 for a kernel thread */
	char comm[WIRE_COMM_LEN];
};

/* ---- who is recorded: map `procs`, key tgid ---- */

enum proc_flags {
	PROC_TARGET = 1,   /* recorded; without it the entry only lends its mappings */
	PROC_INHERIT = 2,  /* children become targets at fork, in the kernel */
	PROC_IGNORE = 4,   /* never recorded: obrec itself */
};

/*
 * The process's executable ranges lie at `ranges` in the range arena (see below): first one that holds no
 * addresses but the generation as its bias, then range_cnt ranges sorted by start. obrec replaces the whole value after writing a new
 * copy elsewhere, and reuses the old place only after a second. A forked child gets a copy of the
 * value in the kernel.
 */
struct proc {
	__u32 flags;
	__u32 ranges;	  /* arena position of the head: segment << RANGE_SEG_SHIFT | index */
	__u32 range_cnt;  /* without the head */
	__u32 generation; /* another number for every content, never 0: key of the unwinder's frame cache */
	__u32 jit_binary; /* binary id for executable memory outside all ranges; 0: unknown mapping */
	__u32 pad;
};

/* ---- unwind data: three kinds of memory, filled by record/unwind/unwind_store.c, read by unwind_walk.h ----
 *
 *   range  (of a process)   address -> binary, bias, its first page
 *   page   (of a binary)    64 KiB of ELF address space -> its rows
 *   row                     upper 16 bits: low PC in the page, lower 16: rule; sorted; covers until the next;
 *                           a page's first row begins at 0
 *   rule                    how to get CFA, return address and frame pointer; deduplicated over everything
 *
 * Ranges and rows lie in segments: inner arrays of one element (so that an index is an addition, not a look-up),
 * made when needed.
 */

#define RANGE_SEG_SHIFT 12 /* 4096 ranges = 128 KiB a segment */
#define RANGE_SEG_CNT (1u << RANGE_SEG_SHIFT)
#define RANGE_SEGS 256
#define ROW_SEG_SHIFT 16 /* 65536 rows = 256 KiB a segment */
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

/* The rows of one 64 KiB page, all in one segment. row_cnt 0: nothing known there. */
struct page {
	__u16 seg;
	__u16 first;
	__u32 row_cnt;
};

/*
 * The values of map `procs` once more, by tgid, folded: half a cache line where a look-up in the
 * map is many lines and pages. 0 as generation: nothing here, the map tells; so it is while obrec
 * writes. No generation comes twice, so what was read between two reads of the same one is whole.
 */
#define TARGET_PROCS 1024 /* a power of two */
struct target_proc {
	__u32 tgid;
	__u32 pad;
	struct proc proc;
};

#define TARGET_SLOTS 4096 /* a power of two */
#define TARGET_SLOT_ASK ~0u /* more than one process, or no simple one: map `procs` tells */

/* The helper that does not exist: a call of bpf_rdonly_cast() (kernel.bpf.h). */
#define WIRE_RDONLY_CAST 0x0bca57

/* ---- loss counters: per-CPU array `losses`, index ---- */
#define WIRE_LOSSES(X)                                                                             \
	X(RING_SAMPLE, "ring", "sample: ring buffer full")                                         \
	X(RING_STACK, "ring", "stack definition: ring buffer full")                                \
	X(SCRATCH, "probe", "nested too deeply for scratch memory")                                  \
	X(OFFCPU_STATE, "offcpu", "thread table full")                                             \
	X(PROCS_FULL, "target", "process table full")                                              \
	X(RING_NET, "ring", "socket: ring buffer full")                                            \
	X(RING_PAYLOAD, "ring", "payload: ring buffer full")                                       \
	X(NET_SOCKS, "l4", "socket table full")                                                    \
	X(NET_SENDER, "l7", "datagram: sender, before its calls were traced")           \
	X(NET_UNSEEN, "l4", "received bytes: spliced before splice() was traced")                  \
	X(NET_MESSAGES, "l7", "sendmmsg or recvmmsg of more than 64 messages")                    \
	X(TLS_SOCK, "tls", "TLS plaintext of an unknown connection")                         \
	X(NET_MEMORY, "l7", "payload: memory of the call not readable")                    \
	X(NET_VECTOR, "l7", "payload: beyond 256 buffers of a call")                 \
	X(NET_FRAMES, "l7", "HTTP/2: too many frames in a call, the last not parsed")     \
	X(NET_OTHERS, "l4", "call counted twice: too many sockets shared by processes")           \
	X(RING_EVENT, "ring", "event: ring buffer full")                                           \
	X(PENDING, "probe", "operation not followed to its end: table full")
enum wire_loss {
#define X(name, source, cause) LOSS_##name,
	WIRE_LOSSES(X)
#undef X
	LOSS_CNT
};

#endif
