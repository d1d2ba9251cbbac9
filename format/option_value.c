/* SPDX-License-Identifier: BSD-2-Clause */
/* Option values with units: durations, sizes, numbers, shares. */
#include "format/option.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t factor;
};

/* A decimal number as digits and a power of ten: exact, and independent of the locale. */
struct decimal {
	uint64_t digits;
	uint64_t divisor;
	const char *end;
};

static int parse_decimal(const char *s, struct decimal *d)
{
	bool fraction = false;
	const char *p = s;

	*d = (struct decimal){.divisor = 1};
	for (; isdigit((unsigned char)*p) || (*p == '.' && !fraction && p > s); p++) {
		if (*p == '.') {
			fraction = true;
			continue;
		}
		if (__builtin_mul_overflow(d->digits, 10, &d->digits) ||
		    __builtin_add_overflow(d->digits, (uint64_t)(*p - '0'), &d->digits))
			return -EINVAL;
		if (fraction && __builtin_mul_overflow(d->divisor, 10, &d->divisor))
			return -EINVAL;
	}
	if (p == s || p[-1] == '.')
		return -EINVAL;
	d->end = p;
	return 0;
}

static int parse_scaled(const char *s, const struct unit *units, uint64_t *v)
{
	struct decimal d;
	unsigned __int128 r;

	if (!s || parse_decimal(s, &d))
		return -EINVAL;
	for (; units->name; units++)
		if (!strcmp(units->name, d.end))
			break;
	if (!units->name)
		return -EINVAL;
	r = (unsigned __int128)d.digits * units->factor / d.divisor;
	if (r > UINT64_MAX)
		return -EINVAL;
	*v = r;
	return 0;
}

int parse_duration_ns(const char *s, uint64_t *ns)
{
	static const struct unit units[] = {
		{"ns", 1},	    {"us", 1000},	  {"ms", 1000000},	 {"s", 1000000000},
		{"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}, {NULL, 0}};

	return parse_scaled(s, units, ns);
}

int parse_size(const char *s, uint64_t *bytes)
{
#define SUFFIXES(u, n)                                                                             \
	{u, n}, {u "B", n},                                                                        \
	{                                                                                          \
		u "iB", n                                                                          \
	}
	static const struct unit units[] = {{"", 1},
					    {"B", 1},
					    SUFFIXES("K", 1ULL << 10),
					    {"k", 1ULL << 10},
					    SUFFIXES("M", 1ULL << 20),
					    SUFFIXES("G", 1ULL << 30),
					    SUFFIXES("T", 1ULL << 40),
					    {NULL, 0}};
#undef SUFFIXES

	return parse_scaled(s, units, bytes);
}

int parse_u64(const char *s, uint64_t *v)
{
	struct decimal d;

	if (!s || parse_decimal(s, &d) || *d.end || strchr(s, '.'))
		return -EINVAL;
	*v = d.digits;
	return 0;
}

int parse_percent(const char *s, double *share)
{
	struct decimal d;
	double v;

	if (!s || parse_decimal(s, &d))
		return -EINVAL;
	v = (double)d.digits / (double)d.divisor;
	if (!strcmp(d.end, "%"))
		v /= 100;
	else if (*d.end)
		return -EINVAL;
	if (v > 1)
		return -EINVAL;
	*share = v;
	return 0;
}
