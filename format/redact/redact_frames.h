/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracks the framed messages of one direction across calls, which may cut them anywhere: collects
 * the frame header, counts the body, and examines only frames that may contain a secret. A protocol
 * provides how to parse a header and what to mask after it.
 *
 * Missing bytes: within a frame without a secret, nothing is lost. In a frame that may contain one,
 * the rest is masked. When they include the start of a frame, synchronization is lost until a call
 * starts with a frame.
 */
#ifndef FORMAT_REDACT_FRAMES_H
#define FORMAT_REDACT_FRAMES_H

#include "format/redact/redact_conn.h"

enum { FRAME_BAD = -1 };

/* Callbacks of a protocol. `own` is the protocol's state. The last five may be NULL. */
struct redact_framing {
	uint8_t head_sz; /* header bytes needed for the first call of head(), at least 1 */
	uint8_t tail_sz; /* bytes at the end of a frame that are not masked */
	/* f->head contains f->head_sz bytes. Returns the number of further bytes needed; 0: the
	 * header is complete and redact_frame() was called; FRAME_BAD: not a valid header. */
	int (*head)(void *own, struct redact_frames *f, const struct redact_call *c);
	/* While not synchronized: whether the call starts with a frame. */
	bool (*starts)(void *own, const struct redact_call *c);
	/* For frames with secrets: byte() returns the replacement of the next byte; or body()
	 * handles `n` bytes at `at`. With neither, everything after f->open bytes is masked. */
	uint8_t (*byte)(void *own, const struct redact_call *c, uint8_t ch);
	void (*body)(void *own, struct redact_call *c, size_t at, size_t n);
	void (*unseen)(void *own,
		       uint64_t n); /* missing bytes; NULL: masks the frame's rest */
	void (*end)(void *own);	    /* end of a frame */
	void (*lost)(void *own, struct redact_call *c, size_t from, size_t to); /* no sync */
};

/* Synchronized from position `pos` on. */
void redact_frames_begin(struct redact_frames *f, uint64_t pos);
/* Called by head(): sets how many bytes follow the header, and whether they may contain a secret.
 * Returns 0. */
int redact_frame(struct redact_frames *f, uint64_t left, bool secret);
/* Processes a call whose first `at` bytes are not part of frames. */
void redact_frames(struct redact_frames *f, const struct redact_framing *how, void *own,
		   struct redact_call *c, size_t at);
/* As redact_frames(), for bytes `at` to `to` of a call; and for `n` missing bytes. */
void redact_frames_part(struct redact_frames *f, const struct redact_framing *how, void *own,
			struct redact_call *c, size_t at, size_t to);
void redact_frames_unseen(struct redact_frames *f, const struct redact_framing *how, void *own,
			  uint64_t n);

#endif
