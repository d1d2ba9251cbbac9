/* SPDX-License-Identifier: BSD-2-Clause */
/* Format of HTTP/2 frames (RFC 9113 4.1, 6), for detection, also when capture began later. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "analyze/l7/proto/http2.h"

enum {
	MAX_SURE_FRAME = 1 << 20,
	MAX_SETTING = 16,
	IN_STEP = 64, /* this many consecutive frames rule out chance */
};

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

/* Flags that RFC 9113 defines for a type. Others must not be sent, and are to be ignored (4.1). */
static uint8_t flags_of(enum h2_type type)
{
	switch (type) {
	case H2_DATA:
		return H2_END_STREAM | H2_PADDED;
	case H2_HEADERS:
		return H2_END_STREAM | H2_END_HEADERS | H2_PADDED | H2_WITH_PRIORITY;
	case H2_SETTINGS:
	case H2_PING:
		return H2_ACK;
	case H2_PUSH_PROMISE:
		return H2_END_HEADERS | H2_PADDED;
	case H2_CONTINUATION:
		return H2_END_HEADERS;
	default:
		return 0;
	}
}

static bool length_fits(const struct h2_frame *f)
{
	switch (f->type) {
	case H2_PRIORITY:
		return f->len == 5 && f->stream;
	case H2_RST_STREAM:
		return f->len == 4 && f->stream;
	case H2_SETTINGS:
		return !f->stream &&
		       (f->flags & H2_ACK ? !f->len : !(f->len % 6) && f->len <= 6 * MAX_SETTING);
	case H2_PING:
		return f->len == 8 && !f->stream;
	case H2_GOAWAY:
		return f->len >= 8 && !f->stream;
	case H2_WINDOW_UPDATE:
		return f->len == 4;
	case H2_HEADERS:
	case H2_CONTINUATION:
	case H2_PUSH_PROMISE:
		return f->stream && f->len && f->len <= MAX_SURE_FRAME;
	case H2_DATA:
		return f->stream;
	case H2_ALTSVC:
	case H2_ORIGIN:
	case H2_PRIORITY_UPDATE:
		return f->len <= MAX_SURE_FRAME;
	}
	return false;
}

bool h2_frame(const uint8_t *p, struct h2_frame *f)
{
	*f = (struct h2_frame){.len = (uint32_t)p[0] << 16 | p[1] << 8 | p[2],
			       .type = p[3],
			       .flags = p[4],
			       .stream = be32(p + 5)};
	f->odd = f->flags & ~flags_of(f->type);
	f->flags &= flags_of(f->type);
	return !(f->stream & 1u << 31) && length_fits(f);
}

bool h2_payload(const struct h2_frame *f, const uint8_t *p, size_t have, uint32_t *before,
		uint32_t *after)
{
	bool padded = (f->type == H2_DATA || f->type == H2_HEADERS || f->type == H2_PUSH_PROMISE) &&
		      f->flags & H2_PADDED;

	*after = padded && have ? p[0] : 0;
	*before = padded;
	if (f->type == H2_HEADERS && f->flags & H2_WITH_PRIORITY)
		*before += 5;
	if (f->type == H2_PUSH_PROMISE)
		*before += 4;
	return (uint64_t)*before + *after <= f->len;
}

/* ---- detection when capture began later ---- */

struct tell {
	bool request, response, odd;
	unsigned fields;
};

static void tell_field(void *ctx, const struct hpack_field *f)
{
	static const char *const requests[] = {":method", ":path", ":scheme", ":authority"};
	struct tell *t = ctx;

	t->fields++;
	for (size_t i = 0; i < f->name.len; i++)
		t->odd |= f->name.p[i] <= ' ' || f->name.p[i] > '~' ||
			  (f->name.p[i] >= 'A' && f->name.p[i] <= 'Z');
	t->response |= l7_is(f->name, ":status");
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		t->request |= l7_is(f->name, requests[i]);
}

/* Does this HEADERS frame decode without earlier state? *sure is incremented if the whole block, or
 * all of it that was captured, is in view. */
static bool is_block(const struct l7_view *v, const struct h2_frame *f, const uint8_t *p,
		     size_t have, int *requests, unsigned *sure)
{
	uint32_t before, after;
	struct tell t = {0};
	struct hpack *h;
	size_t sz;
	int err;

	if (!h2_payload(f, p, have, &before, &after))
		return false;
	sz = f->len - before - after;
	have = have < before ? 0 : have - before;
	if (!have || hpack__new(&h))
		return !have;
	hpack__lost(h);
	err = hpack__decode(h, p + before, have < sz ? have : sz, tell_field, &t);
	hpack__free(h);
	if (err == -EBADMSG || t.odd || (t.request && t.response) ||
	    (err && have >= sz && f->flags & H2_END_HEADERS))
		return false;
	if (t.request != t.response)
		*requests = t.request;
	*sure += t.fields && f->stream & 1 && (have >= sz || v->cut);
	return true;
}

/* Setting identifiers start at 1 and are small, except for GREASE (0x?a?a). */
static bool is_settings(const struct h2_frame *f, const uint8_t *p, size_t have)
{
	if (f->flags & H2_ACK || !f->len || have < f->len)
		return false;
	for (size_t i = 0; i < f->len; i += 6)
		if (p[i] || !p[i + 1] || p[i + 1] > MAX_SETTING)
			return false;
	return true;
}

/* Weight of a frame header as evidence: lengths fixed by its type, a body that ends in view. */
static unsigned weight_of(const struct h2_frame *f, const uint8_t *p, size_t have)
{
	switch (f->type) {
	case H2_DATA:
		return f->len && have >= f->len;
	case H2_WINDOW_UPDATE: /* an increment of 0 is an error */
		return have >= 4 && !(p[0] & 0x80) && be32(p) ? 2 : 0;
	case H2_SETTINGS:
		return f->flags & H2_ACK ? 2 : 0;
	case H2_PING:
	case H2_RST_STREAM:
	case H2_PRIORITY:
	case H2_GOAWAY:
		return have >= f->len ? 2 : 0;
	default:
		return 0;
	}
}

/* `odd`: ignore undefined flags. Otherwise they show that it is another protocol. */
static enum h2_shape shape_from(const struct l7_view *v, size_t at, unsigned most, bool odd,
				int *requests)
{
	unsigned frames = 0, sure = 0, weight = 0;
	enum h2_shape shape;

	while (at < v->len && frames < most) {
		const uint8_t *p = v->p + at;
		size_t have = v->len - at;
		struct h2_frame f;

		if (have < H2_FRAME_HEAD)
			break;
		if (!h2_frame(p, &f) || f.len > MAX_SURE_FRAME || (f.odd && !odd))
			return H2_OTHER;
		frames++;
		p += H2_FRAME_HEAD;
		have -= H2_FRAME_HEAD;
		if (f.type == H2_HEADERS && !is_block(v, &f, p, have, requests, &sure))
			return H2_OTHER;
		sure += f.type == H2_SETTINGS && is_settings(&f, p, have);
		weight += weight_of(&f, p, have);
		at += H2_FRAME_HEAD + f.len;
	}
	shape = sure ? H2_FRAMES_SURE : weight > 1 ? H2_FRAMES : H2_FRAMES_WEAK;
	return frames ? shape : H2_NOTHING;
}

enum h2_shape h2_shape(const struct l7_view *v, bool odd, int *requests)
{
	size_t n = v->len < H2_PREFACE_SZ ? v->len : H2_PREFACE_SZ;

	*requests = -1;
	if (n >= 3 && !memcmp(v->p, H2_PREFACE, n)) {
		enum h2_shape rest =
			n < H2_PREFACE_SZ ? H2_NOTHING : shape_from(v, n, UINT_MAX, true, requests);

		*requests = 1;
		return rest == H2_OTHER ? H2_OTHER : n < H2_PREFACE_SZ ? H2_FRAMES : H2_BEGINS;
	}
	return shape_from(v, 0, UINT_MAX, odd, requests);
}

bool h2_in_step(const struct l7_view *v, size_t from)
{
	int requests;

	return shape_from(v, from, IN_STEP, false, &requests) != H2_OTHER;
}

bool h2_chain(const struct l7_view *v, size_t from)
{
	uint64_t at = from;
	unsigned frames = 0;

	while (at + H2_FRAME_HEAD <= v->len) {
		struct h2_frame f;

		if (!h2_frame(v->p + at, &f) || f.len > MAX_SURE_FRAME || f.odd)
			return false;
		at += H2_FRAME_HEAD + f.len;
		if (++frames == IN_STEP)
			return true;
	}
	return frames && (at == v->known || frames >= 3);
}
