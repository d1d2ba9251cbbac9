/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread beside the hot one: it syncs, gives free memory back, and ends at once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/clock.h"
#include "record/host/memory.h"
#include "record/session/syncer.h"
#include "check.h"

enum { BLOCKS = 2000, BLOCK = 16 << 10 };

/* Freed memory under blocks that stay: the heap does not shrink by itself. */
static void test_give_back(struct obz_writer *w)
{
	static void *block[BLOCKS];
	uint64_t before, after, until = clock_now_ns() + 5000000000ULL;
	struct syncer *s;

	for (int i = 0; i < BLOCKS; i++)
		memset(block[i] = malloc(BLOCK), 1, BLOCK);
	for (int i = 0; i < BLOCKS - 1; i++)
		free(block[i]);
	before = memory_resident();
	CHECK(!syncer__new(&s, w, 1000000));
	do {
		usleep(10000);
		after = memory_resident();
	} while (after + BLOCKS * BLOCK / 2 > before && clock_now_ns() < until);
	CHECK(after + BLOCKS * BLOCK / 2 <= before, "%lu bytes resident, %lu before",
	      (unsigned long)after, (unsigned long)before);
	syncer__free(s);
	free(block[BLOCKS - 1]);
}

static void test_end(struct obz_writer *w)
{
	uint64_t from = clock_now_ns();
	struct syncer *s;

	CHECK(!syncer__new(&s, w, 3600000000000ULL));
	syncer__free(s);
	CHECK(clock_now_ns() - from < 1000000000, "it waited");
}

int main(void)
{
	const struct obz_writer_opts opts = {.header_json = "{}"};
	struct obz_writer *w;

	CHECK(!obz_writer__new(&w, memfd_create("archive", 0), &opts));
#ifndef __SANITIZE_ADDRESS__ /* whose heap is not glibc's */
	test_give_back(w);
#else
	(void)test_give_back;
#endif
	test_end(w);
	CHECK(!obz_writer__close(w, "{}"));
	return failed;
}
