/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the programs of the probe alloc and obrec. */
#ifndef BPF_ALLOC_H
#define BPF_ALLOC_H

#include "bpf/metric.h"
#include "bpf/wire.h"

enum { SERIES_alloc_calls = SERIES_OWN, SERIES_alloc_frees };

/* Functions of allocators, by the arguments that tell size and pointers. The name is also that of
 * the program for kernels without cookies, alloc_NAME. */
#define ALLOC_KINDS(X)                                                                             \
	X(malloc, "malloc(size)")                                                                  \
	X(new, "as malloc, but it may throw: its return is not probed")                            \
	X(memalign, "memalign(alignment, size)")                                                   \
	X(calloc, "calloc(count, size)")                                                           \
	X(realloc, "realloc(pointer, size)")                                                       \
	X(reallocarray, "reallocarray(pointer, count, size)")                                      \
	X(posix_memalign, "posix_memalign(&pointer, alignment, size)")                             \
	X(heap_calloc, "mi_heap_calloc(heap, count, size)")                                        \
	X(heap_realloc, "mi_heap_realloc(heap, pointer, size)")                                    \
	X(heap_reallocarray, "mi_heap_reallocn(heap, pointer, count, size)")                       \
	X(free, "free(pointer)")                                                                   \
	X(go_sample, "Go's profilealloc(m, pointer, size): of what its profiler samples")          \
	X(go_free, "Go's freeSpecial(special, pointer, size)")
enum alloc_kind {
#define X(name, doc) ALLOC_##name,
	ALLOC_KINDS(X)
#undef X
		ALLOC_KIND_CNT
};

/* How a function may end other than by returning: by a jump. */
enum alloc_tails {
	ALLOC_TAILS_OWN = 1,  /* to others of its file: map `alloc_jumps` */
	ALLOC_TAILS_AWAY = 2, /* by a pointer, or to another file */
	ALLOC_TAILS_ANY = 4,  /* not known: to any */
};

/*
 * Cookie of a place: the kind; enum alloc_tails; number of the file, index in map `alloc_files`;
 * the place's address in the file.
 */
#define ALLOC_COOKIE(kind, tails, file, address)                                                   \
	((kind) | (__u64)(tails) << 4 | (__u64)(file) << 7 | (__u64)(address) << 16)
#define ALLOC_COOKIE_KIND(cookie) ((__u32)(cookie)&15)
#define ALLOC_COOKIE_TAILS(cookie) ((__u32)((cookie) >> 4) & 7)
#define ALLOC_COOKIE_FILE(cookie) ((__u32)((cookie) >> 7) & (ALLOC_FILES - 1))
#define ALLOC_COOKIE_ADDRESS(cookie) ((cookie) >> 16)

#define ALLOC_FILES 256 /* a power of two; with an allocator, at a time */
#define ALLOC_FUNCS 128 /* a power of two; of a file */
struct alloc_file {
	__u64 cnt;
	struct alloc_go {
		__u64 rate_at;	  /* address in the file of runtime.MemProfileRate */
		__u32 special_at; /* where a special has its kind; 0: not known, frees are not seen
				   */
		__u32 special;	  /* the kind of those of sampled allocations */
	} go;
	struct {
		__u64 start, end; /* addresses in the file */
	} func[ALLOC_FUNCS];
};

/* A function that may end in another one, by their cookies: map `alloc_jumps`. */
#define ALLOC_JUMP_CNT 1024
struct alloc_jump {
	__u64 from, to;
};

/* Identifies a place where the kernel passes no cookie: as struct func_place. Map `alloc_places`.
 */
#define ALLOC_CODE_AT 4
struct alloc_place {
	__u64 code[2];
	__u64 position;
};

/*
 * Bytes until the next sample. Any of a CPU's slots will do: gaps are exponential, thus without
 * memory, and the bytes of all calls make up one Poisson process however they are distributed. A
 * program that is preempted holds its slot; the next one takes another.
 */
#define ALLOC_SLOTS 4
struct alloc_slot {
	__u64 busy;
	__s64 gap;
	__u64 calls, bytes;
};
struct alloc_cpu {
	struct alloc_slot slot[ALLOC_SLOTS];
	__u64 frees;
	__u64 near; /* alloc_live.near of the last sample */
	/* The last call of a function that may end in another one, unless it is known to have
	 * returned: of whom, its frame, where it returns to (0: its return is probed). */
	struct alloc_tail {
		__u64 id, sp, ip, caller, cookie;
		__u64 size;	/* ALLOC_RESIZES with it: realloc() of a block */
		__u64 switches; /* in map `alloc_tails`: of the thread until then */
	} tail;
};
#define ALLOC_RESIZES (1ULL << 63)

/* A sampled allocation in use: map `alloc_live`. */
#define ALLOC_NEAR 4
struct alloc_key {
	__u64 address;
	__u32 tgid, pad;
};
struct alloc_live {
	__u64 birth_ns;
	__u64 size;  /* as ALLOC_SIZE */
	__u64 stack; /* wire_stack.hash */
	__u32 rate;  /* 0: alloc_rate */
	__u32 near;  /* hash of the ALLOC_NEAR frames of the stack that are nearest to it */
	__u32 tid, pad;
	char comm[WIRE_COMM_LEN];
};

/* Size and --cpu-budget's level in one number: one call in 2^level was looked at. */
#define ALLOC_SIZE_BITS 56
#define ALLOC_SIZE(size, level) ((size) | (__u64)(level) << ALLOC_SIZE_BITS)
#define ALLOC_SIZE_OF(v) ((v) & ((1ULL << ALLOC_SIZE_BITS) - 1))
#define ALLOC_LEVEL_OF(v) ((v) >> ALLOC_SIZE_BITS)

/* A process: map `alloc_procs`, by tgid. */
struct alloc_proc {
	__u64 since_ns; /* fork or exec: allocations before were another program's */
	__u64 ended_ns; /* 0: it has not */
};

/* A sampled allocation that was freed after alloc_age_ns or more: WIRE_ALLOC_FREED. A sampled
 * allocation is a struct wire_sample as WIRE_ALLOC, its value as ALLOC_SIZE; its kernel_stack is
 * not one, but the rate by which it was sampled, 0: alloc_rate. */
struct wire_alloc_freed {
	struct wire_hdr hdr;
	__u64 birth_ns, freed_ns;
	__u64 stack;
	__u32 tgid;
	__u32 near; /* as in alloc_live */
};

#endif
