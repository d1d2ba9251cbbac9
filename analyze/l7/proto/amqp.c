/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AMQP 0-9-1 (rabbitmq.com/resources/specs/amqp0-9-1.pdf, and RabbitMQ's extensions of it).
 *
 *   frame     type:1  channel:2  size:4 (big endian)  payload  0xCE
 *   method    class:2  method:2  arguments          header  class:2  0:2  body size:8  properties
 *
 * A synchronous method is answered on its channel by its -ok method (get: by get-ok or get-empty),
 * whichever side sent it; answers come in order. A content (publish, deliver, return, get-ok)
 * consists of its method, a header and bodies, with frames of other channels possibly in between.
 * It is one message, delivered with its last body. If the server closes a channel, the close
 * answers the method that caused it, and the reply code is the status.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/l7/proto/amqp.h"

enum { SIZE_END = 12 /* of a header's body size */ };

/* Status of an answer: that of the close it answers, EMPTY, or OK. */
static void set_answer(struct amqp *s, struct amqp_content *k, const struct amqp_frame *f,
		       const struct amqp_args *a, struct amqp_channel *ch, bool server)
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
		amqp_add(k, ",\"messages\":%u,\"consumers\":%u", a->number[0], a->number[1]);
	else if (strchr(m->args, 'm') && m->kind == AMQP_ANSWERS && f->channel && !a->cut)
		amqp_add(k, ",\"messages\":%u", a->number[0]);
	if (m->class_id == 10 && m->id == 31 && a->number[0])
		s->frame_max = a->number[0];
}

/* Fills k from a method frame. */
static void begin(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
		  const struct amqp_frame *f, struct amqp_channel *ch, struct amqp_content *k)
{
	struct amqp_args a = amqp_method_args(f);
	const struct amqp_method *m = f->method;
	bool server = !v->requests, closes = strchr(m->args, 'i') != NULL;

	*k = (struct amqp_content){.method = m, .header = !m->content};
	k->m.first_ns = k->m.last_ns = v->ts_ns;
	k->m.size = AMQP_FRAME_EXTRA + (uint64_t)f->size;
	k->m.dir = v->requests ? l7_requests_dir(parser) : !l7_requests_dir(parser);
	amqp_describe(parser, k, &a, ch, server);
	if (m->kind == AMQP_ANSWERS) {
		k->m.type = L7_RESPONSE;
		set_answer(s, k, f, &a, ch, server);
		amqp_add_text(parser, k, "queue", a.queue);
		k->m.id = amqp_answered(s, parser, f, server);
		return;
	}
	if (closes && !a.cut) {
		const struct amqp_method *cause = amqp_method_find(a.class_id, a.method_id);

		ch->close_code[server] = a.code;
		if (cause)
			amqp_add(k, ",\"cause\":\"%s\"", cause->name);
		amqp_answer_cause(s, parser, v, f, &a, server);
	}
	k->m.type = L7_ONEWAY;
	if (m->kind == AMQP_ASKS && !(a.bits & m->no_wait)) {
		k->m.type = L7_REQUEST;
		k->m.id = amqp_ask(s, parser, f, server);
	}
}

static int64_t on_method(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
			 const struct amqp_frame *f, struct amqp_channel *ch, struct l7_message *m)
{
	uint64_t n = AMQP_FRAME_EXTRA + (uint64_t)f->size;
	struct amqp_content **at = &ch->content[!v->requests], *k;

	amqp_content_cut(parser, at);
	k = malloc(sizeof(*k));
	if (!k)
		return n;
	begin(s, parser, v, f, ch, k);
	if (!f->method->content) {
		amqp_content_message(parser, k, m);
		free(k);
		return n;
	}
	if (v->cut && n < v->known && n + AMQP_FRAME_HEAD + SIZE_END > v->len) {
		amqp_content_message(parser, k, m);
		m->cut = true;
		free(k);
		return n;
	}
	*at = k;
	return n;
}

static int64_t greeting(const struct l7_view *v, struct l7_message *m)
{
	if (v->len < AMQP_GREETING_SZ)
		return L7_PARTIAL;
	if (!v->requests) { /* a server that does not support the version offered */
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
	struct amqp_channel *ch;
	enum amqp_at at;
	bool whole;

	s->cuts |= v->cut;
	if (parser->after_hole)
		amqp_after_hole(s, parser, v);
	amqp_forget_holes(s);
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
	ch = amqp_channel(s, f.channel);
	if (!ch)
		return AMQP_FRAME_EXTRA + (int64_t)f.size;
	if (f.type != AMQP_METHOD)
		return amqp_on_content(s, parser, v, &f, ch, m);
	if (!(f.method->from & (v->requests ? AMQP_FROM_CLIENT : AMQP_FROM_SERVER)))
		return L7_BAD;
	return on_method(s, parser, v, &f, ch, m);
}

static void amqp_finish(struct l7_parser *parser)
{
	struct amqp *s = parser->state;

	for (struct amqp_channel *c = s->channels; c; c = c->next)
		for (int i = 0; i < 2; i++)
			amqp_content_cut(parser, &c->content[i]);
}

static void amqp_fini(void *state)
{
	struct amqp *s = state;

	amqp_channels_free(s);
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
