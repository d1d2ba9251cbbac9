/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that are hard to unwind, one kind per mode; each spends most of its time on the CPU in its
 * leaf:
 *
 *   deep MODE [SECONDS] [DEPTH]
 *
 * Prints "chain LEAF ... main" before it starts: the functions of a complete stack below libc's,
 * innermost first; NAME*N is N times NAME. Built in several ways (Makefile): with and without frame
 * pointers, static, static-pie.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static volatile sig_atomic_t over; /* set by SIGALRM */

/* About 50 us of work in registers only. */
static NOINLINE void burn(void)
{
	uint64_t x = sink + 1;

	for (int i = 0; i < 20000; i++)
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	sink = x;
}

static NOINLINE void burn_until_over(void)
{
	while (!over)
		burn();
	sink++; /* no tail call */
}

/* ---- recursion */

static NOINLINE int recurse(int n)
{
	int below;

	if (n <= 1) {
		burn_until_over();
		return sink & 1;
	}
	below = recurse(n - 1);
	return below + (sink & 1) + n;
}

/* ---- frames of changing size, reached by the frame pointer alone */

static NOINLINE void with_alloca(int n)
{
	volatile char *p = __builtin_alloca(n * 16 + 1);

	p[n] = 1;
	burn_until_over();
	sink += p[n];
}

/* ---- a realigned stack: the CFA is found by an expression over a saved pointer */

struct aligned {
	char bytes[256];
} __attribute__((aligned(128)));

static NOINLINE void use(struct aligned *a)
{
	a->bytes[sink & 255] = 1;
	burn_until_over();
	sink += a->bytes[0];
}

static NOINLINE void realigned(int n, const char *text)
{
	struct aligned a;
	volatile char *p = __builtin_alloca(
		n + 1); /* the pointer is then kept in its own register or slot */

	memset(&a, 0, sizeof(a));
	p[n] = text[0];
	use(&a);
	sink += a.bytes[1] + p[n];
}

/* ---- ends in a call that does not return: the return address lies behind the function */

static NOINLINE _Noreturn void burn_forever(void)
{
	for (;;) {
		burn();
		if (over)
			_exit(0);
	}
}

static NOINLINE void ends_in_a_call(int n)
{
	sink += n;
	burn_forever();
}

/* ---- signal handlers, on their own stack too */

static NOINLINE void in_handler(void)
{
	for (int i = 0; i < 400 && !over; i++) /* 20 ms of every 25 */
		burn();
	sink++;
}

static void handler(int sig)
{
	in_handler();
	sink++;
}

static NOINLINE void interrupted(void)
{
	while (!over)
		sink++;
	sink++;
}

/* ---- a tail call: the caller's frame is gone before the callee runs */

static NOINLINE void jumps(int n)
{
	sink += n;
	burn_until_over();
}

/* ---- the vDSO */

static NOINLINE void ask_time(void)
{
	struct timespec ts;

	while (!over)
		clock_gettime(CLOCK_MONOTONIC, &ts);
	sink += ts.tv_nsec;
}

/* ---- modes; the volatile addition after each call keeps the frame of run_X */

static NOINLINE void run_recurse(int depth)
{
	sink += recurse(depth);
}

static NOINLINE void run_alloca(int depth)
{
	with_alloca(depth);
	sink++;
}

static NOINLINE void run_realign(int depth)
{
	realigned(depth, "text");
	sink++;
}

static NOINLINE void run_noreturn(int depth)
{
	ends_in_a_call(depth);
}

static NOINLINE void run_tail(int depth)
{
	jumps(depth);
	sink++;
}

static NOINLINE void run_vdso(int depth)
{
	ask_time();
	sink++;
}

/* Sends SIGUSR1 every 25 ms of the thread's CPU time; the handler uses most of it. */
static void signal_often(int flags)
{
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
	struct itimerspec every = {{0, 25000000}, {0, 25000000}};
	timer_t timer;

	if (sigaction(SIGUSR1, &sa, NULL) || timer_create(CLOCK_THREAD_CPUTIME_ID, &ev, &timer) ||
	    timer_settime(timer, 0, &every, NULL)) {
		perror("deep: timer");
		exit(1);
	}
}

static NOINLINE void run_signal(int depth)
{
	signal_often(0);
	interrupted();
	sink++;
}

static NOINLINE void run_altstack(int depth)
{
	static char stack[256 << 10];
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};

	if (sigaltstack(&ss, NULL)) {
		perror("deep: sigaltstack");
		exit(1);
	}
	signal_often(SA_ONSTACK);
	interrupted();
	sink++;
}

struct mode {
	const char *name;
	void (*run)(int depth);
	const char *chain;
};

/* "signal-return" is the trampoline that the handler returns to. */
static const struct mode modes[] = {
	{"recurse", run_recurse, "burn burn_until_over recurse*%d run_recurse main"},
	{"alloca", run_alloca, "burn burn_until_over with_alloca run_alloca main"},
	{"realign", run_realign, "burn burn_until_over use realigned run_realign main"},
	{"noreturn", run_noreturn, "burn burn_forever ends_in_a_call run_noreturn main"},
	{"tail", run_tail, "burn burn_until_over run_tail main"},
	{"vdso", run_vdso, "[vdso] clock_gettime ask_time run_vdso main"},
	{"signal", run_signal, "burn in_handler handler signal-return interrupted run_signal main"},
	{"altstack", run_altstack,
	 "burn in_handler handler signal-return interrupted run_altstack main"},
};

static void on_alarm(int sig)
{
	over = 1;
}

static int usage(void)
{
	fprintf(stderr, "usage: deep MODE [SECONDS] [DEPTH]\nmodes:");
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		fprintf(stderr, " %s", modes[i].name);
	fprintf(stderr, "\n");
	return 2;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 10;
	int depth = argc > 3 ? atoi(argv[3]) : 600;
	struct itimerval end = {.it_value = {(time_t)seconds, (seconds - (time_t)seconds) * 1e6}};

	if (argc < 2 || seconds <= 0 || depth < 1 || depth > 50000)
		return usage();
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (strcmp(modes[i].name, argv[1]))
			continue;
		printf("chain ");
		printf(modes[i].chain, depth);
		printf("\n");
		fflush(stdout);
		signal(SIGALRM, on_alarm);
		setitimer(ITIMER_REAL, &end, NULL);
		modes[i].run(depth);
		return 0;
	}
	return usage();
}
