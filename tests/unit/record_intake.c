/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ring records become archive records: stack ids whichever of sample and definition comes first,
 * definitions that never come or come again, frames looked up, samples folded, losses counted once.
 * The tracker, the kernel symbols and the writer are fakes that note what they are asked.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/archive.h"
#include "record/intake/sample_fold.h"
#include "record/intake/intake.h"
#include "record/intake/stack_table.h"
#include "record/host/kallsyms.h"
#include "record/base/loss.h"
#include "record/process/process.h"
#include "check.h"
#include "heap.h"

enum { MAX = 256 };

struct obz_writer {
	struct rec_sample samples[MAX];
	struct rec_stack stacks[MAX];
	uint64_t first_frame[MAX];
	struct rec_loss losses[MAX];
	size_t sample_cnt, stack_cnt, loss_cnt;
	int err; /* to be returned */
};
static struct obz_writer writer;
static unsigned tracker_hits, kernel_hits;

int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	if (kind == REC_sample)
		w->samples[w->sample_cnt++ % MAX] = *(const struct rec_sample *)rec;
	if (kind == REC_loss)
		w->losses[w->loss_cnt++ % MAX] = *(const struct rec_loss *)rec;
	if (kind == REC_stack) {
		const struct rec_stack *s = rec;

		w->first_frame[w->stack_cnt % MAX] = s->frames.len ? s->frames.v[0] : 0;
		w->stacks[w->stack_cnt++ % MAX] = *s;
	}
	return w->err;
}

uint32_t tracker__thread(struct tracker *t, uint32_t tgid, uint32_t tid, const char *comm,
			 uint64_t ts_ns)
{
	return tgid == 666 ? 0 : tid;
}

uint64_t tracker__frame(struct tracker *t, uint32_t tgid, uint64_t address)
{
	return address == 0x1000 ? frame_pack(9, 0x10) : address;
}

void tracker__hit(struct tracker *t, uint32_t binary, uint64_t elf_address)
{
	tracker_hits++;
}

int kallsyms__hit(struct kallsyms *k, uint64_t address)
{
	kernel_hits += address == 0xffffffff81000000ULL;
	return 0;
}

static struct intake *make(struct loss **loss, uint64_t interval_ns)
{
	struct intake_opts o = {
		.writer = &writer,
		.kallsyms = (void *)&writer,
		.interval_ns = interval_ns,
	};
	struct intake *in = NULL;

	memset(&writer, 0, sizeof(writer));
	tracker_hits = kernel_hits = 0;
	CHECK(!loss__new(loss));
	o.loss = *loss;
	CHECK(!intake__new(&in, &o));
	return in;
}

static void define(struct intake *in, uint64_t hash, uint64_t frame, unsigned error)
{
	struct {
		struct wire_stack s;
		uint64_t frames[1];
	} d = {.s = {.hash = hash, .tgid = 5, .frame_cnt = 1, .error = error}, .frames = {frame}};

	intake__stack(in, &d.s);
}

static void sample(struct intake *in, uint32_t tgid, uint64_t ts_ns, uint64_t user, uint64_t kernel)
{
	struct wire_sample s = {
		.hdr = {.probe = SAMPLE_cpu},
		.ts_ns = ts_ns,
		.tgid = tgid,
		.tid = tgid,
		.user_stack = user,
		.kernel_stack = kernel,
		.value = 10,
	};

	intake__sample(in, &s);
}

static void test_order(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	sample(in, 5, 100, 0xaaaa, 0); /* before its definition */
	define(in, 0xaaaa, frame_pack(3, 0x40), STACK_NONE);
	define(in, 0xbbbb, frame_pack(3, 0x50), STACK_NO_ROW);
	sample(in, 5, 200, 0xbbbb, 0xaaaa);
	sample(in, 5, 300, 0, 0);
	CHECK(writer.stack_cnt == 2 && writer.sample_cnt == 3);
	CHECK(writer.samples[0].user_stack == writer.stacks[0].id);
	CHECK(writer.samples[1].user_stack == writer.stacks[1].id);
	CHECK(writer.samples[1].kernel_stack == writer.stacks[0].id);
	CHECK(writer.samples[2].user_stack == 0 && writer.samples[2].kernel_stack == 0);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NONE) == 1);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NO_ROW) == 1);
	CHECK(intake__counts(in).samples == 3 && intake__counts(in).complete == 1);
	intake__finish(in);
	CHECK(loss__total(loss) == 0 && writer.stack_cnt == 2);
	intake__free(in);
	loss__free(loss);
}

static void test_lost_definition(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	sample(in, 5, 100, 0xcccc, 0);
	sample(in, 5, 200, 0xcccc, 0);
	CHECK(writer.stack_cnt == 0);
	intake__finish(in);
	CHECK(writer.stack_cnt == 1 && writer.stacks[0].error == STACK_NOT_TAKEN);
	CHECK(writer.stacks[0].id == writer.samples[0].user_stack);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NOT_TAKEN) == 2);
	CHECK(loss__total(loss) == 1);
	intake__free(in);
	loss__free(loss);
}

/* Counted as no other kind, and not written. */
static void test_unknown_kind(void)
{
	static const uint16_t kinds[] = {0, STACK_KINDS, 0xffff};
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	define(in, 0xaaaa, frame_pack(3, 0x40), STACK_NONE);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct wire_sample s = {
			.hdr = {.probe = kinds[i]},
			.tgid = 5,
			.tid = 5,
			.user_stack = i ? 0xaaaa : 0xbbbb,
		};

		CHECK(!intake__sample(in, &s), "kind %u", kinds[i]);
	}
	CHECK(writer.sample_cnt == 0 && intake__counts(in).samples == 0);
	CHECK(intake__counts(in).user_stacks == 0 && intake__leaves(in, 3) == 0);
	for (unsigned kind = 0; kind < STACK_KINDS; kind++)
		CHECK(intake__stacks(in, kind, STACK_NONE) == 0, "kind %u", kind);
	intake__finish(in);
	CHECK(loss__total(loss) == 0, "its caller counts it");
	intake__free(in);
	loss__free(loss);
}

static void test_epochs(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	define(in, 0xdddd, frame_pack(3, 0x40), STACK_NONE);
	define(in, 0xdddd, frame_pack(3, 0x40), STACK_NONE);
	CHECK(writer.stack_cnt == 1, "a definition that came twice was written twice");
	intake__advance(in);
	define(in, 0xdddd, frame_pack(3, 0x40), STACK_NONE);
	CHECK(writer.stack_cnt == 2, "not written again in a new epoch");
	CHECK(writer.stacks[0].id == writer.stacks[1].id);
	CHECK(tracker_hits == 1, "%u hits", tracker_hits);
	intake__free(in);
	loss__free(loss);
}

/* More stacks than are kept, and of every second one the definition was lost: its samples are known
 * as such once it is forgotten. */
static void test_forgotten(void)
{
	enum { CNT = 40000, EPOCHS = 4 };
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	for (uint64_t h = 1; h <= CNT; h++) {
		sample(in, 5, h, h * 0x9e3779b97f4a7c15ULL, 0);
		if (h % 2)
			define(in, h * 0x9e3779b97f4a7c15ULL, frame_pack(3, h), STACK_NONE);
	}
	for (int i = 0; i < EPOCHS; i++)
		intake__advance(in);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NOT_TAKEN) == CNT / 2, "%lu",
	      (unsigned long)intake__stacks(in, SAMPLE_cpu, STACK_NOT_TAKEN));
	CHECK(writer.stack_cnt == CNT, "%zu", writer.stack_cnt);
	CHECK(loss__total(loss) == CNT / 2);
	intake__finish(in);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NONE) == CNT / 2);
	CHECK(intake__counts(in).user_stacks == CNT && loss__total(loss) == CNT / 2);
	intake__free(in);
	loss__free(loss);
}

/* An hour in which each minute has its own stacks, and once very many: bytes in use. */
static void test_bound(void)
{
	enum { EPOCHS = 20, CNT = 60000, BURST = 300000 };
	struct loss *loss;
	struct intake *in = make(&loss, 0);
	size_t before = heap_in_use(), most = 0, burst = 0;
	uint64_t h = 1;

	for (int i = 0; i < EPOCHS; i++) {
		for (int n = i == EPOCHS / 2 ? BURST : CNT; n; n--, h++) {
			define(in, h * 0x9e3779b97f4a7c15ULL, frame_pack(3, h), STACK_NONE);
			sample(in, 5, h, h * 0x9e3779b97f4a7c15ULL, 0);
		}
		intake__advance(in);
		if (i == EPOCHS / 2)
			burst = heap_in_use() - before;
		else if (heap_in_use() - before > most)
			most = heap_in_use() - before;
	}
	printf("%d stacks a minute: %zu bytes, after a burst %zu\n", CNT, most, burst);
	CHECK(most <= 4 << 20 && burst > most);
	CHECK(intake__stacks(in, SAMPLE_cpu, STACK_NONE) == h - 1);
	intake__free(in);
	loss__free(loss);
}

static void test_frames(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	define(in, 1, frame_pack(0, 0x1000), STACK_NONE);
	CHECK(writer.first_frame[0] == frame_pack(9, 0x10) && tracker_hits == 1);
	define(in, 2, frame_pack(0, 0x2000), STACK_NO_MAPPING);
	CHECK(writer.first_frame[1] == 0x2000 && tracker_hits == 1);
	define(in, 3, frame_pack(FRAME_BINARY_KERNEL, 0xffffffff81000000ULL), STACK_NONE);
	CHECK(kernel_hits == 1 && tracker_hits == 1);
	sample(in, 666, 1, 1, 0);
	CHECK(writer.samples[0].thread == 0 && loss__total(loss) == 1);
	intake__free(in);
	loss__free(loss);
}

static void test_fold(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 1000);

	sample(in, 5, 1100, 1, 0);
	sample(in, 5, 1050, 1, 0); /* another CPU's ring: earlier */
	sample(in, 5, 1900, 2, 0);
	sample(in, 6, 1950, 1, 0);
	CHECK(writer.sample_cnt == 0);
	intake__flush(in, 1999);
	CHECK(writer.sample_cnt == 0, "written before the interval's end");
	sample(in, 5, 2000, 1, 0);
	CHECK(writer.sample_cnt == 3, "%zu rows", writer.sample_cnt);
	CHECK(writer.samples[0].count == 2 && writer.samples[0].value == 20);
	CHECK(writer.samples[0].ts_ns == 1050);
	intake__flush(in, UINT64_MAX);
	CHECK(writer.sample_cnt == 4 && writer.samples[3].count == 1);
	CHECK(intake__counts(in).samples == 5);
	intake__free(in);
	loss__free(loss);
}

static void test_write_error(void)
{
	struct loss *loss;
	struct intake *in = make(&loss, 0);

	writer.err = -ENOSPC;
	sample(in, 5, 100, 0, 0);
	writer.err = -EIO;
	sample(in, 5, 200, 0, 0);
	CHECK(intake__flush(in, 300) == -ENOSPC, "the first error counts");
	intake__free(in);
	loss__free(loss);
}

/* Rows that were folded and are then refused: each is tried, so that the writer counts it. */
static void test_refused(void)
{
	struct rec_sample s = {.ts_ns = 1000, .count = 1};
	struct fold *f;

	memset(&writer, 0, sizeof(writer));
	writer.err = OBZ_MAX_SIZE;
	CHECK(!fold__new(&f, &writer, 1000));
	for (s.thread = 1; s.thread <= 10; s.thread++)
		CHECK(!fold__add(f, &s));
	CHECK(fold__flush(f, 3000) == OBZ_MAX_SIZE);
	CHECK(writer.sample_cnt == 10, "%zu of 10 rows were tried", writer.sample_cnt);
	fold__free(f);
	writer.err = 0;
}

static void test_loss(void)
{
	struct loss *loss;

	memset(&writer, 0, sizeof(writer));
	CHECK(!loss__new(&loss));
	loss__add(loss, "ring", "full", 3);
	loss__add(loss, "ring", "other", 0);
	loss__add(loss, "ring", "full", 4);
	loss__write(loss, &writer, 10);
	CHECK(writer.loss_cnt == 1 && writer.losses[0].count == 7);
	loss__write(loss, &writer, 20);
	CHECK(writer.loss_cnt == 1, "a record without a loss");
	loss__add(loss, "ring", "full", 1);
	loss__write(loss, &writer, 30);
	CHECK(writer.loss_cnt == 2 && writer.losses[1].count == 1);
	CHECK(loss__total(loss) == 8);
	loss__free(loss);
}

int main(void)
{
	test_order();
	test_lost_definition();
	test_unknown_kind();
	test_epochs();
	test_forgotten();
	test_bound();
	test_frames();
	test_fold();
	test_write_error();
	test_refused();
	test_loss();
	return failed;
}
