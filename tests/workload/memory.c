/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of page faults and bytes by function, for the probe mem. Waits for a byte on stdin
 * before it starts, prints what it did, and waits for another byte before it exits.
 *
 *   memory faults ROUNDS       touches 61, 29 and 11 new pages a round in three functions; half of
 *                              the last ones inside read(2). Prints its minor faults meanwhile
 *   memory calls N             N times mmap, mremap (grown, shrunk), madvise, munmap and brk, and
 *                              calls that fail. Prints the bytes mapped, unmapped and discarded
 *   memory majors FILE PAGES   faults on pages of a file that the page cache does not have. Prints
 *                              its major faults meanwhile
 *   memory mapped FILE PAGES   touches as many pages of FILE, which it writes, twice as many of
 *                              anonymous memory, half as many of its heap, and 100 of its stack
 *   memory grow MIB            60, 30 and 10 MiB of each 100 made resident in three functions; then
 *                              half of all is released in a fourth. Prints KiB resident before,
 *                              at most and after
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FAR __attribute__((noinline, noclone, no_icf))
enum { SIXTY = 61, THIRTY = 29, TEN = 11 };

static long page;
static volatile char sink;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void await(void)
{
	char go;

	if (read(0, &go, 1) != 1)
		_exit(3);
}

static char *map_new(size_t sz)
{
	char *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED, "mmap");
	madvise(p, sz, MADV_NOHUGEPAGE); /* fails where the kernel has none */
	return p;
}

static void touch(char *p, size_t sz)
{
	for (size_t i = 0; i < sz; i += page)
		p[i] = 1;
}

FAR static char *sixty(char *p, size_t sz)
{
	touch(p, sz);
	return p + sz;
}

FAR static char *thirty(char *p, size_t sz)
{
	touch(p, sz);
	return p + sz;
}

/* Every other page is touched by the kernel. */
FAR static char *ten(char *p, size_t sz, int zero)
{
	for (size_t i = 0; i < sz; i += page)
		if (zero >= 0 && i / page % 2)
			need(read(zero, p + i, 1) == 1, "read");
		else
			p[i] = 1;
	return p + sz;
}

static void faults(int rounds)
{
	size_t sz = (size_t)(SIXTY + THIRTY + TEN) * page * rounds;
	int zero = open("/dev/zero", O_RDONLY);
	char *p = map_new(sz);
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < rounds; i++) {
		p = sixty(p, SIXTY * page);
		p = thirty(p, THIRTY * page);
		p = ten(p, TEN * page, zero);
	}
	getrusage(RUSAGE_SELF, &after);
	printf("faults %ld\n", after.ru_minflt - before.ru_minflt);
}

FAR static char *mapper(size_t sz)
{
	return map_new(sz);
}

FAR static char *remapper(char *p, size_t was, size_t now)
{
	p = mremap(p, was, now, MREMAP_MAYMOVE);
	need(p != MAP_FAILED, "mremap");
	return p;
}

FAR static void discarder(char *p, size_t sz)
{
	need(!madvise(p, sz, MADV_DONTNEED), "madvise");
	sink++;
}

FAR static void unmapper(char *p, size_t sz)
{
	need(!munmap(p, sz), "munmap");
	sink++;
}

FAR static void breaker(long by)
{
	need(sbrk(by) != (void *)-1, "sbrk");
	sink++;
}

FAR static void failing(char *p)
{
	need(mmap(p, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
		     munmap(p + 1, page) && madvise(p + 1, page, MADV_DONTNEED) &&
		     !madvise(p, page, MADV_NORMAL),
	     "a call that should fail");
	sink++;
}

/* Pages: mapped 5 + 3 + 2, unmapped 4 + 4 + 2, discarded 3; half a page more or less is a page. */
static void calls(int cnt)
{
	for (int i = 0; i < cnt; i++) {
		char *p = mapper(5 * page - page / 2);

		p = remapper(p, 5 * page, 8 * page);
		p = remapper(p, 8 * page, 4 * page);
		discarder(p, 3 * page - 1);
		failing(p);
		unmapper(p, 4 * page - 1);
		breaker(2 * page);
		breaker(-2 * page);
	}
	printf("calls %ld %ld %ld\n", 10 * page * cnt, 10 * page * cnt, 3 * page * cnt);
}

FAR static void from_disk(const char *p, size_t sz)
{
	for (size_t i = 0; i < sz; i += page)
		sink = p[i];
}

static void majors(const char *path, long pages)
{
	int fd = open(path, O_RDONLY);
	struct rusage before, after;
	char *p;

	need(fd >= 0, path);
	p = mmap(NULL, pages * page, PROT_READ, MAP_SHARED, fd, 0);
	need(p != MAP_FAILED, path);
	madvise(p, pages * page, MADV_RANDOM); /* no page is read ahead */
	need(!fsync(fd), "fsync");
	need(!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), "posix_fadvise");
	getrusage(RUSAGE_SELF, &before);
	from_disk(p, pages * page);
	getrusage(RUSAGE_SELF, &after);
	printf("majors %ld\n", after.ru_majflt - before.ru_majflt);
}

/* From the top, as a stack grows. */
FAR static void stack_toucher(size_t sz)
{
	volatile char *p = __builtin_alloca(sz);

	for (size_t i = sz; i >= (size_t)page; i -= page)
		p[i - 1] = 1;
	sink = p[0];
}

/* Of a private mapping each page written to is a fault; by reading several would be mapped. */
static void mapped(const char *path, long pages)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	char *p = map_new(page), *heap;

	need(fd >= 0, path);
	for (long i = 0; i < pages; i++)
		need(write(fd, p, page) == page, "write");
	p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	need(p != MAP_FAILED, path);
	touch(p, pages * page);
	touch(map_new(2 * pages * page), 2 * pages * page);
	heap = sbrk(pages / 2 * page);
	need(heap != (void *)-1, "sbrk");
	heap += -(uintptr_t)heap % page;
	madvise(heap, pages / 2 * page, MADV_NOHUGEPAGE);
	touch(heap, pages / 2 * page - page);
	stack_toucher(100 * page);
	printf("mapped %ld\n", pages);
}

static long resident_kib(void)
{
	long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/self/smaps_rollup", "r");

	need(f != NULL, "smaps_rollup");
	while (fgets(line, sizeof(line), f))
		sscanf(line, "Rss: %ld", &kib);
	fclose(f);
	return kib;
}

static void grow(size_t mib)
{
	size_t rounds = mib * 1048576 / page / (SIXTY + THIRTY + TEN);
	size_t sz = rounds * (SIXTY + THIRTY + TEN) * page;
	long before = resident_kib(), most;
	char *start = map_new(sz), *p = start;

	for (size_t i = 0; i < rounds; i++) {
		p = sixty(p, SIXTY * page);
		p = thirty(p, THIRTY * page);
		p = ten(p, TEN * page, -1);
	}
	most = resident_kib();
	discarder(start, sz / 2);
	printf("grow %ld %ld %ld\n", before, most, resident_kib());
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	page = sysconf(_SC_PAGESIZE);
	await();
	if (!strcmp(argv[1], "faults"))
		faults(atoi(argv[2]));
	else if (!strcmp(argv[1], "calls"))
		calls(atoi(argv[2]));
	else if (!strcmp(argv[1], "grow"))
		grow(atoi(argv[2]));
	else if (!strcmp(argv[1], "majors") && argc > 3)
		majors(argv[2], atoi(argv[3]));
	else if (!strcmp(argv[1], "mapped") && argc > 3)
		mapped(argv[2], atoi(argv[3]));
	else
		return 2;
	fflush(stdout);
	await();
	return 0;
}
