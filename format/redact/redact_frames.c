/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/redact/redact_frames.h"

void redact_frames_begin(struct redact_frames *f, uint64_t pos)
{
	*f = (struct redact_frames){.in_step = true, .next = pos};
}

int redact_frame(struct redact_frames *f, uint64_t left, bool secret)
{
	f->left = left;
	f->open = 0;
	f->secret = secret;
	f->blind = false;
	return 0;
}

static void lose_step(struct redact_frames *f)
{
	f->in_step = false;
	f->left = f->head_sz = f->want = 0;
}

/* Collects bytes of a header; returns how many were used. */
static size_t gather(struct redact_frames *f, const struct redact_framing *how, void *own,
		     const struct redact_call *c, size_t at, size_t n)
{
	int more;

	if (!f->want)
		f->want = how->head_sz;
	if (n > (size_t)(f->want - f->head_sz))
		n = f->want - f->head_sz;
	memcpy(f->head + f->head_sz, c->p + at, n);
	f->head_sz += n;
	if (f->head_sz < f->want)
		return n;
	more = how->head(own, f, c);
	if (more < 0 || (size_t)more > sizeof(f->head) - f->head_sz) {
		lose_step(f);
	} else if (more) {
		f->want += more;
	} else {
		f->head_sz = f->want = 0;
		if (!f->left && how->end)
			how->end(own);
	}
	return n;
}

static void body(struct redact_frames *f, const struct redact_framing *how, void *own,
		 struct redact_call *c, size_t at, size_t n)
{
	uint64_t inner = f->left > how->tail_sz ? f->left - how->tail_sz : 0;

	if (n > inner)
		n = inner;
	if (!n || !f->secret)
		return;
	if (f->blind || (!how->body && !how->byte)) {
		size_t stay = f->blind ? 0 : f->open < n ? f->open : n;

		redact_mask(c, at + stay, at + n, '*');
		f->open -= stay;
		return;
	}
	if (how->body) {
		how->body(own, c, at, n);
		return;
	}
	for (size_t i = at; i < at + n && f->secret; i++)
		redact_put(c, i, how->byte(own, c, c->p[i]));
}

void redact_frames_part(struct redact_frames *f, const struct redact_framing *how, void *own,
			struct redact_call *c, size_t at, size_t to)
{
	while (at < to && f->in_step) {
		size_t n = to - at;

		if (!f->left) {
			at += gather(f, how, own, c, at, n);
			continue;
		}
		if (n > f->left)
			n = f->left;
		body(f, how, own, c, at, n);
		f->left -= n;
		if (!f->left && how->end)
			how->end(own);
		at += n;
	}
	if (!f->in_step && how->lost)
		how->lost(own, c, at, to);
}

void redact_frames_unseen(struct redact_frames *f, const struct redact_framing *how, void *own,
			  uint64_t n)
{
	if (!n || !f->in_step)
		return;
	if (n > f->left) {
		lose_step(f);
		return;
	}
	f->left -= n;
	if (how->unseen)
		how->unseen(own, n);
	else
		f->blind = true;
	if (!f->left && how->end)
		how->end(own);
}

void redact_frames(struct redact_frames *f, const struct redact_framing *how, void *own,
		   struct redact_call *c, size_t at)
{
	uint64_t pos = c->pos + at;

	/* A position that goes back cannot be tracked. */
	redact_frames_unseen(f, how, own, pos < f->next ? UINT64_MAX : pos - f->next);
	if (!f->in_step)
		f->in_step = how->starts(own, c);
	redact_frames_part(f, how, own, c, at, c->kept);
	redact_frames_unseen(f, how, own, c->len - c->kept);
	f->next = c->pos + c->len;
}
