/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates memory in functions heap_*, and prints what each allocated and what of it was not
 * freed, by its own account: "alloc|live FUNCTION OBJECTS BYTES". heap_tiny apart, sizes are
 * 40 bytes or more.
 *
 *   exact N    each function of the allocator N times, every second result is freed; different
 *              ones through one call; in threads; a child that frees what it has inherited, and
 *              allocates
 *   moved N    as exact, while the thread is moved from one CPU to another all the time
 *   shares N   60, 30 and 10 % of the bytes by three functions, all freed
 *   leaks N    a step every ms: a leak, another one of every fourth allocation, one through
 *              thousands of stacks, and what is none: churn, a cache that fills up and stops, one
 *              that replaces its oldest entry, one that replaces any, one that is emptied
 *   callers N  not freed: of six stacks that share functions, each twice as much as the next;
 *              others are freed. The same in each run
 *   rate N     N pairs of malloc and free as fast as possible; prints their number per second
 *   rates N    the same again and again
 *
 * Begins after a byte, or the end, on stdin.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* operator new and delete of C++, if there is a library that has them */
void *_Znwm(size_t size) __attribute__((weak));
void _ZdlPv(void *p) __attribute__((weak));

/* Of mimalloc, likewise */
void *mi_calloc_aligned(size_t n, size_t size, size_t alignment) __attribute__((weak));
void *mi_recalloc(void *p, size_t n, size_t size) __attribute__((weak));
void *mi_rezalloc_aligned(void *p, size_t size, size_t alignment) __attribute__((weak));
void *mi_heap_get_default(void) __attribute__((weak));
void *mi_heap_malloc(void *heap, size_t size) __attribute__((weak));
void *mi_heap_calloc(void *heap, size_t n, size_t size) __attribute__((weak));
void *mi_heap_realloc(void *heap, void *p, size_t size) __attribute__((weak));
void *mi_heap_reallocn(void *heap, void *p, size_t n, size_t size) __attribute__((weak));

#define FUNCTION(name, expression)                                                                 \
	static __attribute__((noinline, noclone)) void *heap_##name(size_t size, void *old)        \
	{                                                                                          \
		void *volatile p = (expression);                                                   \
                                                                                                   \
		return p;                                                                          \
	}
static void *aligned(size_t size)
{
	void *p = NULL;

	return posix_memalign(&p, 256, size) ? NULL : p;
}

/* Different functions of the allocator are jumped to in the same frame, with the same return
 * address. */
static __attribute__((noinline, noclone)) void *grown(void *old, size_t size)
{
	return old ? realloc(old, size) : malloc(size);
}
static __attribute__((noinline, noclone)) void *cleared(size_t size, void *zero)
{
	return zero ? calloc(1, size) : malloc(size);
}
typedef void *(*of_two_fn)(size_t a, size_t b);
static const of_two_fn volatile of_two[] = {(of_two_fn)(void *)malloc, calloc, aligned_alloc,
					    memalign};
enum { OF_TWO = sizeof(of_two) / sizeof(*of_two) };

FUNCTION(grown, grown(old, size))
FUNCTION(cleared, cleared(size, old))
FUNCTION(pointed, of_two[(uintptr_t)old % OF_TWO](64, size))
FUNCTION(tiny, malloc(size))
FUNCTION(malloc, malloc(size))
FUNCTION(calloc, calloc(2, size / 2))
FUNCTION(new, _Znwm(size))
FUNCTION(posix_memalign, aligned(size))
FUNCTION(aligned_alloc, aligned_alloc(64, size))
FUNCTION(memalign, memalign(128, size))
FUNCTION(valloc, valloc(size))
FUNCTION(base, malloc(size))
FUNCTION(realloc, realloc(old, size))
FUNCTION(shrink, realloc(old, size))
FUNCTION(realloc_null, realloc(old, size))
FUNCTION(reallocarray, reallocarray(old, 2, size / 2))
FUNCTION(failed, malloc(size))
FUNCTION(mi_calloc_aligned, mi_calloc_aligned(2, size / 2, 64))
FUNCTION(mi_recalloc, mi_recalloc(old, 2, size / 2))
FUNCTION(mi_rezalloc_aligned, mi_rezalloc_aligned(old, size, 64))
FUNCTION(mi_heap_malloc, mi_heap_malloc(mi_heap_get_default(), size))
FUNCTION(mi_heap_calloc, mi_heap_calloc(mi_heap_get_default(), 2, size / 2))
FUNCTION(mi_heap_realloc, mi_heap_realloc(mi_heap_get_default(), old, size))
FUNCTION(mi_heap_reallocn, mi_heap_reallocn(mi_heap_get_default(), old, 2, size / 2))
FUNCTION(thread, malloc(size))
FUNCTION(inherited, malloc(size))
FUNCTION(child, malloc(size))
FUNCTION(sixty, malloc(size))
FUNCTION(thirty, calloc(size, 1))
FUNCTION(ten, realloc(old, size))
FUNCTION(leak, malloc(size))
FUNCTION(mixed, malloc(size))
FUNCTION(churn, malloc(size))
FUNCTION(cache, malloc(size))
FUNCTION(oldest, malloc(size))
FUNCTION(any, malloc(size))
FUNCTION(emptied, malloc(size))
FUNCTION(many, malloc(size))
FUNCTION(rate, malloc(size))

typedef void *(*heap_fn)(size_t size, void *old);

static void tell(const char *what, const char *function, long objects, long bytes)
{
	if (objects)
		printf("%s heap_%s %ld %ld\n", what, function, objects, bytes);
}

static void free_any(void *p)
{
	free(p);
}

static void free_new(void *p)
{
	_ZdlPv(p);
}

/* Every second one is freed. */
static void some(const char *name, heap_fn fn, void (*release)(void *), long n, size_t size)
{
	for (long i = 0; i < n; i++) {
		void *p = fn(size, NULL);

		if (i % 2)
			release(p);
	}
	tell("alloc", name, n, n * size);
	tell("live", name, n - n / 2, (n - n / 2) * size);
}

/* The old block is that of another function. */
static void some_again(const char *name, heap_fn fn, long n, size_t size)
{
	for (long i = 0; i < n; i++) {
		void *p = fn(size, heap_base(400, NULL));

		if (i % 2)
			free(p);
	}
	tell("alloc", name, n, n * size);
	tell("live", name, n - n / 2, (n - n / 2) * size);
}

/* Through one call each. The second grown() returns the same size. */
static void by_one_call(long n)
{
	static const long sizes[OF_TWO] = {64, 64 * 192, 192, 192};
	long bytes = 0;

	for (long i = 0; i < n; i++) {
		void *p = heap_grown(136, heap_grown(136, NULL));

		if (i % 2)
			free(p);
		heap_cleared(152, i % 2 ? p : NULL);
		heap_pointed(192, (void *)(uintptr_t)i);
		bytes += sizes[i % OF_TWO];
	}
	tell("alloc", "grown", 2 * n, 2 * n * 136);
	tell("live", "grown", n - n / 2, (n - n / 2) * 136);
	tell("alloc", "cleared", n, n * 152);
	tell("live", "cleared", n, n * 152);
	tell("alloc", "pointed", n, bytes);
	tell("live", "pointed", n, bytes);
}

struct part {
	void **p;
	long n;
};

static void *in_thread(void *arg)
{
	struct part *part = arg;

	for (long i = 0; i < part->n; i++)
		part->p[i] = heap_thread(72, NULL);
	return NULL;
}

/* Freed by another thread than that which allocated. */
static void threads(long n)
{
	enum { THREADS = 4 };
	struct part part[THREADS];
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++) {
		part[i] = (struct part){calloc(n, sizeof(void *)), n};
		pthread_create(&t[i], NULL, in_thread, &part[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		for (long j = 0; j < n; j++)
			if (j % 2)
				free(part[i].p[j]);
	}
	tell("alloc", "thread", THREADS * n, THREADS * n * 72);
	tell("live", "thread", THREADS * (n - n / 2), THREADS * (n - n / 2) * 72);
}

static void child(long n)
{
	void **p = calloc(n, sizeof(*p));
	pid_t pid;

	for (long i = 0; i < n; i++)
		p[i] = heap_inherited(88, NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		for (long i = 0; i < n; i++) {
			free(p[i]);
			heap_child(104, NULL);
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	tell("alloc", "inherited", n, n * 88);
	tell("live", "inherited", n, n * 88);
	tell("alloc", "child", n, n * 104);
	tell("live", "child", n, n * 104);
}

/* More than the process may map. */
static void too_large(void)
{
	struct rlimit was, now;

	if (getrlimit(RLIMIT_AS, &was))
		abort();
	now = was;
	now.rlim_cur = 1UL << 45;
	if (setrlimit(RLIMIT_AS, &now) || heap_failed(1UL << 46, NULL) ||
	    setrlimit(RLIMIT_AS, &was))
		abort();
}

static void exact(long n)
{
	long n_base;

	some("tiny", heap_tiny, free_any, n, 1);
	some("malloc", heap_malloc, free_any, n, 64);
	some("calloc", heap_calloc, free_any, n, 96);
	if (_Znwm)
		some("new", heap_new, free_new, n, 48);
	some("posix_memalign", heap_posix_memalign, free_any, n, 512);
	some("aligned_alloc", heap_aligned_alloc, free_any, n, 128);
	some("memalign", heap_memalign, free_any, n, 384);
	some("valloc", heap_valloc, free_any, n, 4096);
	some("realloc_null", heap_realloc_null, free_any, n, 80);
	some_again("realloc", heap_realloc, n, 4000);
	some_again("shrink", heap_shrink, n, 56);
	some_again("reallocarray", heap_reallocarray, n, 800);
	if (mi_heap_reallocn) {
		some_again("mi_heap_realloc", heap_mi_heap_realloc, n, 3000);
		some_again("mi_heap_reallocn", heap_mi_heap_reallocn, n, 60);
		some("mi_heap_malloc", heap_mi_heap_malloc, free_any, n, 2000);
		some("mi_heap_calloc", heap_mi_heap_calloc, free_any, n, 200);
	}
	n_base = (mi_heap_reallocn ? 5 : 3) * n + 1;
	tell("alloc", "base", n_base, n_base * 400);
	free(NULL);
	too_large();
	/* It fails, and the block remains. */
	if (realloc(heap_base(400, NULL), PTRDIFF_MAX / 4))
		abort();
	tell("live", "base", 1, 400);
	if (mi_recalloc) {
		some("mi_calloc_aligned", heap_mi_calloc_aligned, free_any, n, 1000);
		some("mi_recalloc", heap_mi_recalloc, free_any, n, 5000);
		some("mi_rezalloc_aligned", heap_mi_rezalloc_aligned, free_any, n, 6000);
	}
	by_one_call(n);
	threads(n);
	child(n);
}

static void *move(void *arg)
{
	const pid_t *tid = arg;
	cpu_set_t all, one;

	sched_getaffinity(0, sizeof(all), &all);
	for (;;)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(*tid, sizeof(one), &one);
			usleep(20);
		}
	return NULL;
}

static void begin_to_move(void)
{
	static pid_t tid;
	pthread_t t;

	tid = getpid();
	if (pthread_create(&t, NULL, move, &tid))
		abort();
}

static void shares(long n)
{
	for (long i = 0; i < n; i++) {
		free(heap_sixty(600, NULL));
		free(heap_thirty(300, NULL));
		free(heap_ten(100, NULL));
	}
	tell("alloc", "sixty", n, n * 600);
	tell("alloc", "thirty", n, n * 300);
	tell("alloc", "ten", n, n * 100);
}

/* By another stack for each value of `way`, whose bits choose the calls. */
static void *by_way(unsigned way, unsigned bits, size_t size);
static __attribute__((noinline, noclone)) void *by_detour(unsigned way, unsigned bits, size_t size)
{
	void *volatile p = by_way(way, bits, size);

	return p;
}
static __attribute__((noinline, noclone)) void *by_way(unsigned way, unsigned bits, size_t size)
{
	void *volatile p = !bits     ? heap_many(size, NULL)
			   : way % 2 ? by_way(way / 2, bits - 1, size)
				     : by_detour(way / 2, bits - 1, size);

	return p;
}

static void leaks(long n)
{
	long oldest_n = n / 2, any_n = n / 4, emptied_n = n * 2 / 5;
	void **oldest = calloc(oldest_n, sizeof(*oldest)), **any = calloc(any_n, sizeof(*any));
	void **emptied = calloc(emptied_n, sizeof(*emptied));
	uint32_t random = 1;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (long i = 0; i < n; i++) {
		void *mixed = heap_mixed(200, NULL);

		heap_leak(100, NULL);
		if (i % 4)
			free(mixed);
		free(heap_churn(300, NULL));
		if (i < n / 3)
			heap_cache(400, NULL);
		free(oldest[i % oldest_n]);
		oldest[i % oldest_n] = heap_oldest(500, NULL);
		random = random * 1664525 + 1013904223;
		free(any[(random >> 8) % any_n]);
		any[(random >> 8) % any_n] = heap_any(600, NULL);
		for (long j = 0; i && i % emptied_n == 0 && j < emptied_n; j++)
			free(emptied[j]);
		emptied[i % emptied_n] = heap_emptied(700, NULL);
		by_way(random >> 16, 12, 80);
		at.tv_nsec += 1000000;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	}
	tell("live", "leak", n, n * 100);
	tell("live", "mixed", (n + 3) / 4, (n + 3) / 4 * 200);
	tell("live", "many", n, n * 80);
}

#define CALLER(name, call)                                                                         \
	static __attribute__((noinline, noclone)) void *path_##name(size_t size)                   \
	{                                                                                          \
		void *volatile p = (call);                                                         \
                                                                                                   \
		return p;                                                                          \
	}
CALLER(a, heap_leak(size, NULL))
CALLER(b, heap_mixed(size, NULL))
CALLER(c, path_a(size))
CALLER(d, size % 3 ? path_a(size) : path_b(size))
CALLER(e, path_d(size))

static void callers(long n)
{
	for (long i = 0; i < n; i++) {
		path_e(3 * 1024);
		free(path_c(2000));
		path_c(512);
		for (int j = 0; j < 3; j++) {
			path_a(512);
			free(path_d(301));
		}
		path_d(256);
		for (int j = 0; j < 48; j++)
			path_e(128);
		if (i % 3 == 0)
			path_b(96 * 3);
		free(path_a(64));
	}
}

static void rate(long n)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (long i = 0; i < n; i++)
		free(heap_rate(40 + i % 64, NULL));
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.0f\n", n / (to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long n = argc >= 3 ? atol(argv[2]) : 0;
	char go;

	if (n <= 0) {
		fprintf(stderr, "usage: allocs exact|moved|shares|leaks|callers|rate|rates N\n");
		return 2;
	}
	if (read(0, &go, 1) < 0)
		return 1;
	if (!strcmp(argv[1], "moved"))
		begin_to_move();
	if (!strcmp(argv[1], "exact") || !strcmp(argv[1], "moved"))
		exact(n);
	else if (!strcmp(argv[1], "shares"))
		shares(n);
	else if (!strcmp(argv[1], "leaks"))
		leaks(n);
	else if (!strcmp(argv[1], "callers"))
		callers(n);
	else
		do
			rate(n);
		while (!strcmp(argv[1], "rates"));
	fflush(stdout);
	return 0;
}
