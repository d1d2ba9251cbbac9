/* SPDX-License-Identifier: BSD-2-Clause */
/* C declarations from records.def: struct rec_X per kind, enum rec_kind, enums of coded values. */
#ifndef FORMAT_RECORDS_H
#define FORMAT_RECORDS_H

#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes; not NUL-terminated. */
struct span {
	const char *p;
	size_t len;
};

/* Borrowed numbers. */
struct u64_span {
	const uint64_t *v;
	size_t len;
};

enum rec_kind {
#define RECORD(kind, number, stream, doc) REC_##kind = number,
#define FIELD(...)
#define END(kind)
#include "format/records.def"
	REC_KIND_MAX = 128,
};

#define REC_TYPE_u32 uint32_t
#define REC_TYPE_u64 uint64_t
#define REC_TYPE_str struct span
#define REC_TYPE_list struct u64_span
#define REC_TYPE_command struct span
#define REC_TYPE_settings struct span
#define REC_TYPE_address struct span
#define RECORD(kind, number, stream, doc) struct rec_##kind {
#define FIELD(kind, type, name, encoding, unit, doc) REC_TYPE_##type name;
#define END(kind) };
#include "format/records.def"

/* sample.kind: kinds.def. */
enum sample_kind {
#define KIND(name, number, title, unit, count_name) SAMPLE_##name = number,
#include "format/kinds.def"
	SAMPLE_KIND_END /* greater than the last number */
};

/* stack.error: why the walk ended before the thread's first frame; append only. The text is shown
 * by `obana info` and in the stack table. */
#define STACK_ERRORS(X)                                                                            \
	X(NONE, 0, "complete")                                                                     \
	X(NO_PROCESS, 1, "process not known yet")                                                  \
	X(NO_MAPPING, 2, "address in no known mapping")                                            \
	X(NO_TABLE, 3, "binary without unwind table")                                              \
	X(NO_ROW, 4, "address not covered by the unwind table")                                    \
	X(BAD_RULE, 5, "unwind rule not supported")                                                \
	X(READ_FAULT, 6, "stack memory not readable")                                              \
	X(NO_PROGRESS, 7, "stack pointer did not advance")                                         \
	X(TOO_DEEP, 8, "deeper than the frame limit")                                              \
	X(NO_REGS, 9, "registers not readable")                                                    \
	X(BAD_FP, 10, "frame pointer chain broken")                                                \
	X(NOT_TAKEN, 11, "stack not taken")
enum stack_error {
#define X(name, number, text) STACK_##name = number,
	STACK_ERRORS(X)
#undef X
};

/* connection.transport: IP protocol numbers, and Unix sockets. */
enum transport {
	TRANSPORT_TCP = 6,
	TRANSPORT_UDP = 17,
	TRANSPORT_UNIX_STREAM = 257,
	TRANSPORT_UNIX_DGRAM = 258,
};

enum role { ROLE_UNKNOWN = 0, ROLE_CLIENT = 1, ROLE_SERVER = 2 };

enum close_how {
	CLOSE_OTHER,	 /* by either side, or not known */
	CLOSE_RESET,	 /* by an RST */
	CLOSE_TIMED_OUT, /* no acknowledgement came */
	CLOSE_UNSEEN,	 /* packet captures: behind bytes that are not in the capture */
};

enum payload_flags {
	PAYLOAD_DATAGRAM = 1, /* each payload is one message */
	PAYLOAD_TLS = 2,      /* plaintext captured inside a TLS library */
	PAYLOAD_REDACTED = 4, /* parts of data were masked */
	PAYLOAD_UNNAMED = 8,  /* data was dropped: no protocol was identified */
	/* Sent while received bytes waited to be read; while none did. Neither: it is not known. */
	PAYLOAD_UNREAD = 16,
	PAYLOAD_ALL_READ = 32,
};

#define FRAME_BINARY_UNKNOWN 0u
#define FRAME_BINARY_KERNEL 0xffffu
#define FRAME_ADDR_MASK 0xffffffffffffULL

static inline uint32_t frame_binary(uint64_t frame)
{
	return frame >> 48;
}

/* ELF virtual address; a kernel address comes back sign-extended. */
static inline uint64_t frame_address(uint64_t frame)
{
	uint64_t a = frame & FRAME_ADDR_MASK;

	return frame_binary(frame) == FRAME_BINARY_KERNEL ? (uint64_t)((int64_t)(a << 16) >> 16) : a;
}

static inline uint64_t frame_pack(uint32_t binary, uint64_t address)
{
	return (uint64_t)binary << 48 | (address & FRAME_ADDR_MASK);
}

#endif
