/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/answers.h"

void answers_fini(struct answers *a)
{
	free(a->v);
	free(a->frames);
	*a = (struct answers){0};
}

static bool same_chain(const struct answers *a, const struct answer *x,
		       const struct answer_frame *frames, size_t cnt)
{
	for (size_t i = 0; i < cnt && x->cnt == cnt; i++) {
		const struct answer_frame *f = &a->frames[x->first + i];

		if (f->name != frames[i].name || f->file != frames[i].file ||
		    f->line != frames[i].line)
			return false;
	}
	return x->cnt == cnt;
}

int answers_add(struct answers *a, uint64_t lo, uint64_t hi, const struct answer_frame *frames,
		size_t cnt)
{
	struct answer *last = a->cnt ? &a->v[a->cnt - 1] : NULL;

	if (last && lo < last->hi)
		lo = last->hi;
	if (lo >= hi)
		return 0;
	if (last && last->hi == lo && same_chain(a, last, frames, cnt)) {
		last->hi = hi;
		return 0;
	}
	if (a->frame_cnt + cnt > UINT32_MAX ||
	    grow(&a->frames, &a->frame_cap, a->frame_cnt + cnt, sizeof(*a->frames)) ||
	    grow(&a->v, &a->cap, a->cnt + 1, sizeof(*a->v)))
		return -ENOMEM;
	if (cnt)
		memcpy(a->frames + a->frame_cnt, frames, cnt * sizeof(*frames));
	a->v[a->cnt++] = (struct answer){lo, hi, (uint32_t)a->frame_cnt, (uint32_t)cnt};
	a->frame_cnt += cnt;
	return 0;
}

static int add_clipped(struct answers *a, const struct answers *from, const struct answer *x,
		       uint64_t lo, uint64_t hi)
{
	return answers_add(a, lo, hi, x->cnt ? from->frames + x->first : NULL, x->cnt);
}

int answers_add_from(struct answers *a, const struct answers *from, const struct answer *x)
{
	return add_clipped(a, from, x, x->lo, x->hi);
}

int answers_merge(struct answers *a, const struct answers *more)
{
	struct answers both = {0};
	size_t i = 0, k = 0;
	uint64_t done = 0; /* addresses below are done */
	int err = 0;

	while (!err && (i < a->cnt || k < more->cnt)) {
		const struct answer *x = i < a->cnt ? &a->v[i] : NULL;
		const struct answer *y = k < more->cnt ? &more->v[k] : NULL;
		uint64_t lo, hi;

		if (x && (!y || x->lo <= y->lo || x->lo <= done)) {
			err = answers_add_from(&both, a, x);
			done = x->hi;
			i++;
			continue;
		}
		lo = y->lo > done ? y->lo : done;
		hi = x && x->lo < y->hi ? x->lo : y->hi;
		if (lo < hi) {
			err = add_clipped(&both, more, y, lo, hi);
			done = hi;
		}
		if (hi == y->hi || done >= y->hi)
			k++;
	}
	if (err) {
		answers_fini(&both);
		return err;
	}
	answers_fini(a);
	*a = both;
	return 0;
}

const struct answer *answers_find(const struct answers *a, uint64_t addr)
{
	size_t lo = 0, hi = a->cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->v[mid].hi <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < a->cnt && a->v[lo].lo <= addr ? &a->v[lo] : NULL;
}
