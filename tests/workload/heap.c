/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For LD_PRELOAD: writes the number of blocks that a program has allocated and not freed, in all
 * threads, and their bytes, as two 64-bit numbers to the file HEAP_FILE.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t cnt, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

struct live {
	int64_t blocks, bytes;
};

static struct live before, *live = &before;

static void count(int64_t blocks, int64_t bytes)
{
	__atomic_fetch_add(&live->blocks, blocks, __ATOMIC_RELAXED);
	__atomic_fetch_add(&live->bytes, bytes, __ATOMIC_RELAXED);
}

static void *taken(void *p)
{
	if (p)
		count(1, malloc_usable_size(p));
	return p;
}

static void given(void *p)
{
	if (p)
		count(-1, -(int64_t)malloc_usable_size(p));
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("HEAP_FILE");
	int fd = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, sizeof(*live)))
		p = mmap(NULL, sizeof(*live), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return;
	live = p;
	*live = before;
}

void *malloc(size_t size)
{
	return taken(__libc_malloc(size));
}

void *calloc(size_t cnt, size_t size)
{
	return taken(__libc_calloc(cnt, size));
}

void *realloc(void *old, size_t size)
{
	int64_t was = old ? malloc_usable_size(old) : 0;
	void *p = __libc_realloc(old, size);

	if (old && (p || !size))
		count(-1, -was);
	return taken(p);
}

void *memalign(size_t align, size_t size)
{
	return taken(__libc_memalign(align, size));
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = memalign(align, size);
	return *p ? 0 : 12;
}

void free(void *p)
{
	given(p);
	__libc_free(p);
}
