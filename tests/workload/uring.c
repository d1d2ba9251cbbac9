/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Waits for futexes inside io_uring: uring N. Waits for a byte on stdin before it starts. N times each,
 * one at a time, it asks for a wait of a word (IORING_OP_FUTEX_WAIT) and of two words
 * (IORING_OP_FUTEX_WAITV), whose first another thread wakes HOLD_MS or more after that; once for a wait
 * of a word that has another value; and ends with a wait that nobody wakes.
 * Prints lines "NAME ADDRESS WAITS SUM_NS": the sum is the time from before each submission until its
 * completion was seen. Exits with 77 where the kernel has none of this.
 */
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "need.h"
#include "waits.h"

/* Since 6.7; not in older headers. */
enum { OP_FUTEX_WAIT = 51, OP_FUTEX_WAITV = 53, FLAGS_U32_PRIVATE = 2 | 128 };
enum { HOLD_MS = 10, ENTRIES = 8 };

struct waitv {
	uint64_t value, address;
	uint32_t flags, reserved;
};

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring;
static atomic_int words[2];
static _Atomic(atomic_int *) wanted; /* is to be woken */

static void *map(size_t sz, off_t at)
{
	void *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, at);

	NEED(p != MAP_FAILED);
	return p;
}

static void open_ring(void)
{
	struct io_uring_params p = {0};
	char *sq, *cq;

	ring.fd = syscall(SYS_io_uring_setup, ENTRIES, &p);
	if (ring.fd < 0)
		_exit(77);
	sq = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	cq = map(p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	ring.sqes = map(p.sq_entries * sizeof(*ring.sqes), IORING_OFF_SQES);
	ring.sq_tail = (void *)(sq + p.sq_off.tail);
	ring.sq_mask = (void *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (void *)(sq + p.sq_off.array);
	ring.cq_head = (void *)(cq + p.cq_off.head);
	ring.cq_tail = (void *)(cq + p.cq_off.tail);
	ring.cq_mask = (void *)(cq + p.cq_off.ring_mask);
	ring.cqes = (void *)(cq + p.cq_off.cqes);
}

__attribute__((noipa)) static void submit_wait(const struct io_uring_sqe *sqe)
{
	unsigned tail = *ring.sq_tail, at = tail & *ring.sq_mask;

	ring.sqes[at] = *sqe;
	ring.sq_array[at] = at;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	NEED(syscall(SYS_io_uring_enter, ring.fd, 1, 0, 0, NULL, 0) == 1);
	asm volatile(""); /* not a jump */
}

/* Returns the result of the request that completes next. */
static int await_completion(void)
{
	unsigned head = *ring.cq_head;
	int res;

	while (__atomic_load_n(ring.cq_tail, __ATOMIC_ACQUIRE) == head)
		NEED(syscall(SYS_io_uring_enter, ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) >= 0 ||
		     errno == EINTR);
	res = ring.cqes[head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, head + 1, __ATOMIC_RELEASE);
	return res;
}

static void *wake(void *arg)
{
	atomic_int *word;

	for (;;) {
		while (!(word = atomic_load(&wanted)))
			nap_ms(0.1);
		nap_ms(HOLD_MS);
		atomic_store(&wanted, NULL);
		atomic_store(word, 1);
		NEED(syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 1);
	}
	return arg;
}

/* Returns the time that it took. */
static uint64_t wait_once(const struct io_uring_sqe *sqe)
{
	uint64_t begin = now_ns();
	int res;

	atomic_store(&words[0], 0);
	submit_wait(sqe);
	atomic_store(&wanted, &words[0]);
	res = await_completion();
	if (res == -EINVAL)
		_exit(77);
	NEED(res == 0);
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	struct waitv waitv[2] = {{0, (uintptr_t)&words[0], FLAGS_U32_PRIVATE, 0},
				 {0, (uintptr_t)&words[1], FLAGS_U32_PRIVATE, 0}};
	struct io_uring_sqe one = {.opcode = OP_FUTEX_WAIT, .fd = FLAGS_U32_PRIVATE,
				   .addr = (uintptr_t)&words[0]};
	struct io_uring_sqe many = {.opcode = OP_FUTEX_WAITV, .addr = (uintptr_t)waitv, .len = 2};
	struct io_uring_sqe changed = one, forever = one;
	const uint64_t any = ~0u;
	int cnt = argc > 1 ? atoi(argv[1]) : 0;
	uint64_t ns = 0;
	pthread_t thread;
	char go;

	NEED(cnt > 0);
	/* addr3, the mask */
	memcpy((char *)&one + 48, &any, sizeof(any));
	memcpy((char *)&changed + 48, &any, sizeof(any));
	memcpy((char *)&forever + 48, &any, sizeof(any));
	open_ring();
	NEED(!pthread_create(&thread, NULL, wake, NULL));
	NEED(read(0, &go, 1) >= 0);
	for (int i = 0; i < cnt; i++)
		ns += wait_once(&one);
	printf("wait %ld %d %llu\n", (long)&words[0], cnt, (unsigned long long)ns);
	ns = 0;
	for (int i = 0; i < cnt; i++)
		ns += wait_once(&many);
	printf("waitv %ld %d %llu\n", (long)&words[0], cnt, (unsigned long long)ns);
	changed.off = 2; /* addr2: the value */
	submit_wait(&changed);
	NEED(await_completion() == -EAGAIN);
	printf("changed %ld 1 0\n", (long)&words[0]);
	forever.addr = (uintptr_t)&words[1];
	submit_wait(&forever);
	printf("forever %ld 1 0\n", (long)&words[1]);
	fflush(stdout);
	for (;;)
		pause();
}
