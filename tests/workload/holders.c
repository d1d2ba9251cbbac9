/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Known holders of locks for the probe lock: holders N. Waits for a byte on stdin before it starts.
 * N times each of three threads in turn holds one mutex for HOLD_MS or more from the moment that
 * another thread waits for it: one asleep, one computing, and one that gives it back as soon as
 * somebody waits, without having slept. Then N rounds in which four threads wait in line for a
 * second mutex, so that each hands it on to the next.
 *
 * Prints its pid, and lines "NAME ADDRESS WAITS SUM_NS HELD_NS TID": the sum is what the waiting
 * thread has measured; then the time from when the holder had seen it wait until it gave the lock
 * back; TID is the holder, whose function is hold_NAME. For the last part:
 * "convoy ADDRESS THREADS ROUNDS".
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "need.h"
#include "waits.h"

enum { HOLD_MS = 10, CONVOY = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, convoy = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn, held, done;
static uint64_t waited_ns, held_ns;
static pid_t waiter_tid;
static int cnt;

/* ---- holders; their names are looked for on stacks */

__attribute__((noipa)) static void hold_asleep(void)
{
	uint64_t begin;

	pthread_mutex_lock(&mutex);
	atomic_store(&held, 1);
	while (!waits(waiter_tid))
		nap_ms(0.1);
	begin = now_ns();
	nap_ms(HOLD_MS);
	held_ns += now_ns() - begin;
	pthread_mutex_unlock(&mutex);
	asm volatile(""); /* not a jump */
}

__attribute__((noipa)) static void hold_computing(void)
{
	uint64_t begin;

	pthread_mutex_lock(&mutex);
	atomic_store(&held, 1);
	while (!waits(waiter_tid))
		;
	begin = now_ns();
	while (now_ns() < begin + HOLD_MS * 1000000)
		;
	held_ns += now_ns() - begin;
	pthread_mutex_unlock(&mutex);
	asm volatile(""); /* not a jump */
}

__attribute__((noipa)) static void hold_briefly(void)
{
	pthread_mutex_lock(&mutex);
	atomic_store(&held, 1);
	while (!waits(waiter_tid))
		;
	pthread_mutex_unlock(&mutex);
	asm volatile(""); /* not a jump */
}

static const struct {
	const char *name;
	void (*hold)(void);
} holders[] = {
	{"asleep", hold_asleep},
	{"computing", hold_computing},
	{"briefly", hold_briefly},
};
enum { HOLDERS = sizeof(holders) / sizeof(*holders) };
static pid_t tids[HOLDERS];

/* Turn 2 * i + 1 is of the holder's i-th time, 2 * i + 2 ends it. */
static void *holder(void *arg)
{
	int self = (intptr_t)arg;

	tids[self] = syscall(SYS_gettid);
	for (int i = 0; i < cnt; i++) {
		while (atomic_load(&turn) < 2 * (self * cnt + i) + 1)
			nap_ms(0.2);
		holders[self].hold();
		while (atomic_load(&turn) < 2 * (self * cnt + i) + 2)
			nap_ms(0.2);
	}
	return NULL;
}

__attribute__((noipa)) static void wait_for_it(void)
{
	uint64_t begin = now_ns();

	pthread_mutex_lock(&mutex);
	waited_ns += now_ns() - begin;
	pthread_mutex_unlock(&mutex);
}

static void do_holders(void)
{
	pthread_t t[HOLDERS];

	waiter_tid = syscall(SYS_gettid);
	for (intptr_t i = 0; i < HOLDERS; i++)
		NEED(!pthread_create(&t[i], NULL, holder, (void *)i));
	for (int h = 0; h < HOLDERS; h++) {
		waited_ns = held_ns = 0;
		for (int i = 0; i < cnt; i++) {
			atomic_store(&held, 0);
			atomic_fetch_add(&turn, 1);
			while (!atomic_load(&held))
				nap_ms(0.2);
			wait_for_it();
			atomic_fetch_add(&turn, 1);
		}
		printf("%s %lu %d %lu %lu %d\n", holders[h].name, (unsigned long)&mutex, cnt,
		       (unsigned long)waited_ns, (unsigned long)held_ns, tids[h]);
	}
	for (int i = 0; i < HOLDERS; i++)
		pthread_join(t[i], NULL);
}

/* ---- threads that wait in a row */

static pid_t queue[CONVOY];
static atomic_int queued;

/* Waits in line: each thread begins when the one before it is seen to wait. */
static void *in_line(void *arg)
{
	int self = (intptr_t)arg;

	queue[self] = syscall(SYS_gettid);
	for (int i = 0; i < cnt; i++) {
		while (atomic_load(&queued) != i * CONVOY + self)
			nap_ms(0.2);
		pthread_mutex_lock(&convoy);
		nap_ms(2);
		pthread_mutex_unlock(&convoy);
		atomic_fetch_add(&done, 1);
	}
	return NULL;
}

static void do_convoy(void)
{
	pthread_t t[CONVOY];

	atomic_store(&queued, -1);
	for (intptr_t i = 0; i < CONVOY; i++)
		NEED(!pthread_create(&t[i], NULL, in_line, (void *)i));
	for (int i = 0; i < cnt; i++) {
		pthread_mutex_lock(&convoy);
		for (int w = 0; w < CONVOY; w++) {
			atomic_store(&queued, i * CONVOY + w);
			while (!queue[w] || !waits(queue[w]))
				nap_ms(0.2);
		}
		pthread_mutex_unlock(&convoy);
		while (atomic_load(&done) != (i + 1) * CONVOY)
			nap_ms(1);
	}
	for (int i = 0; i < CONVOY; i++)
		pthread_join(t[i], NULL);
	printf("convoy %lu %d %d\n", (unsigned long)&convoy, CONVOY, cnt);
}

int main(int argc, char **argv)
{
	char go;

	cnt = argc > 1 ? atoi(argv[1]) : 0;
	if (cnt < 1 || read(0, &go, 1) != 1)
		return 2;
	setlinebuf(stdout);
	printf("pid %d\n", getpid());
	do_holders();
	do_convoy();
	return 0;
}
