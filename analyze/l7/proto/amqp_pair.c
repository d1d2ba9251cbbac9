/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>

#include "analyze/l7/proto/amqp.h"

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

/* Gives up all but the newest `keep` requests of that side that wait on the channel (-1: all
 * channels). */
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

uint64_t amqp_ask(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f, bool server)
{
	/* Most clients wait for an answer before they send the next request on a channel. */
	if (s->lost_answers[server] && !s->order.pipelines)
		give_up_old(s, parser, f->channel, server, 0);
	return order_push(&s->order, kind_of(f->channel, server, f->method));
}

/* Older requests of that channel have lost their answers. */
uint64_t amqp_answered(struct amqp *s, struct l7_parser *parser, const struct amqp_frame *f,
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

void amqp_answer_cause(struct amqp *s, struct l7_parser *parser, const struct l7_view *v,
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

void amqp_after_hole(struct amqp *s, struct l7_parser *parser, const struct l7_view *v)
{
	bool server = !v->requests;

	for (struct amqp_channel *c = s->channels; c; c = c->next) {
		amqp_content_cut(parser, &c->content[server]);
		c->counted &= server;
	}
	s->lost_answers[!server] = s->lost_questions[server] = true;
	/* For both sides, because the answer may belong to another request. */
	for (int side = 0; side < 2; side++)
		if (s->lost_answers[side] && s->lost_questions[side])
			give_up_old(s, parser, -1, side, 0);
	if (s->order.pipelines) {
		order_give_up(&s->order, parser, 0);
		return;
	}
	for (struct amqp_channel *c = s->channels; c; c = c->next)
		give_up_old(s, parser, c->number, !server, 1);
}

static bool any_waits(const struct amqp *s, bool server)
{
	for (size_t i = 0; i < s->order.cnt; i++)
		if ((item(s, i)->kind >> 8 & 1) == server)
			return true;
	return false;
}

void amqp_forget_holes(struct amqp *s)
{
	for (int side = 0; side < 2; side++)
		if ((s->lost_answers[side] || s->lost_questions[side]) && !any_waits(s, side))
			s->lost_answers[side] = s->lost_questions[side] = false;
}
