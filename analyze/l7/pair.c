/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "pair.h"

/* More than this many without an answer: the oldest goes out unpaired (a peer that never answers).
 */
enum { WAITING_MAX = 65536 };

struct waiting {
	struct waiting *next;
	struct l7_message m;
	char text[];
};

static struct span keep(char **p, struct span s)
{
	struct span copy = {*p, s.len};

	if (s.len)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return copy;
}

static struct waiting *waiting_new(const struct l7_message *m)
{
	size_t sz = m->method.len + m->target.len + m->status.len + m->detail.len;
	struct waiting *w = malloc(sizeof(*w) + sz);
	char *p;

	if (!w)
		return NULL;
	p = w->text;
	w->next = NULL;
	w->m = *m;
	w->m.method = keep(&p, m->method);
	w->m.target = keep(&p, m->target);
	w->m.status = keep(&p, m->status);
	w->m.detail = keep(&p, m->detail);
	return w;
}

void pair_init(struct pair *p, bool by_id, void (*out)(void *ctx, const struct l7_exchange *x),
	       void *ctx)
{
	*p = (struct pair){.by_id = by_id, .out = out, .ctx = ctx};
	p->reqs_end = &p->reqs;
	p->resps_end = &p->resps;
}

static void hand_out(struct pair *p, const struct l7_message *req, const struct l7_message *resp,
		     bool paired)
{
	struct l7_exchange x = {.request = req, .response = resp, .paired = paired};

	if (paired)
		p->paired++;
	else
		p->unpaired++;
	p->out(p->ctx, &x);
}

static struct waiting *take(struct waiting **list, struct waiting ***end, struct waiting **at,
			    size_t *cnt)
{
	struct waiting *w = *at;

	*at = w->next;
	if (!*at)
		*end = at;
	(*cnt)--;
	return w;
}

static struct waiting *take_request(struct pair *p, struct waiting **at)
{
	return take(&p->reqs, &p->reqs_end, at, &p->req_cnt);
}

/* Everything held goes out; `agree`: in order as pairs, else each alone. */
static void settle(struct pair *p, bool agree)
{
	while (p->reqs || p->resps) {
		struct waiting *req = p->reqs ? take_request(p, &p->reqs) : NULL;
		struct waiting *resp = NULL;

		if (p->resps && (agree || !req))
			resp = take(&p->resps, &p->resps_end, &p->resps, &p->resp_cnt);
		hand_out(p, req ? &req->m : NULL, resp ? &resp->m : NULL, req && resp);
		free(req);
		free(resp);
	}
}

void pair_hole(struct pair *p)
{
	if (p->by_id)
		return;
	p->tainted |= p->unsure && (p->reqs || p->resps);
	p->unsure = true;
}

/* peer 0: of anyone. */
static struct waiting **find(struct pair *p, uint64_t id, uint32_t peer)
{
	struct waiting **at = &p->reqs;

	if (p->by_id)
		while (*at && ((*at)->m.id != id || (peer && (*at)->m.peer != peer)))
			at = &(*at)->next;
	return at;
}

static void give_up(struct pair *p, struct waiting **at)
{
	struct waiting *w = *at ? take_request(p, at) : NULL;

	if (w)
		hand_out(p, &w->m, NULL, false);
	free(w);
}

static void add_request(struct pair *p, const struct l7_message *m)
{
	struct waiting *w;

	/* An id is used again: the answer to the one before was lost, or it was asked anew. */
	if (p->by_id && m->id)
		give_up(p, find(p, m->id, m->peer));
	/* A request after responses begins another burst: the one before is complete. */
	if (p->unsure && p->resp_cnt) {
		bool agree = p->resp_cnt == p->req_cnt && !p->tainted;

		settle(p, agree);
		p->unsure = !agree;
		p->tainted = false;
	}
	if (p->req_cnt >= WAITING_MAX) {
		w = take_request(p, &p->reqs);
		hand_out(p, &w->m, NULL, false);
		free(w);
	}
	w = waiting_new(m);
	if (!w) {
		hand_out(p, m, NULL, false);
		return;
	}
	*p->reqs_end = w;
	p->reqs_end = &w->next;
	p->req_cnt++;
}

static void add_response(struct pair *p, const struct l7_message *m)
{
	struct waiting **at, *w;

	if (m->interim)
		return;
	if (p->unsure) {
		w = waiting_new(m);
		if (!w)
			return;
		*p->resps_end = w;
		p->resps_end = &w->next;
		if (++p->resp_cnt > WAITING_MAX)
			settle(p, false);
		return;
	}
	at = find(p, m->id, m->peer);
	if (!*at) {
		hand_out(p, NULL, m, false);
		return;
	}
	w = take_request(p, at);
	hand_out(p, &w->m, m, true);
	free(w);
}

void pair_give_up(struct pair *p, uint64_t id)
{
	if (p->by_id)
		give_up(p, find(p, id, 0));
}

void pair_add(struct pair *p, const struct l7_message *m)
{
	struct l7_exchange x = {.request = m};

	switch (m->type) {
	case L7_REQUEST:
		add_request(p, m);
		break;
	case L7_RESPONSE:
		add_response(p, m);
		break;
	case L7_ONEWAY:
		p->out(p->ctx, &x);
		break;
	case L7_SKIP:
		break;
	}
}

const struct l7_message *pair_pending(const struct pair *p, uint64_t id)
{
	struct waiting **at = find((struct pair *)p, id, 0);

	/* While unsure the responses held have taken as many of the oldest, if the burst is whole.
	 */
	if (!p->by_id)
		for (size_t i = 0; i < p->resp_cnt && *at; i++)
			at = &(*at)->next;
	return *at ? &(*at)->m : NULL;
}

void pair_fini(struct pair *p)
{
	settle(p, p->unsure && p->req_cnt == p->resp_cnt && !p->tainted);
}
