/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/surge.h"

#include <math.h>

enum {
	LEAST_INTERVALS = 4,
	LEAST_RATIO = 12, /* of log-likelihoods: by chance 6e-6 for each of ~7000 ranges */
	LEAST_CALLS = 20, /* minimum increase */
};

#define LEAST_FACTOR 1.5

/* Contribution to the log-likelihood of k calls where `expected` are the mean. */
static double part(double k, double expected)
{
	return k > 0 ? k * log(k / expected) : 0;
}

/* Sum of squared deviations from the mean, in units of the mean. */
static double scatter(const double *counts, unsigned from, unsigned to, double mean)
{
	double sum = 0;

	for (unsigned i = from; i < to && mean > 0; i++)
		sum += (counts[i] - mean) * (counts[i] - mean) / mean;
	return sum;
}

static double sum_of(const double *counts, unsigned from, unsigned to)
{
	double sum = 0;

	for (unsigned i = from; i < to; i++)
		sum += counts[i];
	return sum;
}

/* Finds the range; returns its likelihood ratio. 0: no range exceeds the rest. */
static double find_stretch(const double *counts, unsigned cnt, struct surge *s)
{
	double total = sum_of(counts, 0, cnt), best = 0;

	for (unsigned from = 0; from < cnt; from++) {
		double in = 0;

		for (unsigned to = from + 1; to <= cnt; to++) {
			double expected = total * (to - from) / cnt, ratio;

			in += counts[to - 1];
			if (!(in > expected) || to - from == cnt)
				continue;
			ratio = part(in, expected) + part(total - in, total - expected);
			if (ratio > best) {
				best = ratio;
				s->from = from;
				s->to = to;
			}
		}
	}
	return best;
}

bool surge_find(const double *counts, unsigned cnt, struct surge *s)
{
	double ratio, in, out, rest;

	if (cnt < LEAST_INTERVALS)
		return false;
	ratio = find_stretch(counts, cnt, s);
	if (!(ratio > 0) || !s->from) /* high from the start: no increase */
		return false;
	in = sum_of(counts, s->from, s->to);
	rest = sum_of(counts, 0, s->from);
	s->after = in / (s->to - s->from);
	s->before = rest / s->from;
	out = (rest + sum_of(counts, s->to, cnt)) / (cnt - (s->to - s->from));
	rest = scatter(counts, 0, s->from, out) + scatter(counts, s->from, s->to, s->after) +
	       scatter(counts, s->to, cnt, out);
	return ratio / fmax(1, rest / (cnt - 2)) > LEAST_RATIO &&
	       s->after >= LEAST_FACTOR * s->before &&
	       in - s->before * (s->to - s->from) >= LEAST_CALLS;
}
