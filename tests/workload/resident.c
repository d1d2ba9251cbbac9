/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Resident memory that does not come and go as one page fault a page, for the probe mem.
 *
 *   resident MIB FILE   each case below in a function of its own, with so many MiB. Writes FILE
 *
 * Waits for a byte on stdin, prints for each case a line "FUNCTION GAINED RELEASED" (KiB) at the
 * end, waits for another byte before it exits. The function is on the stack then, of this program
 * or the kernel; % stands for any letters.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, no_icf))
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
enum { HUGE_PAGE = 2 << 20, VFORKS = 200, THREADS = 4 };

static size_t page, size;
static char *first; /* mapped before the recording */
static int file;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(1);
}

static void await(void)
{
	char go;

	if (read(0, &go, 1) != 1)
		_exit(3);
}

/* By the page tables, not by the kernel's counters. Needs no new memory. */
static long kib(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *at;

	need(n > 0, "smaps_rollup");
	close(fd);
	text[n] = 0;
	at = strstr(text, "\nRss:");
	need(at != NULL, "Rss");
	return atol(at + 5);
}

static char *map_sized(size_t sz, int flags)
{
	char *p =
		mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	need(p != MAP_FAILED, "mmap");
	return p;
}

static char *map_new(void)
{
	char *p = map_sized(size, 0);

	madvise(p, size, MADV_NOHUGEPAGE);
	return p;
}

/* Of huge pages, where the kernel has them. */
static char *map_huge(size_t sz)
{
	char *p = map_sized(sz + HUGE_PAGE, 0);

	p += -(uintptr_t)p & (HUGE_PAGE - 1);
	madvise(p, sz, MADV_HUGEPAGE);
	return p;
}

static void touch(char *p, size_t sz)
{
	for (size_t i = 0; i < sz; i += page)
		p[i] = 1;
}

/*
 * Before 6.2 the kernel adds up the changes of a thread until it has had 64 faults, of a file's
 * pages several each.
 */
static void settle(void)
{
	enum { FAULTS = 150 };
	char *p = map_sized(FAULTS * page, 0);

	madvise(p, FAULTS * page, MADV_NOHUGEPAGE);
	touch(p, FAULTS * page);
	munmap(p, FAULTS * page);
}

static long kib_settled(void)
{
	kib();
	settle();
	return kib();
}

struct seen {
	long before, most, after;
};

/* The very first change of the process's memory that the recording can see. */
FAR static void first_case(struct seen *k)
{
	touch(first, HUGE_PAGE);
	k->most = k->after = kib();
}

FAR static void huge_case(struct seen *k)
{
	char *p = map_huge(size);

	touch(p, size);
	k->most = kib();
	need(!madvise(p, size / 2, MADV_DONTNEED), "madvise");
	need(!munmap(p + size / 2, size / 4), "munmap");
	k->after = kib();
}

FAR static void populate_case(struct seen *k)
{
	char *p = map_sized(size, MAP_POPULATE);

	k->most = kib();
	need(!munmap(p, size / 2), "munmap");
	k->after = kib();
}

FAR static void lock_case(struct seen *k)
{
	char *p = map_new();

	need(!mlock(p, size), "mlock");
	k->most = kib();
	need(!munmap(p, size / 2), "munmap");
	k->after = kib();
}

FAR static void lockall_case(struct seen *k)
{
	char *p;

	need(!mlockall(MCL_FUTURE), "mlockall");
	p = map_sized(size, 0);
	k->most = kib();
	need(!munlockall(), "munlockall");
	need(!munmap(p, size / 2), "munmap");
	k->after = kib();
}

/* What the page cache has around a page is mapped with it. */
FAR static void around_case(struct seen *k)
{
	volatile char *p = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);

	need(p != MAP_FAILED, "mmap");
	for (size_t i = 0; i < size; i += page)
		p[i];
	k->most = kib();
	need(!madvise((void *)p, size / 2, MADV_DONTNEED), "madvise");
	k->after = kib();
}

FAR static void shared_case(struct seen *k)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "mmap");
	touch(p, size);
	k->most = kib();
	need(!munmap(p, size / 2), "munmap");
	k->after = kib();
}

/* Mapped anew over what was there. */
FAR static void over_case(struct seen *k)
{
	char *p = map_new();

	touch(p, size);
	k->most = kib();
	map_new();
	need(mmap(p, size / 2, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == p,
	     "mmap");
	k->after = kib();
}

/* What is free to take stays resident until it is taken: here by request. */
FAR static void free_case(struct seen *k)
{
	char *p = map_new();

	touch(p, size);
	need(!madvise(p, size / 2, MADV_FREE), "madvise");
	k->most = kib();
	madvise(p, size / 2, MADV_PAGEOUT);
	k->after = kib();
}

/* Children that share the memory grow it too, and do not make it theirs. */
FAR static void vfork_case(struct seen *k)
{
	char *p = map_new();
	size_t each = size / VFORKS / page * page;

	for (int i = 0; i < VFORKS; i++, p += each) {
		pid_t pid = vfork();

		if (!pid) {
			touch(p, each / 4);
			_exit(0);
		}
		need(pid > 0 && waitpid(pid, NULL, 0) == pid, "vfork");
		touch(p, each);
	}
	k->most = k->after = kib();
}

/* Another process writes to it. */
FAR static void remote_case(struct seen *k)
{
	char *p = map_new(), c = 1;
	pid_t parent = getpid(), pid = fork();
	int status = 1;

	if (!pid) {
		prctl(PR_SET_NAME, "writer");
		for (size_t i = 0; i < size; i += page) {
			struct iovec from = {&c, 1}, to = {p + i, 1};

			need(process_vm_writev(parent, &from, 1, &to, 1, 0) == 1,
			     "process_vm_writev");
		}
		_exit(0);
	}
	need(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "fork");
	k->most = k->after = kib();
}

FAR static void *toucher(void *p)
{
	touch(p, size / THREADS / page * page);
	return p;
}

FAR static void threads_case(struct seen *k)
{
	char *p = map_new();
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		need(!pthread_create(&t[i], NULL, toucher, p + size / THREADS / page * page * i),
		     "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	k->most = k->after = kib();
}

/* Shared with children. Printed in one piece: who waits for it waits for all. */
static struct text {
	size_t len;
	char s[4000];
} * text;

static void tell(const char *name, const struct seen *k)
{
	text->len += snprintf(text->s + text->len, sizeof(text->s) - text->len, "%s %ld %ld\n",
			      name, k->most - k->before, k->most - k->after);
}

/* A child begins with copies of its parent's pages. The copies are not its growth. */
FAR static void child_case(struct seen *k)
{
	char *p = map_huge(size);

	touch(p, size);
	k->most = kib();
	need(!munmap(p, size / 2), "munmap");
	k->after = kib();
}

static void fork_child(void)
{
	struct seen k = {0};
	int status = 1;
	pid_t pid = fork();

	if (!pid) {
		k.before = kib_settled();
		child_case(&k);
		tell("child_case", &k);
		_exit(0);
	}
	need(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "fork");
}

static const struct {
	const char *name;
	void (*run)(struct seen *k);
} cases[] = {
	{"first_case", first_case},
	{"huge_case", huge_case},
	{"populate_case", populate_case},
	{"lock_case", lock_case},
	{"lockall_case", lockall_case},
	{"around_case", around_case},
	{"shared_case", shared_case},
	{"over_case", over_case},
	{"free_case", free_case},
	{"vfork_case", vfork_case},
	{"%sys_process_vm_writev", remote_case},
	{"toucher", threads_case},
};

static void file_write(const char *path)
{
	char *data = calloc(1, page);

	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	need(file >= 0, path);
	for (size_t i = 0; i < size; i += page)
		need(write(file, data, page) == (ssize_t)page, path);
}

int main(int argc, char **argv)
{
	struct seen k;

	if (argc < 3)
		return 2;
	page = sysconf(_SC_PAGESIZE);
	size = (size_t)atoi(argv[1]) << 20;
	file_write(argv[2]);
	first = map_huge(HUGE_PAGE);
	text = mmap(NULL, sizeof(*text), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(text != MAP_FAILED, "mmap");
	k.before = kib_settled();
	await();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (i)
			k.before = kib_settled();
		cases[i].run(&k);
		tell(cases[i].name, &k);
	}
	fork_child();
	need(write(1, text->s, text->len) == (ssize_t)text->len, "write");
	await();
	return 0;
}
