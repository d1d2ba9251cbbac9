/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Selects the bytes of a call needed to follow HTTP/2 frames (RFC 9113 4.1): frame headers, header
 * blocks, and the first bytes of other frame bodies. Compiled for BPF and, in the tests, for user
 * space.
 */
#ifndef BPF_FRAMES_H
#define BPF_FRAMES_H

#ifndef __bpf__
#include <stdbool.h>
#endif

enum {
	FRAME_HEAD = 9,
	FRAME_PREFACE = 24,
	FRAME_BODY = 16,    /* captured of a body: padding length, header of a gRPC message */
	FRAME_BLOCK = 8192, /* bytes captured of a header block */
	FRAME_GAP = 64,	    /* minimum size of a gap to skip */
};

/* Parser state of a call; all positions are offsets in the call. */
struct frames {
	__u32 from, have; /* the available bytes; earlier ones are done */
	__u32 next;	  /* start of the next frame header; may be beyond the call */
	__u32 until;	  /* end of the bytes captured of the previous frame */
	__u32 head;	  /* first bytes (at most 4) of a header cut at the call's end */
	__u8 head_sz;	  /* number of bytes seen of that header */
	__u8 block;	  /* the frame before `next` carries header fields */
	__u8 lost;	  /* the position of the next header is not known */
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
	return type < 10 || sz <= 16384; /* extensions: default SETTINGS_MAX_FRAME_SIZE */
}

/* Advances over a frame of the given size and type, whose body starts at `at`. */
static __always_inline void frame_take(struct frames *f, __u32 at, __u32 sz, __u32 type)
{
	__u32 most = FRAME_BODY;

	f->block = type == 1 || type == 5 || type == 9; /* HEADERS, PUSH_PROMISE, CONTINUATION */
	if (f->block)
		most = FRAME_BLOCK;
	f->until = at + (sz < most ? sz : most);
	f->next = at + sz;
}

/* Parses the frame header at d, which is the byte at f->next; false: not a valid header. */
static __always_inline bool frame_read(struct frames *f, const __u8 *d)
{
	__u32 sz = d[0] << 16 | d[1] << 8 | d[2], type = d[3];

	if (d[5] & 0x80 || d[4] & 0xd2 || !frame_type_fits(sz, type))
		return false;
	frame_take(f, f->next + FRAME_HEAD, sz, type);
	return true;
}

/* Whether to skip the bytes before the next header; never at the start of a call. */
static __always_inline bool frame_gap(const struct frames *f)
{
	return f->from && f->next - f->until > FRAME_GAP;
}

/* Completes a header that was cut: the call, of length `len`, starts with the `have` bytes at d. */
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

/*
 * Stores the start of a header at d, which is the byte at f->next: the last `sz` bytes of the call.
 */
static __always_inline void frame_cut(struct frames *f, const __u8 *d, __u32 sz)
{
	f->head = 0;
	for (__u32 i = 0; i < 4 && i < sz; i++)
		f->head = f->head << 8 | d[i];
	f->head_sz = sz;
}

#endif
