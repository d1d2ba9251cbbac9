/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of page faults and waits: counted PAGES WAITS. Two threads, `main` and `second`,
 * wait for a byte on stdin; then each touches that many fresh pages and sleeps that often, `second`
 * first, and a child of main touches as many. "child PID minor N major N" is printed, and both
 * threads wait in read() until stdin ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "need.h"

static long pages, waits;
static int to_second[2], from_second[2];

__attribute__((noinline)) static void touch(void)
{
	long sz = sysconf(_SC_PAGESIZE);
	volatile char *p =
		mmap(NULL, pages * sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(p != MAP_FAILED);
	madvise((void *)p, pages * sz, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++)
		p[i * sz] = 1;
}

static void work(void)
{
	struct timespec nap = {.tv_nsec = 1000};

	touch();
	for (long i = 0; i < waits; i++)
		nanosleep(&nap, NULL);
}

static void *second(void *arg)
{
	char c;

	prctl(PR_SET_NAME, "second");
	while (read(to_second[0], &c, 1) == 1) {
		work();
		NEED(write(from_second[1], &c, 1) == 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct rusage of;
	int status;
	pid_t child;
	char c;

	NEED(argc == 3);
	pages = atol(argv[1]);
	waits = atol(argv[2]);
	NEED(!pipe(to_second) && !pipe(from_second));
	NEED(!pthread_create(&thread, NULL, second, NULL));
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 1;
	NEED(write(to_second[1], &c, 1) == 1 && read(from_second[0], &c, 1) == 1);
	work();
	child = fork();
	if (!child) {
		touch();
		_exit(0);
	}
	NEED(child > 0 && wait4(child, &status, 0, &of) == child);
	printf("child %d minor %ld major %ld\n", child, of.ru_minflt, of.ru_majflt);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
	close(to_second[1]);
	pthread_join(thread, NULL);
	return 0;
}
