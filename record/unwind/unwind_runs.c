/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/unwind_runs.h"

void runs__init(struct runs *r, uint32_t seg_sz)
{
	memset(r, 0, sizeof(*r));
	r->seg_sz = seg_sz;
}

void runs__fini(struct runs *r)
{
	free(r->free);
	free(r->resting);
	memset(r, 0, sizeof(*r));
}

static int reserve(void **v, size_t cnt, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 64;
	void *p;

	if (cnt < *cap)
		return 0;
	p = realloc(*v, more * size);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

/* Index of the first free run at or after pos. */
static size_t place(const struct runs *r, uint32_t pos)
{
	size_t lo = 0, hi = r->free_cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (r->free[mid].pos < pos)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int joins(const struct runs *r, struct run a, struct run b)
{
	return a.pos + a.cnt == b.pos && a.pos / r->seg_sz == b.pos / r->seg_sz;
}

static void drop(struct runs *r, size_t i)
{
	r->free_cnt--;
	memmove(&r->free[i], &r->free[i + 1], (r->free_cnt - i) * sizeof(*r->free));
}

static int give_back(struct runs *r, struct run run)
{
	size_t i = place(r, run.pos);

	if (i < r->free_cnt && joins(r, run, r->free[i])) {
		run.cnt += r->free[i].cnt;
		drop(r, i);
	}
	if (i && joins(r, r->free[i - 1], run)) {
		r->free[i - 1].cnt += run.cnt;
		return 0;
	}
	if (reserve((void **)&r->free, r->free_cnt, &r->free_cap, sizeof(*r->free)))
		return -ENOMEM;
	memmove(&r->free[i + 1], &r->free[i], (r->free_cnt - i) * sizeof(*r->free));
	r->free[i] = run;
	r->free_cnt++;
	return 0;
}

int runs__add_segment(struct runs *r, uint32_t seg)
{
	return give_back(r, (struct run){seg * r->seg_sz, r->seg_sz});
}

int runs__alloc(struct runs *r, uint32_t cnt, uint32_t *pos)
{
	for (size_t i = 0; i < r->free_cnt; i++) {
		struct run *f = &r->free[i];

		if (f->cnt < cnt)
			continue;
		*pos = f->pos;
		f->pos += cnt;
		f->cnt -= cnt;
		if (!f->cnt)
			drop(r, i);
		r->used += cnt;
		return 0;
	}
	return -ENOSPC;
}

int runs__retire(struct runs *r, struct run run, uint64_t now_ns)
{
	if (reserve((void **)&r->resting, r->resting_cnt, &r->resting_cap, sizeof(*r->resting)))
		return -ENOMEM;
	r->resting[r->resting_cnt++] = (struct resting){run, now_ns};
	return 0;
}

void runs__reclaim(struct runs *r, uint64_t until_ns)
{
	size_t n = 0;

	while (n < r->resting_cnt && r->resting[n].since_ns < until_ns &&
	       !give_back(r, r->resting[n].run))
		r->used -= r->resting[n++].run.cnt;
	r->resting_cnt -= n;
	if (n)
		memmove(r->resting, r->resting + n, r->resting_cnt * sizeof(*r->resting));
}
