/* SPDX-License-Identifier: BSD-2-Clause */
/* One row per archive, from its first and last member. Written at the start, for whoever reads
 * tables while others are loaded, and once more by this last loader: damage is known only after
 * everything was read. */
#include "analyze/load/load.h"

static int capture_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
			const void *rows, size_t cnt)
{
	return 0;
}

static void int_or_null(struct insert *in, uint64_t v)
{
	if (v)
		insert_int(in, v);
	else
		insert_null(in);
}

static int add_capture(struct insert *in, const struct capture *c, size_t n)
{
	char damage[256];
	bool damaged = capture_damaged(c, damage, sizeof(damage));

	insert_int(in, capture_id(n));
	insert_text(in, c->uuid);
	insert_text(in, c->host);
	insert_text(in, c->kernel);
	insert_text(in, c->arch);
	insert_int(in, c->started_ns);
	insert_int(in, c->duration_ns);
	insert_int(in, c->complete);
	insert_text(in, *c->stop_reason ? c->stop_reason : NULL);
	insert_text(in, c->command);
	insert_text(in, c->path);
	insert_text(in, c->version);
	insert_text(in, c->probes);
	int_or_null(in, c->cpus);
	int_or_null(in, c->freq);
	insert_text(in, damaged ? damage : NULL);
	return insert_run(in);
}

static int write_captures(struct load *l)
{
	struct insert in;
	int err = insert_open(
		&in, l->store,
		"INSERT OR REPLACE INTO capture VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < l->captures->cnt && !err; i++)
		err = add_capture(&in, &l->captures->v[i], i);
	insert_close(&in);
	return err;
}

static int capture_begin(struct load *l, void **state)
{
	*state = NULL;
	return write_captures(l);
}

static int capture_finish(struct load *l, void *state)
{
	return write_captures(l);
}

static void capture_free(void *state)
{
}

const struct loader load_capture_entry = {
	.streams = (const char *const[]){NULL},
	.tables = (const char *const[]){"capture", NULL},
	.begin = capture_begin,
	.rows = capture_rows,
	.finish = capture_finish,
	.free = capture_free,
	.filled_at_begin = true,
};
