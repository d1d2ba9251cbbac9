/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Which bytes of a call tell of HTTP/2's frames (RFC 9113 4.1): their heads, header blocks, and of
 * other bodies the first few. Compiled for BPF and, in the tests, for user space.
 */
#ifndef BPF_FRAMES_H
#define BPF_FRAMES_H

#ifndef __bpf__
#include <stdbool.h>
#endif

enum {
	FRAME_HEAD = 9,
	FRAME_PREFACE = 24,
	FRAME_BODY = 16,    /* kept of a body: padding's length, the head of gRPC's first message */
	FRAME_BLOCK = 8192, /* and of a header block */
	FRAME_GAP = 64,	    /* what is worth leaving out */
};

/* A call at hand: offsets in it. */
struct frames {
	__u32 from, have; /* the bytes in view: what comes before was dealt with */
	__u32 next;	  /* where the next head begins; beyond the call, too */
	__u32 until;	  /* what is kept of the frame before it ends there */
	__u32 head;	  /* the first bytes, four at most, of a head that the call's end cuts */
	__u8 head_sz;	  /* of that, bytes that were seen */
	__u8 block;	  /* the frame before `next` carries header fields */
	__u8 lost;	  /* where the next head begins is not known */
};

static __always_inline bool frame_type_fits(__u32 sz, __u32 type)
{
	if (type == 2) /* PRIORITY */
		return sz == 5;
	if (type == 3 || type == 8) /* RST_STREAM, WINDOW_UPDATE */
		return sz == 4;
	if (type == 4) /* SETTINGS */
		return sz <= 600;
	if (type == 6) /* PING */
		return sz == 8;
	return type < 10 || sz <= 16384; /* extensions: what must be taken without agreement */
}

/* A frame of that size and type, whose body begins at `at`. */
static __always_inline void frame_take(struct frames *f, __u32 at, __u32 sz, __u32 type)
{
	__u32 most = FRAME_BODY;

	f->block = type == 1 || type == 5 || type == 9; /* HEADERS, PUSH_PROMISE, CONTINUATION */
	if (f->block)
		most = FRAME_BLOCK;
	f->until = at + (sz < most ? sz : most);
	f->next = at + sz;
}

/* Takes the frame whose head stands at d, the place of f->next; false: it is none. */
static __always_inline bool frame_read(struct frames *f, const __u8 *d)
{
	__u32 sz = d[0] << 16 | d[1] << 8 | d[2], type = d[3];

	if (d[5] & 0x80 || d[4] & 0xd2 || !frame_type_fits(sz, type))
		return false;
	frame_take(f, f->next + FRAME_HEAD, sz, type);
	return true;
}

/* May what lies in front of the next head be left out? Not of the bytes that a call begins with. */
static __always_inline bool frame_gap(const struct frames *f)
{
	return f->from && f->next - f->until > FRAME_GAP;
}

/* The rest of a head that was cut: `have` bytes at d begin the call, of `len`. */
static __always_inline void frame_join(struct frames *f, const __u8 *d, __u32 have, __u32 len)
{
	__u32 i;

	for (i = 0; i < FRAME_HEAD - 1 && i < have && f->head_sz < FRAME_HEAD; i++) {
		if (f->head_sz < 4)
			f->head = f->head << 8 | d[i];
		f->head_sz++;
	}
	f->next = len;
	if (f->head_sz < FRAME_HEAD)
		return;
	f->head_sz = 0;
	f->lost = !frame_type_fits(f->head >> 8, f->head & 0xff);
	frame_take(f, i, f->head >> 8, f->head & 0xff);
}

/* A head begins at d, the place of f->next, and `sz` bytes of it end the call. */
static __always_inline void frame_cut(struct frames *f, const __u8 *d, __u32 sz)
{
	f->head = 0;
	for (__u32 i = 0; i < 4 && i < sz; i++)
		f->head = f->head << 8 | d[i];
	f->head_sz = sz;
}

#endif
