/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "waiting.h"

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
	l->tail++;
}

struct waiting *waiting_take(struct waiting_list *l, struct waiting *w)
{
	*(w->prev ? &w->prev->next : &l->oldest) = w->next;
	*(w->next ? &w->next->prev : &l->newest) = w->prev;
	l->cnt--;
	if (l->tail > l->cnt)
		l->tail = l->cnt;
	return w;
}
