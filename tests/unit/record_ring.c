/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading rings that lie in memory: the order between CPUs, and what is not to be handed over. */
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "record/intake/ring_read.h"
#include "check.h"

enum { CPUS = 3, JOINED = 2, SZ = 64 << 10 };
#define MS 1000000ULL

struct fake {
	unsigned long consumer, producer;
	char data[2 * SZ];
};

static struct fake fakes[CPUS];
static struct ring_view views[CPUS];
static char joined[JOINED][SZ];

struct seen {
	unsigned kind, cpu;
	uint64_t ts_ns;
};

static struct seen seen[8192];
static unsigned seen_cnt, bad_cnt;

static void note(unsigned kind, unsigned cpu, uint64_t ts_ns)
{
	seen[seen_cnt++] = (struct seen){kind, cpu, ts_ns};
}

static void on_stack(void *ctx, const struct wire_stack *s)
{
	note(WIRE_STACK, s->tgid, 0);
}

static void on_sample(void *ctx, const struct wire_sample *s)
{
	note(WIRE_SAMPLE, s->tgid, s->ts_ns);
}

static void on_other(void *ctx, const struct wire_hdr *hdr)
{
	note(hdr->kind, 0, 0);
}

static void on_bad(void *ctx)
{
	bad_cnt++;
}

static const struct ring_handler handler = {
	.stack = on_stack, .sample = on_sample, .other = on_other, .bad = on_bad};

static void setup(void)
{
	memset(fakes, 0, sizeof(fakes));
	for (int i = 0; i < CPUS; i++)
		views[i] = (struct ring_view){.consumer = &fakes[i].consumer,
					      .producer = &fakes[i].producer,
					      .data = fakes[i].data,
					      .joined = i < JOINED ? joined[i] : NULL,
					      .sz = SZ};
	seen_cnt = bad_cnt = 0;
}

/* As the kernel does; both images alike where the second one is read. */
static void put(unsigned cpu, const void *record, uint32_t size, uint32_t bits)
{
	struct fake *f = &fakes[cpu];
	uint32_t len = size | bits;

	for (uint32_t i = 0; i < BPF_RINGBUF_HDR_SZ + size; i++) {
		char c = i < 4			  ? ((char *)&len)[i]
			 : i < BPF_RINGBUF_HDR_SZ ? 0
						  : ((const char *)record)[i - BPF_RINGBUF_HDR_SZ];
		size_t at = (f->producer + i) % SZ;

		f->data[at] = c;
		f->data[at + SZ] = cpu < JOINED ? 0x55 : c;
	}
	f->producer += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
}

static void put_sample(unsigned cpu, uint64_t ts_ns, uint32_t bits)
{
	struct wire_sample s = {
		.hdr = {.kind = WIRE_SAMPLE, .size = sizeof(s)}, .ts_ns = ts_ns, .tgid = cpu};

	put(cpu, &s, sizeof(s), bits);
}

static void put_stack(unsigned cpu)
{
	struct wire_stack s = {.hdr = {.kind = WIRE_STACK, .size = sizeof(s)}, .tgid = cpu};

	put(cpu, &s, sizeof(s), 0);
}

static unsigned read_all(void)
{
	return ring_read(views, CPUS, &handler);
}

static void test_order_between_cpus(void)
{
	uint64_t last[CPUS] = {0}, newest = 0;

	setup();
	/* two seconds: one CPU steadily, one in bursts, one late */
	for (unsigned i = 0; i < 400; i++)
		put_sample(0, 1000 * MS + i * 5 * MS, 0);
	for (unsigned i = 0; i < 400; i++)
		put_sample(1, 1000 * MS + i / 100 * 500 * MS + i % 100 * 1000, 0);
	for (unsigned i = 0; i < 100; i++)
		put_sample(2, 2900 * MS + i * MS, 0);
	CHECK(read_all() == 900 && seen_cnt == 900, "%u", seen_cnt);
	for (unsigned i = 0; i < seen_cnt; i++) {
		CHECK(seen[i].ts_ns >= last[seen[i].cpu], "a CPU's own order, record %u", i);
		last[seen[i].cpu] = seen[i].ts_ns;
		CHECK(seen[i].ts_ns + 5 * MS >= newest, "record %u is %.1f ms late", i,
		      (newest - seen[i].ts_ns) / 1e6);
		newest = seen[i].ts_ns > newest ? seen[i].ts_ns : newest;
	}
	for (int i = 0; i < CPUS; i++)
		CHECK(fakes[i].consumer == fakes[i].producer, "room not given back");
	CHECK(!read_all(), "again");
}

static void test_stack_stays_with_its_sample(void)
{
	setup();
	for (unsigned i = 0; i < 50; i++)
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			put_stack(cpu);
			put_sample(cpu, (1 + i * 20 + cpu * 10) * MS, 0);
		}
	read_all();
	CHECK(seen_cnt == 200, "%u", seen_cnt);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		int before = 0;

		for (unsigned i = 0; i < seen_cnt; i++) {
			if (seen[i].cpu != cpu)
				continue;
			before += seen[i].kind == WIRE_STACK ? 1 : -1;
			CHECK(before >= 0 && before <= 1, "record %u", i);
		}
	}
}

static void test_what_is_not_there(void)
{
	struct wire_hdr unknown = {.kind = 999, .size = sizeof(unknown)};

	setup();
	put_sample(0, MS, 0);
	put_sample(0, 2 * MS, BPF_RINGBUF_DISCARD_BIT);
	put(0, &unknown, sizeof(unknown), 0);
	put(0, "half", 4, 0);
	put_sample(0, 3 * MS, BPF_RINGBUF_BUSY_BIT);
	put_sample(0, 4 * MS, 0);
	put_sample(1, 5 * MS, 0);
	read_all();
	CHECK(seen_cnt == 2 && seen[0].ts_ns == MS && seen[1].ts_ns == 5 * MS, "%u", seen_cnt);
	CHECK(bad_cnt == 2, "%u", bad_cnt);
	CHECK(fakes[0].consumer < fakes[0].producer, "a record that is being written ends it");
}

/* Payload, whose socket is told of in another ring. */
static void test_waits(void)
{
	unsigned told = 0;

	setup();
	views[1].waits = true;
	for (unsigned i = 0; i < 200; i++) {
		put_sample(0, (1000 + i) * MS, 0);
		put_sample(1, (1000 + i) * MS, 0);
		put_sample(1, (1000 + i) * MS + MS / 2, 0);
	}
	read_all();
	CHECK(seen_cnt == 600, "%u", seen_cnt);
	for (unsigned i = 0; i < seen_cnt; i++) {
		uint64_t at = (seen[i].ts_ns - 1000 * MS) / MS;

		if (!seen[i].cpu)
			told = at;
		else
			CHECK(told >= at && told <= at + 11, "record %u: %u of %u", i, (unsigned)at,
			      told);
	}
}

static void test_wraps(void)
{
	unsigned all = 0;

	setup();
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < 300; i++, all++)
			put_sample(round % CPUS, (all + 1) * MS, 0);
		read_all();
	}
	CHECK(fakes[0].producer > SZ && seen_cnt == all && !bad_cnt, "%u of %u, %u bad", seen_cnt,
	      all, bad_cnt);
	for (unsigned i = 0; i < all; i++)
		CHECK(seen[i].ts_ns == (i + 1) * MS, "record %u", i);
}

/* Records of any size, so that one begins, and ends, at each distance from the ring's end. */
static void test_wraps_anywhere(void)
{
	struct {
		struct wire_stack s;
		char more[SZ / 2];
	} stack = {.s.hdr.kind = WIRE_STACK};

	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		unsigned all = 0;

		setup();
		stack.s.tgid = cpu;
		for (; fakes[cpu].producer < 40 * SZ; all++) {
			stack.s.hdr.size = sizeof(stack.s) + all * 8 % (SZ / 2);
			put(cpu, &stack, stack.s.hdr.size, 0);
			read_all();
		}
		CHECK(seen_cnt == all && !bad_cnt, "CPU %u: %u of %u, %u bad", cpu, seen_cnt, all,
		      bad_cnt);
		for (unsigned i = 0; i < seen_cnt; i++)
			CHECK(seen[i].kind == WIRE_STACK && seen[i].cpu == cpu, "record %u", i);
	}
}

int main(void)
{
	test_order_between_cpus();
	test_stack_stays_with_its_sample();
	test_what_is_not_there();
	test_waits();
	test_wraps();
	test_wraps_anywhere();
	return failed;
}
