/* SPDX-License-Identifier: BSD-2-Clause */
/* AMQP contents: a method, its header and bodies, assembled per channel. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/amqp.h"

enum {
	SHOWN_MAX = 128,
	CHANNELS_MAX = 1024,
	FRAME_MIN = 4096,
	FRAME_SIZE = 131072 /* what peers agree on, if nothing else is known */
};

#define CONTENT_MAX (1ull << 40)

static void channel_free(struct amqp_channel *c)
{
	free(c->content[0]);
	free(c->content[1]);
	free(c);
}

struct amqp_channel *amqp_channel(struct amqp *s, uint16_t number)
{
	struct amqp_channel **at = &s->channels, *c;

	while (*at && (*at)->number != number) {
		if (!(*at)->next && s->channel_cnt >= CHANNELS_MAX) {
			channel_free(*at);
			*at = NULL;
			s->channel_cnt--;
			break;
		}
		at = &(*at)->next;
	}
	c = *at;
	if (c) {
		*at = c->next;
	} else {
		c = calloc(1, sizeof(*c));
		if (!c)
			return NULL;
		c->number = number;
		s->channel_cnt++;
	}
	c->next = s->channels;
	s->channels = c;
	return c;
}

void amqp_channels_free(struct amqp *s)
{
	while (s->channels) {
		struct amqp_channel *next = s->channels->next;

		channel_free(s->channels);
		s->channels = next;
	}
}

void amqp_add(struct amqp_content *k, const char *fmt, ...)
{
	size_t at = strlen(k->detail);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(k->detail + at, sizeof(k->detail) - at, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(k->detail) - at) /* only complete members */
		k->detail[at] = 0;
}

void amqp_content_message(struct l7_parser *parser, struct amqp_content *k, struct l7_message *m)
{
	*m = k->m;
	m->method = (struct span){k->method->name, strlen(k->method->name)};
	m->target = l7_keep(parser, (struct span){k->target, strlen(k->target)});
	m->status = l7_keep(parser, (struct span){k->status, strlen(k->status)});
	if (k->left || !k->header)
		amqp_add(k, ",\"cut\":true");
	if (*k->detail)
		m->detail = l7_text(parser, "{%s}", k->detail + 1);
}

void amqp_content_cut(struct l7_parser *parser, struct amqp_content **at)
{
	struct amqp_content *k = *at;
	struct l7_message m;

	if (!k)
		return;
	amqp_content_message(parser, k, &m);
	l7_deliver(parser, &m);
	free(k);
	*at = NULL;
}

/* ---- what is shown of a method ---- */

void amqp_add_text(struct l7_parser *parser, struct amqp_content *k, const char *name,
		   struct span s)
{
	if (s.len)
		amqp_add(k, ",\"%s\":\"%s\"", name, l7_json(parser, s, SHOWN_MAX).p);
}

/* The object of a method: exchange/routing key, queue, or virtual host. */
static void set_target(struct amqp_content *k, const struct amqp_args *a)
{
	char name[256], key[256];
	struct span x = l7_fold(a->queue.len   ? a->queue
				: a->vhost.len ? a->vhost
					       : a->exchange,
				name, sizeof(name)),
		    r = l7_fold(a->queue.len ? (struct span){"", 0} : a->key, key, sizeof(key));

	snprintf(k->target, sizeof(k->target), "%.*s%s%.*s", (int)x.len, x.p,
		 x.len && r.len ? "/" : "", (int)r.len, r.p);
	for (char *p = k->target; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = '?';
}

void amqp_describe(struct l7_parser *parser, struct amqp_content *k, const struct amqp_args *a,
		   struct amqp_channel *ch, bool server)
{
	bool publish = k->method->class_id == 60 && k->method->id == 40;

	set_target(k, a);
	amqp_add_text(parser, k, "exchange", a->exchange);
	amqp_add_text(parser, k, "routing_key", a->key);
	amqp_add_text(parser, k, "consumer", a->tag);
	if (strchr(k->method->args, 'd') && !a->cut)
		amqp_add(k, ",\"delivery\":%" PRIu64, a->delivery);
	if (k->method->class_id == 60 && (k->method->id == 80 || k->method->id == 120)) {
		if (a->bits & 1)
			amqp_add(k, ",\"multiple\":true");
		if (server)
			amqp_add(k, ",\"confirm\":true");
	}
	if (publish && ch->confirms && ch->counted)
		amqp_add(k, ",\"confirm\":%" PRIu64, ++ch->published);
	else if (publish && ch->confirms)
		amqp_add(k, ",\"confirm\":true");
	if (k->method->id == 60 && a->bits & 1)
		amqp_add(k, ",\"redelivered\":true");
	if (strchr(k->method->args, 'c'))
		snprintf(k->status, sizeof(k->status), "%u", a->code);
	amqp_add_text(parser, k, k->method->kind == AMQP_ASKS ? "reply" : "reason", a->text);
	/* The broker rejected a message, or could not route it. */
	k->m.is_error = (server && k->method->class_id == 60 &&
			 (k->method->id == 120 || k->method->id == 50)) ||
			(k->method->kind == AMQP_ASKS && a->code && a->code != 200);
}

/* ---- header and bodies ---- */

/* Wire size of header and bodies, if all bodies but the last have the maximum size. */
static uint64_t bodies_size(uint64_t body, uint64_t frame_max)
{
	uint64_t room = frame_max - AMQP_FRAME_EXTRA;

	return body + (body + room - 1) / room * AMQP_FRAME_EXTRA;
}

/*
 * If calls are not captured completely, the headers of later bodies may never be seen. Their sizes
 * are derived from the content size and the largest frame, because peers send a content in one
 * piece. 0: unknown.
 */
static uint64_t unseen_bodies(const struct amqp *s, const struct amqp_content *k,
			      const struct l7_view *v, uint64_t off, uint64_t frame_max)
{
	uint64_t sz;

	if (!s->cuts || off + AMQP_FRAME_HEAD <= v->len || frame_max < FRAME_MIN ||
	    k->left > CONTENT_MAX)
		return 0;
	sz = bodies_size(k->left, frame_max);
	if (frame_max == s->frame_max || off + sz == v->known ||
	    (off + sz < v->known && k->left + AMQP_FRAME_EXTRA <= frame_max))
		return sz;
	return 0;
}

/* Consumes `n` bytes of the content in view. With the bytes known to follow, the content may be
 * complete. */
static int64_t go_on(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		     struct amqp_content **at, uint64_t n, uint64_t frame_max, struct l7_message *m)
{
	struct amqp_content *k = *at;
	uint64_t more = k->left ? unseen_bodies(s, k, v, n, frame_max) : 0;
	bool cut;

	k->m.size += n + more;
	k->m.last_ns = v->ts_ns;
	if (more)
		k->left = 0;
	cut = k->left && v->cut && n < v->known && n + AMQP_FRAME_HEAD > v->len;
	if (k->left && !cut)
		return n;
	amqp_content_message(parser, k, m);
	m->cut = cut;
	free(k);
	*at = NULL;
	return n + more;
}

/* class:2, weight:2, body size:8, flags:2; the first two properties are texts. */
static void on_header(struct l7_parser *parser, struct amqp_content *k, const struct amqp_frame *f)
{
	struct l7_cursor c = l7_cursor_at(f->p, f->have);
	unsigned flags;
	struct span type;

	l7_take(&c, 4);
	k->body = k->left = l7_be(&c, 8);
	k->header = !c.cut;
	flags = l7_be(&c, 2);
	if (!k->header)
		return;
	amqp_add(k, ",\"bytes\":%" PRIu64, k->body);
	type = flags >> 15 ? l7_counted(&c, 1) : (struct span){"", 0};
	if (!c.cut)
		amqp_add_text(parser, k, "content_type", type);
}

int64_t amqp_on_content(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			const struct amqp_frame *f, struct amqp_channel *ch, struct l7_message *m)
{
	struct amqp_content **at = &ch->content[!v->requests], *k = *at;
	uint64_t n = AMQP_FRAME_EXTRA + (uint64_t)f->size, max = s->frame_max ?: FRAME_SIZE;

	/* Not expected: its method was not seen, or a second header. */
	if (!k || (f->type == AMQP_HEADER) == k->header)
		return n;
	if (f->type == AMQP_HEADER) {
		on_header(parser, k, f);
		if (!k->header) { /* its size was not captured */
			amqp_content_message(parser, k, m);
			m->size += n;
			m->cut = true;
			free(k);
			*at = NULL;
			return n;
		}
	} else if (f->size > k->left) {
		return L7_BAD;
	} else {
		k->left -= f->size;
		/* A body followed by another one has the maximum size. */
		s->frame_max = k->left ? n : s->frame_max;
		max = n;
	}
	return go_on(s, parser, v, at, n, max, m);
}
