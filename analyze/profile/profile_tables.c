/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/profile_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/load/stack_view.h"
#include "analyze/profile/profile_weights.h"

static void id_or_null(struct insert *in, uint32_t id)
{
	if (id)
		insert_int(in, id);
	else
		insert_null(in);
}

static int write_binaries(struct load *l)
{
	struct insert in;
	int err = insert_open(
		&in, l->store,
		"INSERT INTO binary(id, build_id, path, symbols, why, name) VALUES(?,?,?,?,?,?)");

	for (size_t i = 1; i < binaries__cnt(l->binaries) && !err; i++) {
		const struct binary *b = binaries__get(l->binaries, i);

		insert_int(&in, i);
		insert_text(&in, strings__get(l->strings, b->build_id));
		insert_text(&in, strings__get(l->strings, b->path));
		insert_text(&in, strings__get(l->strings, b->symbols));
		insert_text(&in, strings__get(l->strings, b->why));
		insert_text(&in, strings__get(l->strings, b->name));
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

static int write_functions(struct load *l)
{
	struct insert in;
	int err = insert_open(&in, l->store,
			      "INSERT INTO function(id, name, file, line, binary_id, linkage_name) "
			      "VALUES(?,?,?,?,?,?)");

	for (size_t i = 0; i < frames__function_cnt(l->frames) && !err; i++) {
		const struct function *f = frames__function(l->frames, i);

		insert_int(&in, i + 1);
		insert_text(&in, strings__get(l->strings, f->name));
		insert_text(&in, strings__get(l->strings, f->file));
		id_or_null(&in, f->line);
		id_or_null(&in, f->binary);
		insert_text(&in, strings__get(l->strings, f->linkage));
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

static int write_frames(struct load *l)
{
	struct insert in;
	int err = insert_open(
		&in, l->store,
		"INSERT INTO frame(id, kind, binary_id, address, function_id, file, line, inlined) "
		"VALUES(?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < frames__cnt(l->frames) && !err; i++) {
		const struct frame *f = frames__get(l->frames, i);

		insert_int(&in, i + 1);
		insert_text(&in, frame_kind_names[f->kind]);
		id_or_null(&in, f->binary);
		insert_int(&in, f->address);
		insert_int(&in, f->function + 1);
		insert_text(&in, strings__get(l->strings, f->file));
		id_or_null(&in, f->line);
		insert_int(&in, f->inlined);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

static int write_stacks(struct load *l)
{
	struct insert in;
	int err =
		insert_open(&in, l->store, "INSERT INTO stack(id, truncated, error) VALUES(?,?,?)");

	for (size_t i = 0; i < stacks__cnt(l->stacks) && !err; i++) {
		const char *error = stack_error_text(stacks__get(l->stacks, i).error);

		if (!stacks__used(l->stacks, i))
			continue;
		insert_int(&in, i + 1);
		insert_int(&in, error != NULL);
		insert_text(&in, error);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

static int write_stack(struct insert *in, uint32_t stack, const struct stack_view *v)
{
	int err = 0;

	for (size_t i = 0; i < v->cnt && !err; i++) {
		insert_int(in, (int64_t)stack + 1);
		insert_int(in, i);
		insert_int(in, (int64_t)v->frames[v->cnt - 1 - i] + 1);
		err = insert_run(in);
	}
	return err;
}

static int write_stack_frames(struct load *l)
{
	struct insert in;
	struct stack_view v = {0};
	bool all = !l->opts.event_stacks || load__wants(l, "sample");
	int err = insert_open(&in, l->store,
			      "INSERT INTO stack_frame(stack_id, depth, frame_id) VALUES(?,?,?)");

	for (uint32_t i = 0; i < stacks__cnt(l->stacks) && !err; i++) {
		if (!all && !stacks__marked(l->stacks, i, STACK_OF_EVENT))
			continue;
		err = stack_view__read(&v, l, i);
		if (!err)
			err = write_stack(&in, i, &v);
	}
	insert_close(&in);
	stack_view__fini(&v);
	return err;
}

/* Adds rows for threads of samples whose thread record was lost, so that joins drop nothing. */
static int write_lost_threads(struct load *l, const struct weights *threads)
{
	struct insert thread, process;
	int err = insert_open(&thread, l->store,
			      "INSERT OR IGNORE INTO thread(id, process_id, tid, comm) VALUES(?1, "
			      "?1 >> 32 << 32, 0, '[lost]')");

	for (size_t i = 0; i < weights__cnt(threads) && !err; i++) {
		insert_int(&thread, weights__get(threads, i)->thread);
		err = insert_run(&thread);
	}
	insert_close(&thread);
	if (err)
		return err;
	err = insert_open(
		&process, l->store,
		"INSERT OR IGNORE INTO process(id, capture_id, comm) SELECT DISTINCT process_id, "
		"(process_id >> 32) + 1, '[lost]' FROM thread WHERE comm = '[lost]' AND tid = 0");
	if (!err)
		err = insert_run(&process);
	insert_close(&process);
	return err;
}

int profile_tables_write(struct load *l, const struct weights *threads)
{
	static const struct {
		const char *table;
		int (*write)(struct load *l);
	} writers[] = {{"binary", write_binaries},
		       {"function", write_functions},
		       {"frame", write_frames},
		       {"stack", write_stacks},
		       {"stack_frame", write_stack_frames}};
	int err = l->opts.weights ? profile_weights_mark(l) : 0;

	if (!err && load__wants(l, "thread"))
		err = write_lost_threads(l, threads);
	for (size_t i = 0; i < sizeof(writers) / sizeof(*writers) && !err; i++)
		if (load__wants(l, writers[i].table))
			err = writers[i].write(l);
	if (!err && l->opts.weights && load__wants(l, "function") && !load__wants(l, "sample"))
		err = profile_weights_write(l, threads);
	return err;
}
