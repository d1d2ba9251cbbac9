/* SPDX-License-Identifier: BSD-2-Clause */
/* NEED(condition): exits with location, condition and errno when it is false. */
#ifndef WORKLOAD_NEED_H
#define WORKLOAD_NEED_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, strerror(errno));    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
