/* SPDX-License-Identifier: BSD-2-Clause */
/* The side-band's queue: records of all CPUs in order of time, each as it came, whether it is
 * emptied in between or never; after a burst its memory is given back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/process/sideband_queue.h"
#include "check.h"
#include "heap.h"

enum { LEN = 120, KEPT = 1 << 20 };

static bool add(struct sideband_queue *q, uint64_t ts_ns)
{
	char *to = sideband_queue_room(q);

	if (!to)
		return false;
	memset(to, 0, LEN);
	memcpy(to, &ts_ns, sizeof(ts_ns));
	sideband_queue_add(q, ts_ns, LEN);
	return true;
}

/* Hands out all up to `until`; returns how many. */
static size_t take(struct sideband_queue *q, uint64_t until)
{
	uint64_t ts_ns, last = 0;
	const char *rec;
	size_t cnt = 0, len;

	sideband_queue_sort(q);
	for (; (rec = sideband_queue_next(q, until, &len)); cnt++) {
		memcpy(&ts_ns, rec, sizeof(ts_ns));
		CHECK(len == LEN && ts_ns >= last && ts_ns <= until && ts_ns > 0);
		last = ts_ns;
	}
	return cnt;
}

static void test_order(void)
{
	struct sideband_queue q = {0};

	for (uint64_t i = 0; i < 1000; i++)
		CHECK(add(&q, 1 + i * 7919 % 1000));
	CHECK(take(&q, 300) == 300 && take(&q, 300) == 0);
	sideband_queue_compact(&q);
	CHECK(add(&q, 250));
	CHECK(take(&q, 1000) == 701 && take(&q, UINT64_MAX) == 0);
	sideband_queue_fini(&q);
}

/* Fills it: 64 MiB of records. */
static size_t burst(struct sideband_queue *q, uint64_t ts_ns)
{
	size_t cnt = 0;

	while (add(q, ts_ns + cnt))
		cnt++;
	return cnt;
}

/* left: records that are younger than what is handed out, always some. */
static void test_bound(uint64_t left)
{
	size_t before = heap_in_use(), cnt;
	struct sideband_queue q = {0};
	uint64_t now;

	cnt = burst(&q, 1);
	CHECK(cnt > (60 << 20) / LEN && heap_in_use() > before + (60 << 20), "%zu", cnt);
	CHECK(take(&q, cnt - left) == cnt - left);
	now = cnt;
	for (int round = 0; round < 3; round++) {
		sideband_queue_compact(&q);
		for (int i = 0; i < 1000; i++)
			CHECK(add(&q, ++now));
		CHECK(take(&q, now - left) == 1000);
	}
	CHECK(heap_in_use() <= before + KEPT, "%zu bytes with %lu left", heap_in_use() - before,
	      (unsigned long)left);
	CHECK(take(&q, now) == left);
	sideband_queue_fini(&q);
}

int main(void)
{
	test_order();
	test_bound(0);
	test_bound(10);
	return failed;
}
