/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of waits for the probe lock: locks N. Waits for a byte on stdin before it starts.
 * Every wait goes on for HOLD_MS or more after the thread has been seen in it. Prints its
 * pid, and for each kind of wait a line "NAME ADDRESS WAITS SUM_NS OWNER...": the sum is what the
 * waiting threads have measured, an owner the tid of a thread that held the lock.
 *
 *   mutex     three threads, of which each holds it N times and the two others wait
 *   pi, robust, rwlock, sem, cond    N waits of one thread for main
 *   timed     N waits for a mutex that time out
 *   join      one
 *   changed   N waits whose word has another value: EAGAIN
 *   signal    one, ended by a signal: EINTR
 *   fault     N on an address that is not mapped: EFAULT
 *   posed     N that time out, of a word that looks like a mutex held by a thread of another
 *             process, at the end of a page that nothing follows, and as one held by nobody
 *   kernel    N writes that wait for another thread's write of the same file
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "need.h"
#include "waits.h"

enum { HOLD_MS = 10, THREADS = 3 };

static void await_wait(pid_t tid)
{
	while (!waits(tid))
		nap_ms(0.2);
	nap_ms(HOLD_MS);
}

/* ---- one mutex, three threads */

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static atomic_int round_no = -1, arrived, held;
static atomic_ulong waited_ns;
static pid_t tids[THREADS];
static int rounds;

__attribute__((noinline)) static void hold(int self)
{
	pthread_mutex_lock(&shared);
	atomic_store(&held, 1);
	for (int i = 0; i < THREADS; i++)
		if (i != self)
			await_wait(tids[i]);
	pthread_mutex_unlock(&shared);
	asm volatile(""); /* not a jump */
}

__attribute__((noinline)) static void wait_for_it(void)
{
	uint64_t begin;

	while (!atomic_load(&held))
		nap_ms(0.2);
	begin = now_ns();
	pthread_mutex_lock(&shared);
	atomic_fetch_add(&waited_ns, now_ns() - begin);
	pthread_mutex_unlock(&shared);
}

static void *contender(void *arg)
{
	int self = (intptr_t)arg;

	tids[self] = syscall(SYS_gettid);
	atomic_fetch_add(&arrived, 1);
	for (int r = 0; r < rounds; r++) {
		while (atomic_load(&round_no) != r)
			nap_ms(0.2);
		if (r % THREADS == self)
			hold(self);
		else
			wait_for_it();
		atomic_fetch_add(&arrived, 1);
	}
	return NULL;
}

static void do_mutex(int cnt)
{
	pthread_t t[THREADS];

	rounds = cnt * THREADS;
	for (intptr_t i = 0; i < THREADS; i++)
		NEED(!pthread_create(&t[i], NULL, contender, (void *)i));
	for (int r = 0; r <= rounds; r++) {
		while (atomic_load(&arrived) != THREADS)
			nap_ms(0.2);
		atomic_store(&arrived, 0);
		atomic_store(&held, 0);
		atomic_store(&round_no, r);
	}
	printf("mutex %lu %d %lu %d %d %d\n", (unsigned long)&shared, rounds * (THREADS - 1),
	       atomic_load(&waited_ns), tids[0], tids[1], tids[2]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* ---- one thread that waits for main */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, special;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem;
static int ready;

static void wait_special(void)
{
	pthread_mutex_lock(&special);
	pthread_mutex_unlock(&special);
}
static void hold_special(void)
{
	pthread_mutex_lock(&special);
}
static void free_special(void)
{
	pthread_mutex_unlock(&special);
}
static void wait_rwlock(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}
static void hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
}
static void free_rwlock(void)
{
	pthread_rwlock_unlock(&rwlock);
}
static void wait_sem(void)
{
	sem_wait(&sem);
}
static void post_sem(void)
{
	sem_post(&sem);
}
static void wait_cond(void)
{
	pthread_mutex_lock(&lock);
	while (!ready)
		pthread_cond_wait(&cond, &lock);
	ready = 0;
	pthread_mutex_unlock(&lock);
}
static void signal_cond(void)
{
	pthread_mutex_lock(&lock);
	ready = 1;
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&cond);
}
static void nothing(void)
{
}

static const struct pair {
	const char *name;
	void *address;
	void (*before)(void), (*wait)(void), (*end)(void);
	int owned; /* main is the owner */
} pairs[] = {
	{"pi", &special, hold_special, wait_special, free_special, 1},
	{"robust", &special, hold_special, wait_special, free_special, 1},
	{"rwlock", &rwlock, hold_rwlock, wait_rwlock, free_rwlock, 0},
	{"sem", &sem, nothing, wait_sem, post_sem, 0},
	{"cond", &cond, nothing, wait_cond, signal_cond, 0},
};

static atomic_int asked, answered;
static const struct pair *now;
static volatile pid_t waiter_tid;

static void *waiter(void *arg)
{
	int cnt = (intptr_t)arg;

	waiter_tid = syscall(SYS_gettid);
	atomic_store(&answered, -1);
	for (int i = 0; i < cnt; i++) {
		uint64_t begin;

		while (atomic_load(&asked) <= i)
			nap_ms(0.2);
		begin = now_ns();
		now->wait();
		atomic_fetch_add(&waited_ns, now_ns() - begin);
		atomic_store(&answered, i + 1);
	}
	return NULL;
}

static void set_special(const char *name)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	if (!strcmp(name, "pi"))
		pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	else
		pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	NEED(!pthread_mutex_init(&special, &a));
}

static void do_pair(const struct pair *p, int cnt)
{
	pthread_t t;

	set_special(p->name);
	now = p;
	atomic_store(&asked, 0);
	atomic_store(&answered, 0);
	atomic_store(&waited_ns, 0);
	NEED(!pthread_create(&t, NULL, waiter, (void *)(intptr_t)cnt));
	while (!atomic_load(&answered))
		nap_ms(0.2);
	for (int i = 0; i < cnt; i++) {
		p->before();
		atomic_store(&asked, i + 1);
		await_wait(waiter_tid);
		p->end();
		while (atomic_load(&answered) != i + 1)
			nap_ms(0.2);
	}
	pthread_join(t, NULL);
	printf("%s %lu %d %lu %d\n", p->name, (unsigned long)p->address, cnt,
	       atomic_load(&waited_ns), p->owned ? getpid() : 0);
}

/* ---- others */

static void *timed_out(void *arg)
{
	struct timespec until;
	uint64_t begin = now_ns();

	for (int i = 0; i < (intptr_t)arg; i++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += HOLD_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		NEED(pthread_mutex_timedlock(&lock, &until) == ETIMEDOUT);
	}
	atomic_store(&waited_ns, now_ns() - begin);
	return NULL;
}

static void do_timed(int cnt)
{
	pthread_t t;

	pthread_mutex_lock(&lock);
	NEED(!pthread_create(&t, NULL, timed_out, (void *)(intptr_t)cnt));
	while (!atomic_exchange(&waited_ns, 0)) /* not by join, whose wait would count */
		nap_ms(1);
	nap_ms(HOLD_MS);
	pthread_join(t, NULL);
	pthread_mutex_unlock(&lock);
	printf("timed %lu %d 0 %d\n", (unsigned long)&lock, cnt, getpid());
}

static void *sleeper(void *arg)
{
	while (!waits(getpid()))
		nap_ms(0.2);
	nap_ms(HOLD_MS);
	return arg;
}

static void do_join(void)
{
	pthread_t t;

	NEED(!pthread_create(&t, NULL, sleeper, NULL));
	pthread_join(t, NULL);
	printf("join 0 1 0 0\n");
}

static long futex(const void *address, uint32_t value, double ms)
{
	struct timespec timeout = {0, ms * 1000000};

	return syscall(SYS_futex, address, FUTEX_WAIT_PRIVATE, value, ms ? &timeout : NULL, NULL, 0)
		       ? errno
		       : 0;
}

static uint32_t interrupted_word;
static void on_signal(int number)
{
	(void)number;
}

static void *interrupted(void *arg)
{
	waiter_tid = syscall(SYS_gettid);
	atomic_store(&answered, 1);
	NEED(futex(&interrupted_word, 0, 0) == EINTR);
	return arg;
}

static void do_signal(void)
{
	struct sigaction a = {.sa_handler = on_signal};
	pthread_t t;

	sigaction(SIGUSR1, &a, NULL);
	atomic_store(&answered, 0);
	NEED(!pthread_create(&t, NULL, interrupted, NULL));
	while (!atomic_load(&answered))
		nap_ms(0.2);
	await_wait(waiter_tid);
	pthread_kill(t, SIGUSR1);
	pthread_join(t, NULL);
	printf("signal %lu 1 0 0\n", (unsigned long)&interrupted_word);
}

static void do_posed(int cnt)
{
	static uint32_t other[4] = {2, 0, 1}, nobody[4] = {2, 0, 0x7fffffff};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *last = (void *)(page + 4092);
	static uint32_t word;

	NEED(page != MAP_FAILED && !munmap(page + 4096, 4096));
	*last = 2;
	for (int i = 0; i < cnt; i++) {
		NEED(futex(&word, 1, 0) == EAGAIN);
		NEED(futex(page + 4096, 2, 0) == EFAULT);
		NEED(futex(other, 2, HOLD_MS) == ETIMEDOUT);
		NEED(futex(nobody, 2, HOLD_MS) == ETIMEDOUT);
		NEED(futex(last, 2, HOLD_MS) == ETIMEDOUT);
	}
	printf("changed %lu %d 0 0\nfault %lu %d 0 0\n", (unsigned long)&word, cnt,
	       (unsigned long)page + 4096, cnt);
	printf("posed %lu %d 0 0\nposed %lu %d 0 0\nposed %lu %d 0 0\n", (unsigned long)other, cnt,
	       (unsigned long)nobody, cnt, (unsigned long)last, cnt);
}

/* ---- of the kernel: a file's lock for writing, on one CPU, where nobody spins */

enum { WRITE_SZ = 16 << 20 };
static int file;

static void *writer(void *arg)
{
	char *from = calloc(1, WRITE_SZ);

	NEED(from);
	while (!atomic_load(&answered))
		NEED(pwrite(file, from, WRITE_SZ, 0) == WRITE_SZ);
	free(from);
	return arg;
}

static void do_kernel(int cnt)
{
	uint64_t sum = 0, begin;
	cpu_set_t one;
	pthread_t t;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	file = memfd_create("locks", 0);
	NEED(file >= 0);
	atomic_store(&answered, 0);
	NEED(!pthread_create(&t, NULL, writer, NULL));
	for (int i = 0; i < cnt; i++) {
		nap_ms(1);
		begin = now_ns();
		NEED(pwrite(file, "", 1, 0) == 1);
		sum += now_ns() - begin;
	}
	atomic_store(&answered, 1);
	pthread_join(t, NULL);
	printf("kernel 0 %d %lu 0\n", cnt, sum);
}

int main(int argc, char **argv)
{
	int cnt = argc > 1 ? atoi(argv[1]) : 0;
	char go;

	if (cnt < 1 || read(0, &go, 1) != 1)
		return 2;
	setlinebuf(stdout);
	printf("pid %d\n", getpid());
	do_mutex(cnt);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		do_pair(&pairs[i], cnt);
	do_timed(cnt);
	do_join();
	do_signal();
	do_posed(cnt);
	do_kernel(cnt);
	return 0;
}
