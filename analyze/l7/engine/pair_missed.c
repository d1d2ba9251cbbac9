/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_missed.h"

enum {
	ENOUGH = 64, /* messages needed, all of one size */
	SOME = 16,   /* messages needed before lengths give bounds */
};

void pair_missed_begin(struct pair_missed *p)
{
	p->side[0].bytes = p->side[1].bytes = 0;
}

void pair_missed_hole(struct pair_missed *p, bool requests)
{
	p->side[requests].hole = true;
}

static bool are_alike(const struct pair_missed *p, bool requests, uint64_t bytes)
{
	uint64_t longest = p->side[requests].longest;

	return !p->alone && bytes < L7_MISSED_UNKNOWN && p->side[requests].seen >= ENOUGH &&
	       p->side[requests].shortest == longest && !(bytes % longest);
}

static struct pair_range range_of(const struct pair_missed *p, bool requests, uint64_t missed)
{
	uint64_t shortest = p->side[requests].shortest, longest = p->side[requests].longest,
		 bytes = missed & (L7_MISSED_UNKNOWN - 1);
	bool all = missed && missed < L7_MISSED_UNKNOWN && !p->alone;
	struct pair_range r = {all, missed ? bytes : UINT64_MAX};

	if (p->side[requests].seen < SOME || !missed || !shortest)
		return r;
	if (are_alike(p, requests, missed))
		return (struct pair_range){bytes / longest, bytes / longest};
	r.most = bytes * 3 / (shortest * 2);
	if (all)
		r.least = (bytes * 2 + longest * 3 - 1) / (longest * 3);
	if (r.most < r.least)
		r.most = r.least;
	return r;
}

bool pair_missed_see(struct pair_missed *p, const struct l7_message *m, struct pair_range *range)
{
	bool requests = m->type == L7_REQUEST, any = m->missed || p->side[requests].hole;
	typeof(p->side[0]) *s = &p->side[requests];

	if (any)
		*range = range_of(p, requests, m->missed);
	s->hole = false;
	s->bytes += any && !m->missed ? L7_MISSED_UNKNOWN : m->missed;
	if (!s->seen++ || m->size < s->shortest)
		s->shortest = m->size;
	if (m->size > s->longest)
		s->longest = m->size;
	return any;
}

bool pair_missed_more(const struct pair_missed *p, int64_t *more)
{
	int64_t cnt[2] = {0};

	for (int i = 0; i < 2; i++) {
		if (p->side[i].hole || (p->side[i].bytes && !are_alike(p, i, p->side[i].bytes)))
			return false;
		if (p->side[i].bytes)
			cnt[i] = p->side[i].bytes / p->side[i].longest;
	}
	*more = cnt[1] - cnt[0];
	return true;
}
