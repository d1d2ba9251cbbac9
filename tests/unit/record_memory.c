/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory read by a reader: chunks that end in front of what cannot be read. */
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "record/process/read_memory.h"

enum { PAGE_SZ = 4096, PAGES = MEMORY_CHUNK_SZ / PAGE_SZ + 2 };

static char *at;

static void expect(const char *what, struct parcel *answer, const char *from, size_t len)
{
	struct span got = read_memory_next(answer);

	CHECK(got.len == len && !memcmp(got.p, from, len), "%s: %zu bytes, not %zu", what, got.len,
	      len);
}

int main(void)
{
	struct parcel request, answer;

	at = mmap(NULL, PAGES * PAGE_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		  0);
	if (at == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < PAGES * PAGE_SZ; i++)
		at[i] = i * 7 ^ i >> 12;
	CHECK(!munmap(at + (PAGES - 1) * PAGE_SZ, PAGE_SZ), "munmap");
	read_memory_ask(&request, getpid());
	read_memory_at(&request, (uintptr_t)at);
	read_memory_at(&request, (uintptr_t)at + 100);
	read_memory_at(&request, (uintptr_t)at + (PAGES - 1) * PAGE_SZ - 8);
	read_memory_at(&request, 0);
	read_memory_at(&request, UINT64_MAX - 4);
	read_memory_at(&request, (uintptr_t)at + PAGE_SZ);
	parcel_init(&answer, 0);
	answer.rc = read_memory_serve(-1, &request, &answer);
	CHECK(!answer.rc && !answer.bad, "served");
	expect("a chunk", &answer, at, MEMORY_CHUNK_SZ);
	expect("not at a page", &answer, at + 100, MEMORY_CHUNK_SZ);
	expect("at the end", &answer, at + (PAGES - 1) * PAGE_SZ - 8, 8);
	expect("nowhere", &answer, at, 0);
	expect("beyond the last address", &answer, at, 0);
	expect("the last pages", &answer, at + PAGE_SZ, (PAGES - 2) * PAGE_SZ);
	expect("nothing more", &answer, at, 0);
	CHECK(answer.bad, "read past the end");
	parcel_fini(&answer);
	parcel_fini(&request);

	parcel_init(&answer, 0);
	answer.rc = -ETIMEDOUT;
	expect("late", &answer, at, 0);
	CHECK(!answer.bad, "nothing is read of it");
	return failed;
}
