/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AMQP 0-9-1 (rabbitmq.com/resources/specs/amqp0-9-1.pdf, and RabbitMQ's extensions of it).
 *
 *   frame     type:1  channel:2  size:4 (big endian)  payload  0xCE
 *   method    class:2  method:2  arguments          header  class:2  0:2  body size:8  properties
 *
 * A method that asks is answered on its channel by its -ok (get: by get-ok or get-empty), whichever
 * side asks; answers come in order. A content (publish, deliver, return, get-ok) is its method, a
 * header and bodies, between which frames of other channels may stand: one message, given out with
 * its last body. What the server closes a channel for is answered by that: the reply code is its
 * status.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "amqp_method.h"
#include "order.h"

enum {
	TARGET_MAX = 512,
	SHOWN_MAX = 128,
	DETAIL_MAX = 1024,
	CHANNELS_MAX = 1024,
	SIZE_END = 12, /* of a header's body size */
	FRAME_MIN = 4096,
	FRAME_SIZE = 131072 /* what peers agree on where nothing else is known */
};

#define CONTENT_MAX (1ull << 40)

/* A message being gathered. */
struct content {
	struct l7_message m; /* without strings */
	const struct amqp_method *method;
	bool header;
	uint64_t body, left;
	char target[TARGET_MAX], status[8], detail[DETAIL_MAX];
};

struct channel {
	struct channel *next;
	uint16_t number;
	bool confirms, counted; /* counted: every publish since confirm.select was seen */
	uint64_t published;
	uint16_t close_code[2]; /* of the client's, the server's close that waits for its answer */
	struct content *content[2]; /* by who sends: client, server */
};

struct amqp {
	struct order order; /* kind: channel << 16, server asks << 8, method */
	struct channel *channels;
	size_t channel_cnt;
	uint32_t frame_max; /* 0: not known */
	bool cuts;	    /* calls are not kept whole */
	/* While one waits: to what the client, the server asked; of what it sent. */
	bool lost_answers[2], lost_questions[2];
};

/* ---- channels and contents ---- */

static void channel_free(struct channel *c)
{
	free(c->content[0]);
	free(c->content[1]);
	free(c);
}

/* Last used first; NULL without memory. */
static struct channel *channel_of(struct amqp *s, uint16_t number)
{
	struct channel **at = &s->channels, *c;

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

static void add(struct content *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct content *k, const char *fmt, ...)
{
	size_t at = strlen(k->detail);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(k->detail + at, sizeof(k->detail) - at, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(k->detail) - at) /* whole members only */
		k->detail[at] = 0;
}

static void set_strings(struct l7_parser *parser, struct content *k, struct l7_message *m)
{
	*m = k->m;
	m->method = (struct span){k->method->name, strlen(k->method->name)};
	m->target = l7_keep(parser, (struct span){k->target, strlen(k->target)});
	m->status = l7_keep(parser, (struct span){k->status, strlen(k->status)});
	if (k->left || !k->header)
		add(k, ",\"cut\":true");
	if (*k->detail)
		m->detail = l7_text(parser, "{%s}", k->detail + 1);
}

/* A content whose end is not known: that much was sent. */
static void deliver_cut(struct l7_parser *parser, struct content **at)
{
	struct content *k = *at;
	struct l7_message m;

	if (!k)
		return;
	set_strings(parser, k, &m);
	l7_deliver(parser, &m);
	free(k);
	*at = NULL;
}

/* ---- what is shown of a method ---- */

static void add_text(struct l7_parser *parser, struct content *k, const char *name, struct span s)
{
	if (s.len)
		add(k, ",\"%s\":\"%s\"", name, l7_json(parser, s, SHOWN_MAX).p);
}

/* exchange/routing key, queue, or virtual host: what the method is about. */
static void set_target(struct content *k, const struct amqp_args *a)
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

static void describe(struct l7_parser *parser, struct content *k, const struct amqp_args *a,
		     struct channel *ch, bool server)
{
	bool publish = k->method->class_id == 60 && k->method->id == 40;

	set_target(k, a);
	add_text(parser, k, "exchange", a->exchange);
	add_text(parser, k, "routing_key", a->key);
	add_text(parser, k, "consumer", a->tag);
	if (strchr(k->method->args, 'd') && !a->cut)
		add(k, ",\"delivery\":%" PRIu64, a->delivery);
	if (k->method->class_id == 60 && (k->method->id == 80 || k->method->id == 120)) {
		if (a->bits & 1)
			add(k, ",\"multiple\":true");
		if (server)
			add(k, ",\"confirm\":true");
	}
	if (publish && ch->confirms && ch->counted)
		add(k, ",\"confirm\":%" PRIu64, ++ch->published);
	else if (publish && ch->confirms)
		add(k, ",\"confirm\":true");
	if (k->method->id == 60 && a->bits & 1)
		add(k, ",\"redelivered\":true");
	if (strchr(k->method->args, 'c'))
		snprintf(k->status, sizeof(k->status), "%u", a->code);
	add_text(parser, k, k->method->kind == AMQP_ASKS ? "reply" : "reason", a->text);
	/* A broker that did not take a message, or could not route it. */
	k->m.is_error = (server && k->method->class_id == 60 &&
			 (k->method->id == 120 || k->method->id == 50)) ||
			(k->method->kind == AMQP_ASKS && a->code && a->code != 200);
}

/* ---- pairing ---- */

static unsigned kind_of(uint16_t channel, bool server, const struct amqp_method *m)
{
	return (unsigned)channel << 16 | (unsigned)server << 8 | (unsigned)amqp_method_index(m);
}

static struct order_item *item(const struct amqp *s, size_t i)
{
	return &s->order.items[s->order.first + i];
}

static void give_up(struct amqp *s, struct l7_parser *parser, size_t i)
{
	l7_give_up(parser, item(s, i)->id);
	order_take(&s->order, i);
}

/* Of what waits on the channel (all channels: -1) for that side all but the newest `keep`. */
static void give_up_old(struct amqp *s, struct l7_parser *parser, int channel, bool server,
			size_t keep)
{
	for (size_t i = s->order.cnt; i-- > 0;) {
		unsigned kind = item(s, i)->kind;

		if ((kind >> 8 & 1) != server || (channel >= 0 && kind >> 16 != (unsigned)channel))
			continue;
		if (keep)
			keep--;
		else
			give_up(s, parser, i);
	}
}

static uint64_t ask(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
		    bool server)
{
	/* Most wait for an answer before they ask again on a channel. */
	if (s->lost_answers[server] && !s->order.pipelines)
		give_up_old(s, parser, f->channel, server, 0);
	return order_push(&s->order, kind_of(f->channel, server, f->method));
}

/* The oldest of the channel that f answers; 0: none. What waited longer there has lost its own. */
static uint64_t answered(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
			 bool server)
{
	size_t found = s->order.cnt, waits = 0;
	uint64_t id;

	for (size_t i = 0; i < s->order.cnt; i++) {
		unsigned kind = item(s, i)->kind;
		const struct amqp_method *m = amqp_method_by_index(kind & 0xff);

		if (kind >> 16 != f->channel || (kind >> 8 & 1) == server)
			continue;
		waits++;
		if (found == s->order.cnt && m->class_id == f->method->class_id &&
		    m->id == f->method->answers)
			found = i;
	}
	if (found == s->order.cnt)
		return 0;
	id = item(s, found)->id;
	s->order.pipelines |= waits > 1 && !s->lost_answers[!server];
	order_take(&s->order, found);
	for (size_t i = found; i-- > 0;)
		if (item(s, i)->kind >> 16 == f->channel && (item(s, i)->kind >> 8 & 1) != server)
			give_up(s, parser, i);
	return id;
}

/* What the closing side names as the cause gets the reply code for its answer. */
static void answer_cause(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			 const struct amqp_frame *f, const struct amqp_args *a, bool server)
{
	const struct amqp_method *cause = amqp_method_find(a->class_id, a->method_id);

	for (size_t i = 0; cause && i < s->order.cnt; i++) {
		unsigned kind = item(s, i)->kind;
		struct l7_message m = {.type = L7_RESPONSE, .id = item(s, i)->id};

		if (kind >> 8 != (kind_of(f->channel, !server, cause) >> 8) ||
		    amqp_method_by_index(kind & 0xff) != cause)
			continue;
		m.first_ns = m.last_ns = v->ts_ns;
		m.size = AMQP_FRAME_EXTRA + (uint64_t)f->size;
		m.dir = v->requests ? l7_requests_dir(parser) : !l7_requests_dir(parser);
		m.is_error = a->code && a->code != 200;
		m.status = l7_text(parser, "%u", a->code);
		m.detail = l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, a->text, 200).p);
		l7_deliver(parser, &m);
		order_take(&s->order, i);
		return;
	}
}

/* ---- frames ---- */

/* The answer's status: that of the close it answers, EMPTY, or OK. */
static void set_answer(struct amqp *s, struct content *k, const struct amqp_frame *f,
		       const struct amqp_args *a, struct channel *ch, bool server)
{
	const struct amqp_method *m = f->method;
	uint16_t *code = &ch->close_code[!server];
	bool closed = m == amqp_method_find(10, 51) || m == amqp_method_find(20, 41);

	snprintf(k->status, sizeof(k->status), "%s", m->id == 72 ? "EMPTY" : "OK");
	if (closed && *code) {
		snprintf(k->status, sizeof(k->status), "%u", *code);
		k->m.is_error = *code != 200;
		*code = 0;
	}
	if (m->class_id == 85) {
		ch->confirms = ch->counted = true;
		ch->published = 0;
	}
	if (m->class_id == 50 && m->id == 11 && !a->cut)
		add(k, ",\"messages\":%u,\"consumers\":%u", a->number[0], a->number[1]);
	else if (strchr(m->args, 'm') && m->kind == AMQP_ANSWERS && f->channel && !a->cut)
		add(k, ",\"messages\":%u", a->number[0]);
	if (m->class_id == 10 && m->id == 31 && a->number[0])
		s->frame_max = a->number[0];
}

/* Fills k of a method frame. */
static void begin(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		  const struct amqp_frame *f, struct channel *ch, struct content *k)
{
	struct amqp_args a = amqp_method_args(f);
	const struct amqp_method *m = f->method;
	bool server = !v->requests, closes = strchr(m->args, 'i') != NULL;

	*k = (struct content){.method = m, .header = !m->content};
	k->m.first_ns = k->m.last_ns = v->ts_ns;
	k->m.size = AMQP_FRAME_EXTRA + (uint64_t)f->size;
	k->m.dir = v->requests ? l7_requests_dir(parser) : !l7_requests_dir(parser);
	describe(parser, k, &a, ch, server);
	if (m->kind == AMQP_ANSWERS) {
		k->m.type = L7_RESPONSE;
		set_answer(s, k, f, &a, ch, server);
		add_text(parser, k, "queue", a.queue);
		k->m.id = answered(s, parser, f, server);
		return;
	}
	if (closes && !a.cut) {
		const struct amqp_method *cause = amqp_method_find(a.class_id, a.method_id);

		ch->close_code[server] = a.code;
		if (cause)
			add(k, ",\"cause\":\"%s\"", cause->name);
		answer_cause(s, parser, v, f, &a, server);
	}
	k->m.type = L7_ONEWAY;
	if (m->kind == AMQP_ASKS && !(a.bits & m->no_wait)) {
		k->m.type = L7_REQUEST;
		k->m.id = ask(s, parser, f, server);
	}
}

/* What header and bodies will take, when each body but the last is as large as it may be. */
static uint64_t bodies_size(uint64_t body, uint64_t frame_max)
{
	uint64_t room = frame_max - AMQP_FRAME_EXTRA;

	return body + (body + room - 1) / room * AMQP_FRAME_EXTRA;
}

/*
 * Where calls are not kept whole the heads of the bodies to come may never be seen: their sizes are
 * told by the content's and by the largest frame, as peers send a content in one piece. 0: unknown.
 */
static uint64_t unseen_bodies(const struct amqp *s, const struct content *k,
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

/* `n` bytes of the content lie in view; with what is known to lie behind them it may be whole. */
static int64_t go_on(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		     struct content **at, uint64_t n, uint64_t frame_max, struct l7_message *m)
{
	struct content *k = *at;
	uint64_t more = k->left ? unseen_bodies(s, k, v, n, frame_max) : 0;
	bool cut;

	k->m.size += n + more;
	k->m.last_ns = v->ts_ns;
	if (more)
		k->left = 0;
	cut = k->left && v->cut && n < v->known && n + AMQP_FRAME_HEAD > v->len;
	if (k->left && !cut)
		return n;
	set_strings(parser, k, m);
	m->cut = cut;
	free(k);
	*at = NULL;
	return n + more;
}

/* class:2, weight:2, body size:8, flags:2; the first two properties are texts. */
static void on_header(struct l7_parser *parser, struct content *k, const struct amqp_frame *f)
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
	add(k, ",\"bytes\":%" PRIu64, k->body);
	type = flags >> 15 ? l7_counted(&c, 1) : (struct span){"", 0};
	if (!c.cut)
		add_text(parser, k, "content_type", type);
}

static int64_t on_content(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			  const struct amqp_frame *f, struct channel *ch, struct l7_message *m)
{
	struct content **at = &ch->content[!v->requests], *k = *at;
	uint64_t n = AMQP_FRAME_EXTRA + (uint64_t)f->size, max = s->frame_max ?: FRAME_SIZE;

	/* Without its method, which was not seen; or a header twice. */
	if (!k || (f->type == AMQP_HEADER) == k->header)
		return n;
	if (f->type == AMQP_HEADER) {
		on_header(parser, k, f);
		if (!k->header) { /* its size was not kept */
			set_strings(parser, k, m);
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
		/* One that another follows is as large as may be. */
		s->frame_max = k->left ? n : s->frame_max;
		max = n;
	}
	return go_on(s, parser, v, at, n, max, m);
}

static int64_t on_method(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			 const struct amqp_frame *f, struct channel *ch, struct l7_message *m)
{
	uint64_t n = AMQP_FRAME_EXTRA + (uint64_t)f->size;
	struct content **at = &ch->content[!v->requests], *k;

	deliver_cut(parser, at);
	k = malloc(sizeof(*k));
	if (!k)
		return n;
	begin(s, parser, v, f, ch, k);
	if (!f->method->content) {
		set_strings(parser, k, m);
		free(k);
		return n;
	}
	if (v->cut && n < v->known && n + AMQP_FRAME_HEAD + SIZE_END > v->len) {
		set_strings(parser, k, m);
		m->cut = true;
		free(k);
		return n;
	}
	*at = k;
	return n;
}

/* Bytes before this view are missing: contents end there, answers may have been among them. */
static void after_hole(struct amqp *s, struct l7_parser *parser, const struct l7_view *v)
{
	bool server = !v->requests;

	for (struct channel *c = s->channels; c; c = c->next) {
		deliver_cut(parser, &c->content[server]);
		c->counted &= server;
	}
	s->lost_answers[!server] = s->lost_questions[server] = true;
	/* Of both: an answer may be another question's. */
	for (int side = 0; side < 2; side++)
		if (s->lost_answers[side] && s->lost_questions[side])
			give_up_old(s, parser, -1, side, 0);
	if (s->order.pipelines) {
		order_give_up(&s->order, parser, 0);
		return;
	}
	for (struct channel *c = s->channels; c; c = c->next)
		give_up_old(s, parser, c->number, !server, 1);
}

static bool any_waits(const struct amqp *s, bool server)
{
	for (size_t i = 0; i < s->order.cnt; i++)
		if ((item(s, i)->kind >> 8 & 1) == server)
			return true;
	return false;
}

static int64_t greeting(const struct l7_view *v, struct l7_message *m)
{
	if (v->len < AMQP_GREETING_SZ)
		return L7_PARTIAL;
	if (!v->requests) { /* a server that does not speak what was offered */
		m->type = L7_ONEWAY;
		m->method = (struct span){"protocol-header", 15};
		m->status = (struct span){"0-9-1", 5};
		m->is_error = true;
	}
	return AMQP_GREETING_SZ;
}

static int64_t amqp_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct amqp *s = parser->state;
	struct amqp_frame f;
	struct channel *ch;
	enum amqp_at at;
	bool whole;

	s->cuts |= v->cut;
	if (parser->after_hole)
		after_hole(s, parser, v);
	for (int side = 0; side < 2; side++)
		if ((s->lost_answers[side] || s->lost_questions[side]) && !any_waits(s, side))
			s->lost_answers[side] = s->lost_questions[side] = false;
	if (amqp_is_greeting(v->p, v->len))
		return greeting(v, m);
	at = amqp_frame_at(v, 0, &f);
	if (at != AMQP_FRAME)
		return at == AMQP_NOT ? L7_BAD : L7_PARTIAL;
	whole = f.have == f.size && v->len > AMQP_FRAME_HEAD + (size_t)f.size;
	if (!whole && f.type != AMQP_BODY && !v->cut && !v->last)
		return L7_PARTIAL;
	if (f.type == AMQP_HEARTBEAT) {
		m->type = L7_ONEWAY;
		m->method = (struct span){"heartbeat", 9};
		return AMQP_FRAME_EXTRA;
	}
	ch = channel_of(s, f.channel);
	if (!ch)
		return AMQP_FRAME_EXTRA + (int64_t)f.size;
	if (f.type != AMQP_METHOD)
		return on_content(s, parser, v, &f, ch, m);
	if (!(f.method->from & (v->requests ? AMQP_FROM_CLIENT : AMQP_FROM_SERVER)))
		return L7_BAD;
	return on_method(s, parser, v, &f, ch, m);
}

static void amqp_finish(struct l7_parser *parser)
{
	struct amqp *s = parser->state;

	for (struct channel *c = s->channels; c; c = c->next)
		for (int i = 0; i < 2; i++)
			deliver_cut(parser, &c->content[i]);
}

static void amqp_fini(void *state)
{
	struct amqp *s = state;

	while (s->channels) {
		struct channel *next = s->channels->next;

		channel_free(s->channels);
		s->channels = next;
	}
	free(s->order.items);
}

const struct l7_protocol l7_amqp = {
	.name = "amqp",
	.bid = amqp_bid,
	.parse = amqp_parse,
	.resync = amqp_resync,
	.finish = amqp_finish,
	.state_sz = sizeof(struct amqp),
	.fini = amqp_fini,
	.pair_by_id = true,
	.ports = {5672},
};
