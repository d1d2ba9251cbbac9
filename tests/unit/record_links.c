/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Detaching: all links at once, each exactly once. The stand-in for libbpf's function lets each
 * wait for all others, so that one after another none would return before the test gives up.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "record/base/links.h"
#include "check.h"

enum { CNT = 200, GIVE_UP_S = 20 };

struct bpf_link {
	int destroyed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static size_t waiting, together; /* who wait for each other */

int bpf_link__destroy(struct bpf_link *link)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GIVE_UP_S;
	pthread_mutex_lock(&lock);
	link->destroyed++;
	waiting++;
	pthread_cond_broadcast(&changed);
	while (waiting < together && !pthread_cond_timedwait(&changed, &lock, &until))
		;
	pthread_mutex_unlock(&lock);
	return 0;
}

static void keep_all(struct links *l, struct bpf_link *link)
{
	for (size_t i = 0; i < CNT; i++) {
		link[i].destroyed = 0;
		CHECK(!links__keep(l, &link[i]));
	}
	waiting = 0;
}

static size_t once(const struct bpf_link *link)
{
	size_t n = 0;

	for (size_t i = 0; i < CNT; i++)
		n += link[i].destroyed == 1;
	return n;
}

static void test_at_once(void)
{
	static struct bpf_link link[CNT];
	struct links l = {0};

	keep_all(&l, link);
	together = CNT;
	links__detach(&l);
	links__fini(&l);
	CHECK(waiting == CNT, "%zu", waiting);
	CHECK(once(link) == CNT, "%zu", once(link));
	CHECK(!l.cnt);
}

/* It does not wait for the kernel: that is left to the end. */
static void test_begins_only(void)
{
	static struct bpf_link link[CNT];
	struct links l = {0};

	keep_all(&l, link);
	together = CNT + 1;
	links__detach(&l); /* returns, though none of them can */
	pthread_mutex_lock(&lock);
	waiting++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	links__fini(&l);
	CHECK(waiting == CNT + 1, "%zu", waiting);
	CHECK(once(link) == CNT, "%zu", once(link));
}

/* What comes while they go: it is not theirs any more. */
static void test_too_late(void)
{
	static struct bpf_link link[CNT], late;
	struct links l = {0};
	int fd[2];

	CHECK(!pipe(fd));
	keep_all(&l, link);
	together = CNT + 1;
	links__detach(&l);
	CHECK(links__keep(&l, &late) == -ECANCELED && late.destroyed == 1);
	CHECK(links__keep_fd(&l, fd[0]) == -ECANCELED && fcntl(fd[0], F_GETFD) < 0);
	links__drop(&l, &link[0]);
	links__fini(&l);
	CHECK(once(link) == CNT, "%zu", once(link));
	CHECK(links__keep_fd(&l, fd[1]) == -ECANCELED && fcntl(fd[1], F_GETFD) < 0);
	links__fini(&l);
	CHECK(late.destroyed == 1);
}

static void test_without_beginning(void)
{
	static struct bpf_link link[CNT];
	struct links l = {0};

	keep_all(&l, link);
	together = CNT;
	links__fini(&l);
	links__fini(&l);
	CHECK(waiting == CNT, "%zu", waiting);
	CHECK(once(link) == CNT, "%zu", once(link));
}

static void test_drop(void)
{
	static struct bpf_link link[CNT];
	struct links l = {0};

	keep_all(&l, link);
	together = 0;
	links__drop(&l, &link[CNT / 2]);
	CHECK(link[CNT / 2].destroyed == 1 && waiting == 1);
	links__fini(&l);
	CHECK(once(link) == CNT, "%zu", once(link));
}

static void test_take(void)
{
	static struct bpf_link link[CNT], more;
	struct links l = {0}, from = {0};

	keep_all(&from, link);
	CHECK(!links__keep(&l, &more));
	links__take(&l, &from);
	CHECK(!from.cnt && l.cnt == CNT + 1);
	together = CNT + 1;
	links__fini(&from);
	links__fini(&l);
	CHECK(waiting == CNT + 1 && once(link) == CNT && more.destroyed == 1);
}

/* The caller does not wait; what it has is new and empty. */
static void test_let_go(void)
{
	static struct bpf_link link[CNT], more;
	struct links l = {0};
	size_t seen;

	keep_all(&l, link);
	together = 2;
	links__let_go(&l); /* returns, though its first cannot */
	CHECK(!l.cnt && !links__keep(&l, &more));
	links__fini(&l);
	CHECK(more.destroyed == 1);
	for (int i = 0; i < GIVE_UP_S * 1000; i++) {
		pthread_mutex_lock(&lock);
		seen = waiting;
		pthread_mutex_unlock(&lock);
		if (seen == CNT + 1)
			break;
		usleep(1000);
	}
	CHECK(seen == CNT + 1 && once(link) == CNT, "%zu", seen);
}

static void test_descriptors(void)
{
	struct links l = {0};
	int fd[2];

	CHECK(!pipe(fd));
	CHECK(links__keep_fd(&l, -EPERM) == -EPERM);
	errno = ENOENT;
	CHECK(links__keep(&l, NULL) == -ENOENT);
	CHECK(!l.cnt);
	CHECK(!links__keep_fd(&l, fd[0]) && !links__keep_fd(&l, fd[1]));
	links__fini(&l);
	CHECK(fcntl(fd[0], F_GETFD) < 0 && fcntl(fd[1], F_GETFD) < 0);
}

int main(void)
{
	test_at_once();
	test_begins_only();
	test_too_late();
	test_without_beginning();
	test_drop();
	test_take();
	test_let_go();
	test_descriptors();
	return failed;
}
