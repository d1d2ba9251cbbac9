/* SPDX-License-Identifier: BSD-2-Clause */
/* One direction of a connection: pieces ordered by position, with known holes, read at a moving
 * front. */
#ifndef ANALYZE_L7_STREAM_H
#define ANALYZE_L7_STREAM_H

#include "analyze/l7/engine/l7.h"

struct segment {
	uint64_t pos, len; /* bytes on the wire */
	uint64_t ts_ns;
	uint8_t *p; /* captured bytes: kept <= len bytes from pos on */
	size_t kept;
	bool borrowed; /* p belongs to the caller until stream_own */
	bool datagram;
	uint32_t peer;
	enum l7_unread unread;
};

/* Time at which all bytes before `end` had passed. Kept for every piece at or after the front, and
 * for the last one before it. */
struct mark {
	uint64_t end, ts_ns;
};

struct stream {
	uint64_t front; /* position of the next byte to read */
	bool begun;	/* front is set */
	bool borrowed;	/* a segment is borrowed */
	struct segment *segs;
	size_t first, cnt, cap; /* segs[first .. first + cnt) are live */
	struct mark *marks;
	size_t mark_first, mark_cnt, mark_cap;
	size_t held; /* bytes owned */
};

void stream_fini(struct stream *s);

/* Adds a piece. The data is borrowed until stream_own or until it is read; call stream_own before
 * the next push. 0 or -ENOMEM. */
int stream_push(struct stream *s, const struct l7_piece *piece);

/* Copies the borrowed piece. 0 or -ENOMEM. */
int stream_own(struct stream *s);

/* Memory in use, not counting the struct itself. */
size_t stream_held(const struct stream *s);

/* What is at the front: nothing, captured bytes, bytes not captured, or a gap. */
enum stream_at { STREAM_EMPTY, STREAM_BYTES, STREAM_UNKEPT, STREAM_GAP };
enum stream_at stream_look(const struct stream *s, struct l7_view *view);

/* Length of the first piece: of its call, unless pieces were joined to it. */
uint64_t stream_call_len(const struct stream *s);

/* Joins the next piece to the first, which extends the view. False: no contiguous piece follows. */
bool stream_extend(struct stream *s);

/*
 * Extends the view by the contiguous pieces that follow, to at least `min` bytes if there are so
 * many. Returns the copy that the view points to, which the caller frees. NULL: nothing was joined.
 */
uint8_t *stream_joined(const struct stream *s, size_t min, struct l7_view *view);

/* Moves the front; n may exceed what was received so far. */
void stream_consume(struct stream *s, uint64_t n);

/* Moves the front to the beginning of the next piece (over a gap or bytes not captured). False:
 * there is none yet. */
bool stream_skip(struct stream *s);

/* Time of the piece after a gap that follows the first piece; 0: no gap. */
uint64_t stream_gap_ns(const struct stream *s);

/* Returns the end of the bytes known without a gap from the front on. Stops at `enough`. */
uint64_t stream_known_end(const struct stream *s, uint64_t enough);

/* Position after the last byte received. */
uint64_t stream_end(const struct stream *s);

/* Time of the byte at pos. If it was lost, the first known time after it. 0: not received yet. */
uint64_t stream_time(const struct stream *s, uint64_t pos);

/* Time of the first piece held; 0: none. */
uint64_t stream_first_ns(const struct stream *s);

#endif
