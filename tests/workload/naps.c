/* SPDX-License-Identifier: BSD-2-Clause */
/* A known number of waits: naps [COUNT] [MILLISECONDS]. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 50, ms = argc > 2 ? atoi(argv[2]) : 20;
	struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	for (int i = 0; i < count; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
	return 0;
}
