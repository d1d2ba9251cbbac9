/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for more locks than anything can remember: addresses N. Waits for a byte on stdin before it
 * starts. THREADS threads wait for a futex N times in all, each time for another word, which looks
 * like a mutex of glibc that the main thread holds (word 2: its tid), until the timeout of a
 * nanosecond. Then one more thread waits for a mutex that the main thread holds. Prints the mutex's
 * address and the tid of the main thread.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "need.h"
#include "waits.h"

enum { THREADS = 4, LOCK_SZ = 40, HOLD_MS = 20 };

static unsigned char *locks;
static size_t each;
static pid_t owner;
static pthread_mutex_t last = PTHREAD_MUTEX_INITIALIZER;
static atomic_int last_tid;

static void *wait_each(void *arg)
{
	unsigned char *from = locks + (size_t)arg * each * LOCK_SZ;
	struct timespec soon = {0, 1};

	NEED(!prctl(PR_SET_TIMERSLACK, 1));
	for (size_t i = 0; i < each; i++) {
		int32_t *word = (void *)(from + i * LOCK_SZ);

		word[0] = 2;
		word[2] = owner;
		NEED(syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, &soon, NULL, 0) == -1 &&
		     errno == ETIMEDOUT);
	}
	return NULL;
}

static void *wait_last(void *arg)
{
	atomic_store(&last_tid, syscall(SYS_gettid));
	NEED(!pthread_mutex_lock(&last));
	NEED(!pthread_mutex_unlock(&last));
	return NULL;
}

int main(int argc, char **argv)
{
	size_t cnt = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	pthread_t thread[THREADS + 1];
	char go;

	NEED(cnt && cnt % THREADS == 0);
	each = cnt / THREADS;
	owner = syscall(SYS_gettid);
	locks = mmap(NULL, cnt * LOCK_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	NEED(locks != MAP_FAILED);
	NEED(read(0, &go, 1) >= 0);
	NEED(!pthread_mutex_lock(&last));
	for (size_t i = 0; i < THREADS; i++)
		NEED(!pthread_create(&thread[i], NULL, wait_each, (void *)i));
	for (size_t i = 0; i < THREADS; i++)
		NEED(!pthread_join(thread[i], NULL));
	NEED(!pthread_create(&thread[THREADS], NULL, wait_last, NULL));
	while (!atomic_load(&last_tid) || !waits(last_tid))
		nap_ms(0.2);
	nap_ms(HOLD_MS);
	NEED(!pthread_mutex_unlock(&last));
	NEED(!pthread_join(thread[THREADS], NULL));
	printf("%ld %d\n", (long)&last, (int)owner);
	return 0;
}
