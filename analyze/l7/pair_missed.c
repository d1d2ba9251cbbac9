/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair_missed.h"

enum { ENOUGH = 64 }; /* messages of one size and no other */

void pair_missed_begin(struct pair_missed *p)
{
	p->side[0].bytes = p->side[1].bytes = 0;
	p->unknown = false;
}

void pair_missed_hole(struct pair_missed *p, bool requests)
{
	p->side[requests].hole = true;
}

void pair_missed_see(struct pair_missed *p, const struct l7_message *m)
{
	typeof(p->side[0]) *s = &p->side[m->type == L7_REQUEST];

	s->hole = false;
	s->bytes += m->missed;
	p->unknown |= s->bytes >= L7_MISSED_UNKNOWN;
	if (p->unknown)
		s->bytes = L7_MISSED_UNKNOWN;
	if (!s->seen++ || m->size < s->shortest)
		s->shortest = m->size;
	if (m->size > s->longest)
		s->longest = m->size;
}

bool pair_missed_more(const struct pair_missed *p, int64_t *least, int64_t *most)
{
	int64_t few[2], many[2];
	bool unknown = p->unknown || p->side[0].hole || p->side[1].hole, one = !unknown;

	for (int i = 0; i < 2; i++) {
		uint64_t shortest = p->side[i].shortest, longest = p->side[i].longest,
			 bytes = p->side[i].bytes;

		few[i] = longest ? bytes / longest : 0;
		many[i] = shortest ? bytes / shortest : bytes;
		one &= !bytes ||
		       (p->side[i].seen >= ENOUGH && shortest == longest && !(bytes % longest));
	}
	*least = unknown ? -(int64_t)L7_MISSED_UNKNOWN : few[1] - many[0];
	*most = unknown ? (int64_t)L7_MISSED_UNKNOWN : many[1] - few[0];
	return one;
}
