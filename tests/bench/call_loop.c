/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a cheap system call costs while something watches: the least of many short rounds, in CPU
 * nanoseconds a call, so that a busy machine does not show.
 *
 *   call_loop KIND [SECONDS]    getppid | send | recv | exchange
 *
 * send, recv and exchange move SIZE bytes (256, or $SIZE) through a pair of Unix sockets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 2000, SIZE_MAX_ = 4096 };

static int ends[2];
static size_t size = 256;
static char buf[SIZE_MAX_];

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int exchange(void)
{
	return write(ends[0], buf, size) != (ssize_t)size || read(ends[1], buf, size) < 0;
}

static int ask(void)
{
	return syscall(SYS_getppid) < 0;
}

int main(int argc, char **argv)
{
	int (*call)(void) = argc > 1 && !strcmp(argv[1], "exchange") ? exchange : ask;
	double end = cpu_ns() + (argc > 2 ? atof(argv[2]) : 0.5) * 1e9, best = 1e9;

	if (getenv("SIZE"))
		size = strtoul(getenv("SIZE"), NULL, 10) % (SIZE_MAX_ + 1);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	for (double before = cpu_ns(); before < end;) {
		double now;

		for (int i = 0; i < ROUND; i++)
			if (call())
				return 1;
		now = cpu_ns();
		if ((now - before) / ROUND < best)
			best = (now - before) / ROUND;
		before = now;
	}
	printf("%.1f\n", best);
	return 0;
}
