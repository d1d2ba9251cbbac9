/* SPDX-License-Identifier: BSD-2-Clause */
/* One direction of a connection: pieces in order of position, holes known, read through a moving
 * front. */
#ifndef ANALYZE_L7_STREAM_H
#define ANALYZE_L7_STREAM_H

#include "analyze/l7/engine/l7.h"

struct segment {
	uint64_t pos, len; /* what passed by */
	uint64_t ts_ns;
	uint8_t *p; /* what was kept: kept <= len bytes from pos on */
	size_t kept;
	bool borrowed; /* p is the caller's until stream_own */
	bool datagram;
	uint32_t peer;
};

/* When bytes up to `end` had passed; kept for every piece the front has not left behind, and for
 * the last that it has. */
struct mark {
	uint64_t end, ts_ns;
};

struct stream {
	uint64_t front; /* position of the next byte to read */
	bool begun;	/* front is set */
	bool borrowed;	/* one of segs is */
	struct segment *segs;
	size_t first, cnt, cap; /* segs[first .. first + cnt) are live */
	struct mark *marks;
	size_t mark_first, mark_cnt, mark_cap;
	size_t held; /* bytes owned */
};

void stream_fini(struct stream *s);

/* Takes a piece; the data is borrowed until stream_own, before the next, or until it is read. 0 or
 * -ENOMEM. */
int stream_push(struct stream *s, const struct l7_piece *piece);

/* Copies the piece that is still borrowed. 0 or -ENOMEM. */
int stream_own(struct stream *s);

/* The memory that it takes besides itself. */
size_t stream_held(const struct stream *s);

/* What lies at the front. */
enum stream_at { STREAM_EMPTY, STREAM_BYTES, STREAM_UNKEPT, STREAM_GAP };
enum stream_at stream_look(const struct stream *s, struct l7_view *view);

/* Length of the first piece: of the call it came in, when none was joined to it. */
uint64_t stream_call_len(const struct stream *s);

/* Joins the next piece to the first, so that the view grows; false when there is none without a
 * gap. */
bool stream_extend(struct stream *s);

/* The view as if the pieces that follow without a gap were joined to it, up to `min` bytes at least
 * where there are so many. NULL: nothing was joined; else the copy that the view shows. */
uint8_t *stream_joined(const struct stream *s, size_t min, struct l7_view *view);

/* Moves the front; may go past what has passed so far. */
void stream_consume(struct stream *s, uint64_t n);

/* Moves the front to the beginning of the next piece (over a gap or unkept bytes); false when there
 * is none yet. */
bool stream_skip(struct stream *s);

/* Is there a gap behind the first piece? Then when what follows it passed; 0: no. */
uint64_t stream_gap_ns(const struct stream *s);

/* All bytes below this position are accounted for without a gap from the front on; nothing from
 * `enough` on is looked at. */
uint64_t stream_known_end(const struct stream *s, uint64_t enough);

/* Behind the last byte that has passed. */
uint64_t stream_end(const struct stream *s);

/* When the byte at pos passed; the first known time after it where it was lost. 0: not yet. */
uint64_t stream_time(const struct stream *s, uint64_t pos);

/* Time of the first piece held; 0 when there is none. */
uint64_t stream_first_ns(const struct stream *s);

#endif
