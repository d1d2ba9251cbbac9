/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/intake/event_text.h"
#include "record/intake/sample_fold.h"
#include "record/intake/intake.h"
#include "record/host/kallsyms.h"
#include "record/base/loss.h"
#include "record/process/process.h"
#include "record/intake/stack_table.h"
#include "format/record.h"

enum { MAX_ERRORS = 32, KEEP_STACKS = 16384 };

struct intake {
	struct intake_opts opts;
	struct stacks *stacks;
	struct fold *fold;
	uint64_t samples, user_stacks, complete;
	uint64_t by_error[STACK_KINDS][MAX_ERRORS];
	uint64_t *by_leaf; /* indexed by binary */
	int err;	   /* first write error */
};

/* `error` of a defined entry: the walk's error, and the binary of the leaf frame. */
enum { ERROR_BITS = 12, BINARIES = 1 << 16 };
#define ERROR_MASK ((1u << ERROR_BITS) - 1)

int intake__new(struct intake **out, const struct intake_opts *opts)
{
	struct intake *in = calloc(1, sizeof(*in));
	int err = -ENOMEM;

	if (!in)
		return err;
	in->opts = *opts;
	in->by_leaf = calloc(BINARIES, sizeof(*in->by_leaf)); /* only touched pages take memory */
	err = in->by_leaf ? stacks__new(&in->stacks) : -ENOMEM;
	if (!err)
		err = fold__new(&in->fold, opts->writer, opts->interval_ns);
	if (err)
		intake__free(in);
	else
		*out = in;
	return err;
}

void intake__free(struct intake *in)
{
	if (!in)
		return;
	fold__free(in->fold);
	stacks__free(in->stacks);
	free(in->by_leaf);
	free(in);
}

static void note(struct intake *in, int err)
{
	if (err && !in->err)
		in->err = err;
}

static void count(struct intake *in, unsigned kind, unsigned error, uint64_t n)
{
	in->by_error[kind][error < MAX_ERRORS ? error : 0] += n;
	if (error == STACK_NONE)
		in->complete += n;
}

/*
 * Reports frames that BPF has resolved, and looks up the others. Returns the frame for the archive.
 */
static uint64_t resolve(struct intake *in, uint32_t tgid, uint64_t frame, bool first)
{
	if (frame_binary(frame) == FRAME_BINARY_KERNEL) {
		if (first && in->opts.kallsyms)
			note(in, kallsyms__hit(in->opts.kallsyms, frame_address(frame)));
		return frame;
	}
	if (frame_binary(frame) == FRAME_BINARY_UNKNOWN)
		frame = tracker__frame(in->opts.tracker, tgid, frame_address(frame));
	if (first && frame_binary(frame) != FRAME_BINARY_UNKNOWN)
		tracker__hit(in->opts.tracker, frame_binary(frame), frame_address(frame));
	return frame;
}

static void write_stack(struct intake *in, uint32_t id, const uint64_t *frames, size_t cnt,
			uint32_t error)
{
	struct rec_stack r = {.id = id, .frames = {frames, cnt}, .error = error};

	note(in, obz_writer__put(in->opts.writer, REC_stack, &r));
}

/* Samples that arrived before the definition are counted with it. */
static void define(struct intake *in, struct stack_entry *e, uint32_t error, uint32_t leaf)
{
	uint32_t waited[STACK_KINDS];

	stacks__define(in->stacks, e, (error & ERROR_MASK) | leaf << ERROR_BITS, waited);
	for (unsigned kind = 0; kind < STACK_KINDS; kind++) {
		count(in, kind, error, waited[kind]);
		in->by_leaf[leaf] += waited[kind];
	}
}

void intake__stack(struct intake *in, const struct wire_stack *s)
{
	struct stack_entry *e = stacks__get(in->stacks, s->hash);
	uint64_t frames[WIRE_MAX_FRAMES];
	size_t cnt = s->frame_cnt < WIRE_MAX_FRAMES ? s->frame_cnt : WIRE_MAX_FRAMES;
	bool first;

	if (!e) {
		loss__add(in->opts.loss, "obrec", "stack: out of memory", 1);
		return;
	}
	if (e->current)
		return;
	first = !e->defined;
	for (size_t i = 0; i < cnt; i++)
		frames[i] = resolve(in, s->tgid, s->frames[i], first);
	write_stack(in, e->id, frames, cnt, s->error);
	define(in, e, s->error, cnt ? frame_binary(frames[0]) & (BINARIES - 1) : 0);
	e->current = true;
}

/* Returns the archive's id of a stack. User stacks are counted by the result of the unwind. */
static uint32_t stack_id(struct intake *in, uint64_t hash, unsigned kind, bool user)
{
	struct stack_entry *e;

	if (!hash)
		return 0;
	e = stacks__get(in->stacks, hash);
	if (!e) {
		loss__add(in->opts.loss, "obrec", "stack: out of memory", 1);
		return 0;
	}
	if (!user)
		return e->id;
	in->user_stacks++;
	if (e->defined) {
		count(in, kind, e->error & ERROR_MASK, 1);
		in->by_leaf[e->error >> ERROR_BITS]++;
	} else if (!stacks__wait(in->stacks, e, kind)) {
		count(in, kind, STACK_NOT_TAKEN, 1);
	}
	return e->id;
}

bool intake__sample(struct intake *in, const struct wire_sample *s)
{
	return intake__weighted(in, s, 1);
}

void intake__keep_stack(struct intake *in, uint64_t hash)
{
	stacks__get(in->stacks, hash);
}

bool intake__weighted(struct intake *in, const struct wire_sample *s, uint64_t count)
{
	char comm[WIRE_COMM_LEN + 1] = {0};
	struct rec_sample r = {
		.kind = s->hdr.probe,
		.ts_ns = s->ts_ns,
		.count = count,
		.value = s->value,
	};

	if (!r.kind || r.kind >= STACK_KINDS)
		return false;
	memcpy(comm, s->comm, WIRE_COMM_LEN);
	in->samples++;
	r.thread = tracker__thread(in->opts.tracker, s->tgid, s->tid, comm, s->ts_ns);
	if (!r.thread)
		loss__add(in->opts.loss, "target", "sample of an unknown process", 1);
	r.user_stack = stack_id(in, s->user_stack, r.kind, true);
	r.kernel_stack = stack_id(in, s->kernel_stack, r.kind, false);
	note(in, fold__add(in->fold, &r));
	return true;
}

/* Returns the archive's id of a stack that belongs to no sample. */
static uint32_t event_stack(struct intake *in, uint64_t hash)
{
	struct stack_entry *e = hash ? stacks__get(in->stacks, hash) : NULL;

	if (hash && !e)
		loss__add(in->opts.loss, "obrec", "stack: out of memory", 1);
	return e ? e->id : 0;
}

static uint32_t event_thread(struct intake *in, uint64_t who, const char *task_comm, uint64_t ts_ns)
{
	char comm[WIRE_COMM_LEN + 1] = {0};

	memcpy(comm, task_comm, WIRE_COMM_LEN);
	if (!(who >> 32)) /* the idle task */
		return 0;
	return tracker__thread(in->opts.tracker, who >> 32, who, comm, ts_ns);
}

/* The first four fields of every event: ts_ns, thread, user_stack, kernel_stack. */
enum { EVENT_TS, EVENT_THREAD, EVENT_USER_STACK, EVENT_KERNEL_STACK };

static uint64_t event_number(struct intake *in, unsigned i, uint64_t v, const char *comm,
			     uint64_t ts_ns)
{
	if (i == EVENT_THREAD)
		return event_thread(in, v, comm, ts_ns);
	return i == EVENT_USER_STACK || i == EVENT_KERNEL_STACK ? event_stack(in, v) : v;
}

/* Fills the record's struct from the fields as sent. False: its strings exceed the record. */
static bool event_fill(struct intake *in, const struct rec_info *info, const struct wire_hdr *hdr,
		       struct event_texts *texts, void *rec)
{
	const uint64_t *v = (const uint64_t *)(hdr + 1);
	const char *comm = (const char *)(v + info->field_cnt), *text = comm + WIRE_COMM_LEN;
	size_t left = (const char *)hdr + hdr->size - text;

	for (unsigned i = 0; i < info->field_cnt; i++) {
		const struct rec_field *f = &info->fields[i];
		void *to = (char *)rec + f->offset;

		if (f->type == REC_T_str) {
			if (v[i] > left)
				return false;
			*(struct span *)to = event_text(texts, f->text, (struct span){text, v[i]});
			text += v[i];
			left -= v[i];
		} else if (f->type == REC_T_u64) {
			*(uint64_t *)to = event_number(in, i, v[i], comm, v[EVENT_TS]);
		} else {
			*(uint32_t *)to = event_number(in, i, v[i], comm, v[EVENT_TS]);
		}
	}
	return true;
}

bool intake__event(struct intake *in, const struct wire_hdr *hdr)
{
	const struct rec_info *info = rec_info(hdr->probe);
	struct event_texts texts;
	uint64_t rec[64] = {0};

	texts.used = 0;
	if (!info || strcmp(info->stream, "event") || info->sz > sizeof(rec) ||
	    hdr->size < sizeof(*hdr) + info->field_cnt * sizeof(uint64_t) + WIRE_COMM_LEN ||
	    !event_fill(in, info, hdr, &texts, rec))
		return false;
	note(in, obz_writer__put(in->opts.writer, info->number, rec));
	return true;
}

int intake__flush(struct intake *in, uint64_t now_ns)
{
	note(in, fold__flush(in->fold, now_ns));
	return in->err;
}

/* For a stack whose definition was lost. */
static void give_up(void *ctx, struct stack_entry *e)
{
	struct intake *in = ctx;

	write_stack(in, e->id, NULL, 0, STACK_NOT_TAKEN);
	loss__add(in->opts.loss, "ring", "stack without definition", 1);
	define(in, e, STACK_NOT_TAKEN, 0);
}

void intake__advance(struct intake *in)
{
	stacks__advance(in->stacks, KEEP_STACKS, give_up, in);
}

void intake__finish(struct intake *in)
{
	note(in, fold__flush(in->fold, UINT64_MAX));
	stacks__each_undefined(in->stacks, give_up, in);
}

uint64_t intake__leaves(const struct intake *in, uint32_t binary)
{
	return binary < BINARIES ? in->by_leaf[binary] : 0;
}

struct intake_counts intake__counts(const struct intake *in)
{
	return (struct intake_counts){
		.samples = in->samples,
		.user_stacks = in->user_stacks,
		.complete = in->complete,
	};
}

uint64_t intake__stacks(const struct intake *in, unsigned kind, unsigned error)
{
	return kind < STACK_KINDS && error < MAX_ERRORS ? in->by_error[kind][error] : 0;
}
