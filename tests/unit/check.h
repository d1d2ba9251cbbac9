/* SPDX-License-Identifier: BSD-2-Clause */
/* CHECK(condition, "detail %d", ...): prints location and detail of a failure and continues. main()
 * returns `failed`. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdio.h>

static int failed;

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			printf("%s:%d: %s ", __FILE__, __LINE__, #cond);                           \
			printf(" " __VA_ARGS__);                                                   \
			printf("\n");                                                              \
			failed = 1;                                                                \
		}                                                                                  \
	} while (0)

#endif
