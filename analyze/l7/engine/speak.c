/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/conn.h"

/* Which side is the client: by the content, else as the recorder reported, else by who sent
 * first. */
static enum l7_role decide_role(const struct l7_conn *c, int requests_sent)
{
	if (requests_sent >= 0)
		return requests_sent ? L7_CLIENT : L7_SERVER;
	if (c->opts.role != L7_ROLE_UNKNOWN)
		return c->opts.role;
	return c->first_dir == L7_SENT ? L7_CLIENT : L7_SERVER;
}

static void deliver(void *ctx, const struct l7_exchange *x)
{
	struct l7_conn *c = ctx;

	c->opts.sink(c->opts.ctx, c, x);
}

void speak_take(struct l7_conn *c, const struct l7_protocol *p, int requests_sent)
{
	void *state = p->state_sz ? calloc(1, p->state_sz) : NULL;

	if (p->state_sz && !state)
		return;
	c->role = decide_role(c, requests_sent);
	c->protocol = p;
	c->parser = (struct l7_parser){
		.engine = c, .opts = &c->opts, .state = state, .arena = c->arena};
	pair_init(&c->pair, p, c->opts.late, deliver, c);
}

void speak_flush(struct l7_conn *c)
{
	for (int d = 0; d < 2; d++)
		if (c->dir[d].tail)
			tail_release(c, &c->dir[d]);
	if (c->protocol->finish)
		c->protocol->finish(&c->parser);
	arena_reset(c->arena);
	pair_fini(&c->pair);
}

void speak_drop(struct l7_conn *c)
{
	if (!c->protocol)
		return;
	speak_flush(c);
	c->stats.paired += c->pair.out.paired;
	c->stats.unpaired += c->pair.out.unpaired;
	c->stats.missing += c->pair.out.missing;
	if (c->protocol->fini)
		c->protocol->fini(c->parser.state);
	free(c->parser.state);
	c->parser.state = NULL;
	c->protocol = NULL;
}

void speak_switch(struct l7_conn *c, const char *name)
{
	const struct l7_protocol *const *p = l7_protocols;
	bool client = c->role == L7_CLIENT;
	struct waiting *w;

	while (*p && strcmp((*p)->name, name))
		p++;
	if (!*p) {
		c->opaque = true;
		return;
	}
	w = pair_take_oldest(&c->pair);
	speak_drop(c);
	speak_take(c, *p, client);
	if (c->protocol && w) {
		w->m.id = 1;
		pair_add(&c->pair, &w->m);
	}
	free(w);
}
