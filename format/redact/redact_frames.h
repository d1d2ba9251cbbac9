/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Framed messages of one direction, followed through calls that cut them anywhere: the head is
 * gathered, the body counted, and only a frame that may hold a secret is looked into. What a
 * protocol adds is how to read a head and what to mask behind it.
 *
 * Bytes that were not seen: within a frame that holds no secret nothing is lost; of one that may,
 * the rest is masked; across a frame's beginning the step is lost, until a call begins with a
 * frame.
 */
#ifndef FORMAT_REDACT_FRAMES_H
#define FORMAT_REDACT_FRAMES_H

#include "format/redact/redact_conn.h"

enum { FRAME_BAD = -1 };

/* Each is given the protocol's own state first; the last five may be NULL. */
struct redact_framing {
	uint8_t head_sz; /* bytes of a head with which it can be begun to read, at least 1 */
	uint8_t tail_sz; /* bytes at a frame's end that stay */
	/* f->head holds f->head_sz bytes. How many more are needed; 0: it is whole, and
	 * redact_frame() was called; FRAME_BAD: it is none. */
	int (*head)(void *own, struct redact_frames *f, const struct redact_call *c);
	/* Is a call, while out of step, one that begins with a frame? */
	bool (*starts)(void *own, const struct redact_call *c);
	/* Of a frame with secrets: what to write instead of the next byte, or: `n` bytes at `at`.
	 * With neither all is masked that follows f->open bytes. */
	uint8_t (*byte)(void *own, const struct redact_call *c, uint8_t ch);
	void (*body)(void *own, struct redact_call *c, size_t at, size_t n);
	void (*unseen)(void *own,
		       uint64_t n); /* of the frame at hand; instead of masking its rest */
	void (*end)(void *own);	    /* of a frame */
	void (*lost)(void *own, struct redact_call *c, size_t from, size_t to); /* out of step */
};

/* In step, from position `pos` on. */
void redact_frames_begin(struct redact_frames *f, uint64_t pos);
/* Says what a head tells: how many bytes follow it, and whether a secret may be in them. Returns
 * 0. */
int redact_frame(struct redact_frames *f, uint64_t left, bool secret);
/* A call, of which the first `at` bytes are no frames. */
void redact_frames(struct redact_frames *f, const struct redact_framing *how, void *own,
		   struct redact_call *c, size_t at);
/* The same of parts: bytes of a call from `at` to `to`, and such that were not seen. */
void redact_frames_part(struct redact_frames *f, const struct redact_framing *how, void *own,
			struct redact_call *c, size_t at, size_t to);
void redact_frames_unseen(struct redact_frames *f, const struct redact_framing *how, void *own,
			  uint64_t n);

#endif
