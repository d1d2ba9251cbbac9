/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_scale.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/base/index.h"
#include "analyze/l7/engine/l7.h"

int scale_add(struct scale *s, const struct rec_thinning *r)
{
	if (!l7_is(r->what, "payload"))
		return 0;
	if (array_reserve(&s->steps, &s->cap, s->cnt + 1))
		return -ENOMEM;
	/* When the share is 0, data that still comes was selected at the previous share. */
	s->steps[s->cnt++] =
		(struct scale_step){r->ts_ns, r->to_per_64k ? r->to_per_64k : r->from_per_64k};
	return 0;
}

void scale_fini(struct scale *s)
{
	free(s->steps);
	*s = (struct scale){0};
}

double scale_weight(const struct scale *s, const struct capture *c, uint64_t ts_ns)
{
	size_t low = 0, high = s->cnt;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->steps[mid].from_ns <= ts_ns)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return 1 / c->sample;
	return s->steps[low - 1].kept_per_64k && s->steps[low - 1].kept_per_64k < 65536
		       ? 65536.0 / s->steps[low - 1].kept_per_64k
		       : 1;
}
