/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Ring-buffer records of kind WIRE_EVENT, generated from format/records.def: for each record NAME
 * there, struct event_NAME and the number EVENT_NAME. All fields are u64, so that obrec can forward
 * any record without knowing its type:
 *
 *   ts_ns                       time of the event
 *   thread                      tgid << 32 | tid
 *   user_stack, kernel_stack    wire_stack.hash, 0 for none
 *   u32, u64                    the number
 *   str                         its length; the bytes of all strings follow in `text`, in order
 */
#ifndef BPF_EVENT_H
#define BPF_EVENT_H

#include "bpf/wire.h"

#define EVENT_STR_MAX 4096  /* bytes of one string */
#define EVENT_TEXT_MAX 8192 /* bytes of all strings of a record */
#define EVENT_FIELDS_MAX 24

enum event_number {
#define RECORD(kind, number, stream, doc) EVENT_##kind = number,
#define FIELD(...)
#define END(kind)
#include "format/records.def"
};

#define RECORD(kind, number, stream, doc)                                                          \
	struct event_##kind {                                                                      \
		struct wire_hdr hdr;
#define FIELD(kind, type, name, encoding, unit, doc) __u64 name;
#define END(kind)                                                                                  \
	char task_comm[WIRE_COMM_LEN];                                                             \
	char text[];                                                                               \
	}                                                                                          \
	;
#include "format/records.def"

#endif
