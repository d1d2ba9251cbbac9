/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/waiting.h"

static struct span keep(char **p, struct span s)
{
	struct span copy = {*p, s.len};

	if (s.len)
		memcpy(*p, s.p, s.len);
	*p += s.len;
	return copy;
}

struct waiting *waiting_new(const struct l7_message *m)
{
	size_t sz = m->method.len + m->target.len + m->status.len + m->detail.len;
	struct waiting *w = malloc(sizeof(*w) + sz);
	char *p;

	if (!w)
		return NULL;
	p = w->text;
	w->next = w->prev = w->same = NULL;
	w->holes = 0;
	w->missed = false;
	w->text_sz = sz;
	w->m = *m;
	w->m.method = keep(&p, m->method);
	w->m.target = keep(&p, m->target);
	w->m.status = keep(&p, m->status);
	w->m.detail = keep(&p, m->detail);
	return w;
}

void waiting_push(struct waiting_list *l, struct waiting *w)
{
	w->prev = l->newest;
	w->next = NULL;
	*(l->newest ? &l->newest->next : &l->oldest) = w;
	l->newest = w;
	l->cnt++;
	l->text_sz += w->text_sz;
	l->tail++;
}

struct waiting *waiting_nth(struct waiting_list *l, size_t n)
{
	bool on = l->found && l->found_at <= n;
	struct waiting *w = on ? l->found : l->oldest;

	if (n >= l->cnt)
		return NULL;
	for (size_t i = on ? l->found_at : 0; i < n; i++)
		w = w->next;
	l->found = w;
	l->found_at = n;
	return w;
}

struct waiting *waiting_take(struct waiting_list *l, struct waiting *w)
{
	if (w == l->found || w != l->oldest)
		l->found = NULL;
	l->found_at--;
	*(w->prev ? &w->prev->next : &l->oldest) = w->next;
	*(w->next ? &w->next->prev : &l->newest) = w->prev;
	l->cnt--;
	l->text_sz -= w->text_sz;
	if (l->tail > l->cnt)
		l->tail = l->cnt;
	return w;
}

void waiting_move(struct waiting_list *to, struct waiting_list *from, size_t n)
{
	while (n-- && from->oldest)
		waiting_push(to, waiting_take(from, from->oldest));
}

void waiting_hand_out(struct pair_out *out, struct waiting_list *reqs, struct waiting_list *resps,
		      enum l7_why why)
{
	/* The difference of both sides is a minimum: each side may lack more. */
	if (why == L7_NOT_KEPT)
		out->missing +=
			reqs->cnt > resps->cnt ? reqs->cnt - resps->cnt : resps->cnt - reqs->cnt;
	while (reqs->oldest) {
		struct waiting *w = waiting_take(reqs, reqs->oldest);

		if (!w->missed)
			pair_hand_out(out, &w->m, NULL, false, why);
		free(w);
	}
	while (resps->oldest) {
		struct waiting *w = waiting_take(resps, resps->oldest);

		pair_hand_out(out, NULL, &w->m, false, why);
		free(w);
	}
}

void waiting_hand_out_tail(struct pair_out *out, struct waiting_list *reqs,
			   struct waiting_list *resps, size_t n, enum l7_why why)
{
	struct waiting_list q = {0}, a = {0};

	waiting_move(&q, reqs, reqs->cnt - n);
	waiting_move(&a, resps, resps->cnt - n);
	waiting_hand_out(out, &q, &a, why);
	while (reqs->oldest) {
		struct waiting *req = waiting_take(reqs, reqs->oldest),
			       *resp = waiting_take(resps, resps->oldest);

		pair_hand_out(out, req->missed ? NULL : &req->m, &resp->m, !req->missed, why);
		free(req);
		free(resp);
	}
}

static bool has_quiet(const struct waiting_list *reqs)
{
	for (const struct waiting *w = reqs->oldest; w; w = w->next)
		if (w->m.quiet)
			return true;
	return false;
}

size_t waiting_tails(const struct waiting_list *reqs, const struct waiting_list *resps)
{
	if (has_quiet(reqs))
		return 0;
	return reqs->tail < resps->tail ? reqs->tail : resps->tail;
}

bool waiting_agree(const struct waiting_list *reqs, const struct waiting_list *resps)
{
	return reqs->cnt == resps->cnt && waiting_tails(reqs, resps) == reqs->cnt;
}
