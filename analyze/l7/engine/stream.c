/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/stream.h"

static struct segment *at(const struct stream *s, size_t i)
{
	return &s->segs[s->first + i];
}

static void drop(struct stream *s, struct segment *seg)
{
	if (seg->borrowed) {
		s->borrowed = false;
		return;
	}
	s->held -= seg->kept;
	free(seg->p);
}

void stream_fini(struct stream *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		drop(s, at(s, i));
	free(s->segs);
	free(s->marks);
	*s = (struct stream){0};
}

/* Makes room for one more element at the end of a deque in an array. */
static int reserve(void **array, size_t *first, size_t cnt, size_t *cap, size_t elem_sz)
{
	if (*first + cnt < *cap)
		return 0;
	if (*first > *cap / 2) {
		memmove(*array, (char *)*array + *first * elem_sz, cnt * elem_sz);
		*first = 0;
		return 0;
	}
	size_t cap2 = *cap ? *cap * 2 : 2; /* most connections never hold more */
	void *p = realloc(*array, cap2 * elem_sz);

	if (!p)
		return -ENOMEM;
	*array = p;
	*cap = cap2;
	return 0;
}

static void add_mark(struct stream *s, uint64_t end, uint64_t ts_ns)
{
	size_t i = s->mark_cnt;

	if (reserve((void **)&s->marks, &s->mark_first, s->mark_cnt, &s->mark_cap,
		    sizeof(*s->marks)))
		return;
	struct mark *m = s->marks + s->mark_first;

	while (i && m[i - 1].end > end)
		i--;
	if (i && m[i - 1].end == end) /* received before */
		return;
	memmove(m + i + 1, m + i, (s->mark_cnt - i) * sizeof(*m));
	m[i] = (struct mark){end, ts_ns};
	s->mark_cnt++;
}

/* Removes the first `n` bytes of the piece. */
static void trim(struct segment *seg, uint64_t n)
{
	size_t kept = n < seg->kept ? n : seg->kept;

	seg->pos += n;
	seg->len -= n;
	if (seg->borrowed) {
		seg->p += kept;
	} else if (kept) {
		memmove(seg->p, seg->p + kept, seg->kept - kept);
	}
	seg->kept -= kept;
}

static void drop_passed(struct stream *s)
{
	while (s->cnt && at(s, 0)->pos + at(s, 0)->len <= s->front) {
		drop(s, at(s, 0));
		s->first++;
		s->cnt--;
	}
	/* Keep one mark below the front: the time of the byte before it. */
	while (s->mark_cnt > 1 && s->marks[s->mark_first + 1].end <= s->front) {
		s->mark_first++;
		s->mark_cnt--;
	}
	if (!s->cnt)
		s->first = 0;
}

int stream_push(struct stream *s, const struct l7_piece *piece)
{
	struct segment seg = {
		.pos = piece->pos,
		.len = piece->len,
		.ts_ns = piece->ts_ns,
		.p = (uint8_t *)piece->data.p,
		.kept = piece->data.len < piece->len ? piece->data.len : piece->len,
		.borrowed = true,
		.datagram = piece->datagram,
		.peer = piece->peer,
		.unread = piece->unread,
	};
	size_t i = s->cnt;

	if (!seg.len || seg.pos + seg.len < seg.pos)
		return 0;
	if (!s->begun) {
		s->begun = true;
		s->front = seg.pos;
	}
	add_mark(s, seg.pos + seg.len, seg.ts_ns);
	/* Data of a message that waits for its end: there may be a million such pieces. */
	if (seg.pos + seg.len <= s->front) {
		drop_passed(s);
		return 0;
	}
	if (reserve((void **)&s->segs, &s->first, s->cnt, &s->cap, sizeof(*s->segs)))
		return -ENOMEM;
	while (i && at(s, i - 1)->pos > seg.pos)
		i--;
	/* Each byte is kept once: cut off what the previous piece has, and what lies before the
	 * front. */
	if (i && at(s, i - 1)->pos + at(s, i - 1)->len > seg.pos) {
		uint64_t over = at(s, i - 1)->pos + at(s, i - 1)->len - seg.pos;

		if (over >= seg.len)
			return 0;
		trim(&seg, over);
	}
	if (!i && seg.pos < s->front)
		trim(&seg, s->front - seg.pos);
	if (i < s->cnt && seg.pos + seg.len > at(s, i)->pos) {
		seg.len = at(s, i)->pos - seg.pos;
		seg.kept = seg.kept < seg.len ? seg.kept : seg.len;
		if (!seg.len)
			return 0;
	}
	memmove(at(s, i + 1), at(s, i), (s->cnt - i) * sizeof(seg));
	*at(s, i) = seg;
	s->cnt++;
	s->borrowed = true;
	return 0;
}

int stream_own(struct stream *s)
{
	struct segment *seg;
	uint8_t *copy;
	size_t i = s->cnt;

	if (!s->borrowed)
		return 0;
	while (!at(s, --i)->borrowed)
		; /* the last piece pushed is near the end */
	seg = at(s, i);
	s->borrowed = seg->borrowed = false;
	copy = malloc(seg->kept ? seg->kept : 1);
	if (!copy) {
		/* The bytes are lost; the length is still known. */
		seg->p = NULL;
		seg->kept = 0;
		return -ENOMEM;
	}
	memcpy(copy, seg->p, seg->kept);
	seg->p = copy;
	s->held += seg->kept;
	return 0;
}

uint64_t stream_known_end(const struct stream *s, uint64_t enough)
{
	uint64_t end = s->front;

	for (size_t i = 0; i < s->cnt && end < enough && at(s, i)->pos <= end; i++)
		end = at(s, i)->pos + at(s, i)->len;
	return end;
}

enum stream_at stream_look(const struct stream *s, struct l7_view *view)
{
	const struct segment *seg;
	uint64_t off;

	if (!s->cnt)
		return STREAM_EMPTY;
	seg = at(s, 0);
	if (seg->pos > s->front)
		return STREAM_GAP;
	off = s->front - seg->pos;
	view->known = seg->len - off;
	view->cut = seg->kept < seg->len;
	view->datagram = seg->datagram;
	view->peer = seg->peer;
	view->unread = seg->unread;
	view->pos = s->front;
	view->ts_ns = stream_time(s, s->front);
	if (off >= seg->kept)
		return STREAM_UNKEPT;
	view->p = seg->p + off;
	view->len = seg->kept - off;
	return STREAM_BYTES;
}

uint64_t stream_call_len(const struct stream *s)
{
	return s->cnt ? at(s, 0)->len : 0;
}

static bool joins(const struct segment *a, const struct segment *b)
{
	return a->kept == a->len && a->pos + a->len == b->pos && !a->datagram && b->kept;
}

uint8_t *stream_joined(const struct stream *s, size_t min, struct l7_view *view)
{
	size_t sz = view->len, i = 0;
	uint8_t *copy, *p;

	while (sz < min && i + 1 < s->cnt && joins(at(s, i), at(s, i + 1)))
		sz += at(s, ++i)->kept;
	copy = i ? malloc(sz) : NULL;
	if (!copy)
		return NULL;
	memcpy(copy, view->p, view->len);
	p = copy + view->len;
	for (size_t j = 1; j <= i; j++) {
		memcpy(p, at(s, j)->p, at(s, j)->kept);
		p += at(s, j)->kept;
		view->known += at(s, j)->len;
	}
	view->p = copy;
	view->len = sz;
	view->cut = at(s, i)->kept < at(s, i)->len;
	return copy;
}

bool stream_extend(struct stream *s)
{
	struct segment *a, *b;
	uint8_t *p;

	if (s->cnt < 2)
		return false;
	a = at(s, 0);
	b = at(s, 1);
	if (!joins(a, b))
		return false;
	if (a->borrowed || b->borrowed)
		if (stream_own(s))
			return false;
	p = realloc(a->p, a->kept + b->kept);
	if (!p)
		return false;
	memcpy(p + a->kept, b->p, b->kept);
	b->p = (free(b->p), p);
	b->kept += a->kept;
	b->len += a->len;
	b->pos = a->pos;
	s->first++;
	s->cnt--;
	return true;
}

void stream_consume(struct stream *s, uint64_t n)
{
	s->front = s->front + n < s->front ? UINT64_MAX : s->front + n;
	drop_passed(s);
}

bool stream_skip(struct stream *s)
{
	struct segment *seg;

	if (!s->cnt)
		return false;
	seg = at(s, 0);
	s->front = seg->pos > s->front ? seg->pos : seg->pos + seg->len;
	drop_passed(s);
	return true;
}

uint64_t stream_time(const struct stream *s, uint64_t pos)
{
	size_t lo = s->mark_first, end = s->mark_first + s->mark_cnt, hi = end;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->marks[mid].end > pos)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo < end ? s->marks[lo].ts_ns : 0;
}

uint64_t stream_end(const struct stream *s)
{
	return s->mark_cnt ? s->marks[s->mark_first + s->mark_cnt - 1].end : s->front;
}

uint64_t stream_gap_ns(const struct stream *s)
{
	if (s->cnt < 2 || at(s, 0)->pos + at(s, 0)->len == at(s, 1)->pos)
		return 0;
	return at(s, 1)->ts_ns;
}

uint64_t stream_first_ns(const struct stream *s)
{
	uint64_t ts_ns;

	if (!s->cnt)
		return 0;
	/* Joined pieces keep their own times. */
	ts_ns = at(s, 0)->pos <= s->front ? stream_time(s, s->front) : 0;
	return ts_ns ? ts_ns : at(s, 0)->ts_ns;
}

size_t stream_held(const struct stream *s)
{
	return s->held + s->cap * sizeof(*s->segs) + s->mark_cap * sizeof(*s->marks);
}
