/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cost of a cheap system call while it is being traced: the minimum of many short rounds, in CPU
 * nanoseconds, which is not affected by a busy machine.
 *
 *   call_loop getppid [SECONDS]
 *   call_loop pread [SECONDS]
 *   call_loop fault [SECONDS]
 *   call_loop exchange [SECONDS [RATE]]
 *
 * fault: a new page; all of a round are given back at once. pread: a byte of this program's file,
 * from the page cache. An exchange is two calls: 256 bytes
 * ($SIZE) are written to a Unix socket and read from its other end. RATE: exchanges per second, in
 * bursts every 10 ms; default: unlimited.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUND = 2000, BUF = 4096, BURSTS = 100 };

static int ends[2], file;
static size_t size = 256;
static char buf[BUF];

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int exchange(void)
{
	return write(ends[0], buf, size) != (ssize_t)size || read(ends[1], buf, size) < 0;
}

static int ask(void)
{
	return syscall(SYS_getppid) < 0;
}

static int read_byte(void)
{
	return pread(file, buf, 1, 0) != 1;
}

static int fault(void)
{
	static char *pages;
	static int at;
	size_t page = BUF;

	if (!pages) {
		pages = mmap(NULL, ROUND * page, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(pages, ROUND * page, MADV_NOHUGEPAGE);
	}
	if (pages == MAP_FAILED)
		return -1;
	pages[at++ * page] = 1;
	at %= ROUND;
	return at ? 0 : madvise(pages, ROUND * page, MADV_DONTNEED);
}

/* The cost of one of `cnt` calls in ns, or a negative number. */
static double round_ns(int (*call)(void), int cnt)
{
	double start = seconds(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < cnt; i++)
		if (call())
			return -1;
	return (seconds(CLOCK_THREAD_CPUTIME_ID) - start) / cnt * 1e9;
}

static void wait_until(double when)
{
	struct timespec t = {.tv_sec = when, .tv_nsec = (when - (time_t)when) * 1e9};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
	int (*call)(void) = ask;
	double now = seconds(CLOCK_MONOTONIC), end = now + (argc > 2 ? atof(argv[2]) : 0.5);
	int rate = argc > 3 ? atoi(argv[3]) : 0;
	double best = 1e9;

	if (argc > 1 && !strcmp(argv[1], "exchange"))
		call = exchange;
	else if (argc > 1 && !strcmp(argv[1], "pread"))
		call = read_byte;
	else if (argc > 1 && !strcmp(argv[1], "fault"))
		call = fault;
	if (getenv("SIZE"))
		size = strtoul(getenv("SIZE"), NULL, 10) % (BUF + 1);
	file = open("/proc/self/exe", O_RDONLY);
	if (file < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	for (double at = now; at < end; at = rate ? at + 1.0 / BURSTS : seconds(CLOCK_MONOTONIC)) {
		double ns = round_ns(call, rate ? rate / BURSTS : ROUND);

		if (ns < 0)
			return 1;
		best = ns < best ? ns : best;
		if (rate)
			wait_until(at + 1.0 / BURSTS);
	}
	printf("%.1f\n", best);
	return 0;
}
