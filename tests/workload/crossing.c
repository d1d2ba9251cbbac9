/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads in one function of the kernel at a time: crossing THREADS ROUNDS [hold]. After a
 * byte on stdin, in each round every thread sleeps until all do, is woken by a signal, and calls
 * getppid(). They sleep for SECONDS s and their number in ns. Prints the number of calls of each.
 * With `hold` the threads of the last round sleep until another byte; "asleep" is printed before.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "need.h"

enum { THREADS_MAX = 512, SECONDS = 1000 };

static pthread_t thread[THREADS_MAX];
static atomic_int tid[THREADS_MAX], awake[THREADS_MAX];
static int threads, rounds;
static char byte;

static void on_signal(int sig)
{
}

static void *sleep_and_ask(void *arg)
{
	int i = (intptr_t)arg;
	struct timespec time = {.tv_sec = SECONDS, .tv_nsec = i};

	tid[i] = syscall(SYS_gettid);
	for (int round = 0; round < rounds; round++) {
		NEED(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) == EINTR);
		syscall(SYS_getppid);
		awake[i]++;
	}
	return NULL;
}

static bool is_asleep(int i)
{
	char path[64], text[32] = "";
	int fd, number = -1;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid[i]);
	fd = tid[i] ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	NEED(read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	return sscanf(text, "%d", &number) == 1 && number == SYS_clock_nanosleep;
}

static void await_all(bool (*is)(int i))
{
	for (int i = 0; i < threads; i++)
		while (!is(i))
			poll(NULL, 0, 1); /* not the function in question */
}

static int round_now;

static bool is_through(int i)
{
	return awake[i] > round_now;
}

static void wake_all(void)
{
	for (int i = 0; i < threads; i++)
		NEED(!pthread_kill(thread[i], SIGUSR1));
}

int main(int argc, char **argv)
{
	bool hold = argc > 3 && !strcmp(argv[3], "hold");

	threads = argc > 1 ? atoi(argv[1]) : 60;
	rounds = argc > 2 ? atoi(argv[2]) : 3;
	NEED(threads > 0 && threads <= THREADS_MAX && rounds > 0);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
	NEED(read(STDIN_FILENO, &byte, 1) == 1);
	for (int i = 0; i < threads; i++)
		NEED(!pthread_create(&thread[i], NULL, sleep_and_ask, (void *)(intptr_t)i));
	for (round_now = 0; round_now < rounds; round_now++) {
		await_all(is_asleep);
		if (hold && round_now == rounds - 1) {
			puts("asleep");
			fflush(stdout);
			NEED(read(STDIN_FILENO, &byte, 1) >= 0);
		}
		wake_all();
		await_all(is_through);
	}
	for (int i = 0; i < threads; i++)
		NEED(!pthread_join(thread[i], NULL));
	printf("%d\n", threads * rounds);
	return 0;
}
