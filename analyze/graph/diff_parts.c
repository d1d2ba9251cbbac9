/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The variance of a share is estimated twice, and the larger one is taken. The shares in the parts
 * of a capture tell what sampling theory does not: phases of the program, bursts, waits of very
 * different length. The number of samples, as if they were independent, tells what is too rare to
 * vary between the parts.
 */
#include "analyze/graph/diff_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/base/index.h"

/* Too few parts with samples do not give a variance. */
enum { MIN_PARTS = 4 };

struct by_part {
	float self[PROFILE_PART_CNT], total[PROFILE_PART_CNT];
};

struct side {
	struct by_part *funcs; /* by function of the flame graph */
	size_t cap, cnt;
	double parts[PROFILE_PART_CNT]; /* weight of all stacks */
	double weight, square;		/* square: sum of weight^2 / count */
};

struct diff_parts {
	struct side sides[2];
	uint32_t *seen; /* by function: the last stack that has it */
	size_t seen_cap, seen_cnt;
	uint32_t stack;
};

int diff_parts__new(struct diff_parts **p)
{
	*p = calloc(1, sizeof(**p));
	return *p ? 0 : -ENOMEM;
}

void diff_parts__free(struct diff_parts *p)
{
	if (!p)
		return;
	free(p->sides[0].funcs);
	free(p->sides[1].funcs);
	free(p->seen);
	free(p);
}

static int make_room(struct diff_parts *p, struct side *s, size_t funcs)
{
	if (array_reserve(&s->funcs, &s->cap, funcs) ||
	    array_reserve(&p->seen, &p->seen_cap, funcs))
		return -ENOMEM;
	for (; s->cnt < funcs; s->cnt++)
		s->funcs[s->cnt] = (struct by_part){0};
	for (; p->seen_cnt < funcs; p->seen_cnt++)
		p->seen[p->seen_cnt] = 0;
	return 0;
}

int diff_parts__add(struct diff_parts *p, const struct flamegraph *f, int side, uint32_t part,
		    uint64_t weight, uint64_t count)
{
	struct side *s = &p->sides[side];

	if (make_room(p, s, f->func_cnt))
		return -ENOMEM;
	part = part < PROFILE_PART_CNT ? part : PROFILE_PART_CNT - 1;
	p->stack++;
	for (size_t i = 0; i < f->path_cnt; i++) {
		uint32_t func = f->nodes[f->path[i]].func;

		if (p->seen[func] != p->stack)
			s->funcs[func].total[part] += weight;
		p->seen[func] = p->stack;
		if (i + 1 == f->path_cnt)
			s->funcs[func].self[part] += weight;
	}
	s->parts[part] += weight;
	s->weight += weight;
	s->square += (double)weight * weight / (count ? count : 1);
	return 0;
}

static const float *values_of(const struct side *s, uint32_t func, int what)
{
	static const float none[PROFILE_PART_CNT];

	if (func >= s->cnt)
		return none;
	return what == DIFF_SELF ? s->funcs[func].self : s->funcs[func].total;
}

static double sum_of(const float *x)
{
	double sum = 0;

	for (int i = 0; i < PROFILE_PART_CNT; i++)
		sum += x[i];
	return sum;
}

/* Variance of a sum as a share of `weight`, from its parts. share: the parts vary with the weight
 * of the side in them; 0: by themselves. */
static double variance(const struct side *s, const float *x, double share, double weight)
{
	double sum = 0, mean = 0;
	int parts = 0;

	for (int i = 0; i < PROFILE_PART_CNT; i++)
		parts += s->parts[i] > 0;
	if (parts < MIN_PARTS)
		return 0;
	if (!share)
		mean = sum_of(x) / parts;
	for (int i = 0; i < PROFILE_PART_CNT; i++) {
		double off = x[i] - (share ? share * s->parts[i] : mean);

		sum += s->parts[i] > 0 ? off * off : 0;
	}
	return sum * parts / (parts - 1) / weight / weight;
}

/* Probability that Student's t of 2 * (PROFILE_PART_CNT - 1) degrees of freedom is this far from 0,
 * by the normal distribution (Wallace 1959). */
static double probability(double t)
{
	const double freedom = 2 * (PROFILE_PART_CNT - 1);

	return erfc(fabs(t) * (1 - 1 / (4 * freedom)) / sqrt(1 + t * t / (2 * freedom)) / sqrt(2));
}

struct diff_change diff_parts__change(const struct diff_parts *p, uint32_t func, int what,
				      bool absolute)
{
	static const struct diff_change unknown = {-1, 1};
	const double critical = 2.04; /* of Student's t: 95 % */
	double shares[2], sum = 0, pooled = 0, t;

	if (!p || !p->sides[0].weight || !p->sides[1].weight)
		return unknown;
	for (int k = 0; k < 2; k++) {
		shares[k] = sum_of(values_of(&p->sides[k], func, what)) /
			    p->sides[absolute ? 0 : k].weight;
		pooled += shares[k] / 2;
	}
	for (int k = 0; k < 2; k++) {
		const struct side *s = &p->sides[k];
		double samples = s->weight * s->weight / s->square;
		double weight = p->sides[absolute ? 0 : k].weight, scale = s->weight / weight;
		double counted =
			absolute ? pooled * scale / samples : pooled * (1 - pooled) / samples;
		double varied =
			variance(s, values_of(s, func, what), absolute ? 0 : shares[k], weight);

		sum += varied > counted ? varied : counted;
	}
	if (sum <= 0) /* every stack has it, in both */
		return (struct diff_change){0, 1};
	t = (shares[1] - shares[0]) / sqrt(sum);
	return (struct diff_change){critical * sqrt(sum), probability(t)};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double diff_significant(double *p, size_t cnt)
{
	double largest = -1;

	if (cnt)
		qsort(p, cnt, sizeof(*p), by_value);
	for (size_t i = 0; i < cnt; i++)
		if (p[i] <= 0.05 * (i + 1) / cnt)
			largest = p[i];
	return largest;
}
