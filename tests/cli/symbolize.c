/* A second unit for symbolize.sh: nested functions, aliases, weak names, a function shared by inlining across units. */
#include <stdio.h>
#include <stdlib.h>

static int helper(int x)
{
	return x * rand();
}
static inline int twice(int x)
{
	return helper(x) + helper(x + 1);
}
int enclosing(int n)
{
	int nested(int k)
	{
		return k + n;
	}
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += nested(i) + twice(i);
	return sum;
}
int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
int compare_alias(const void *a, const void *b) __attribute__((weak, alias("compare")));
int cold_path(int x)
{
	if (__builtin_expect(x == 42, 0)) {
		fprintf(stderr, "cold %d\n", x);
		abort();
	}
	return x;
}
