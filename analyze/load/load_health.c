/* SPDX-License-Identifier: BSD-2-Clause */
/* Losses and BPF program cost. Totals are in the end member; if that is missing, the records are
 * added up. */
#include "analyze/load/load.h"

#include "format/text.h"
#include "analyze/load/loss_effects.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>

struct health {
	struct insert loss, program, thinning;
};

static int health_begin(struct load *l, void **state)
{
	struct health *h = calloc(1, sizeof(*h));

	*state = h;
	if (!h)
		return -ENOMEM;
	/* One row per capture, source and cause. The temporary tables add up losses and keep the
	 * last cost. */
	if (store__exec(l->store, "CREATE TEMP TABLE loss_part(capture_id, source, cause, count, "
				  "affects, PRIMARY KEY(capture_id, source, cause));"
				  "CREATE TEMP TABLE program_part(capture_id, name, runs, run_ns, "
				  "PRIMARY KEY(capture_id, name));") ||
	    insert_open(&h->loss, l->store,
			"INSERT INTO loss_part VALUES(?,?,?,?,?) "
			"ON CONFLICT DO UPDATE SET count = count + excluded.count") ||
	    insert_open(&h->program, l->store,
			"INSERT OR REPLACE INTO program_part VALUES(?,?,?,?)") ||
	    insert_open(&h->thinning, l->store,
			"INSERT INTO thinning VALUES(?,?,?,?,? / 65536.0,? / 65536.0)"))
		return -EIO;
	return 0;
}

static int add_loss(struct insert *in, uint32_t capture, struct span source, struct span cause,
		    uint64_t count)
{
	insert_int(in, capture_id(capture));
	insert_span(in, budget_name(source));
	insert_span(in, budget_name(cause));
	insert_int(in, count);
	insert_text(in, loss_affects(source, cause));
	return insert_run(in);
}

static int add_program(struct insert *in, uint32_t capture, struct span name, uint64_t runs,
		       uint64_t run_ns)
{
	insert_int(in, capture_id(capture));
	insert_span(in, budget_name(name));
	insert_int(in, runs);
	insert_int(in, run_ns);
	return insert_run(in);
}

static int add_thinning(struct load *l, struct insert *in, uint32_t capture,
			const struct rec_thinning *r)
{
	insert_int(in, capture_id(capture));
	insert_int(in, r->ts_ns + l->captures->v[capture].to_realtime);
	insert_span(in, budget_name(r->what));
	insert_span(in, budget_name(r->cause));
	insert_int(in, r->from_per_64k);
	insert_int(in, r->to_per_64k);
	return insert_run(in);
}

static struct json_object *end_list(const struct load *l, uint32_t capture, const char *key)
{
	struct json_object *list = NULL;

	return json_object_object_get_ex(l->captures->v[capture].end, key, &list) &&
			       json_object_is_type(list, json_type_array)
		       ? list
		       : NULL;
}

static int health_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
		       const void *rows, size_t cnt)
{
	struct health *h = state;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		if ((int)kind == REC_loss && !end_list(l, capture, "losses")) {
			const struct rec_loss *r = (const struct rec_loss *)rows + i;

			err = add_loss(&h->loss, capture, r->source, r->cause, r->count);
		} else if ((int)kind == REC_program && !end_list(l, capture, "programs")) {
			const struct rec_program *r = (const struct rec_program *)rows + i;

			err = add_program(&h->program, capture, r->name, r->runs, r->run_ns);
		} else if ((int)kind == REC_thinning) {
			err = add_thinning(l, &h->thinning, capture,
					   (const struct rec_thinning *)rows + i);
		}
	return err;
}

static struct json_object *field(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static struct span text(struct json_object *o, const char *key)
{
	struct json_object *v = field(o, key);

	return json_object_is_type(v, json_type_string)
		       ? (struct span){json_object_get_string(v), json_object_get_string_len(v)}
		       : (struct span){"", 0};
}

static int add_end(struct load *l, struct health *h, uint32_t capture)
{
	struct json_object *losses = end_list(l, capture, "losses"),
			   *programs = end_list(l, capture, "programs");
	int err = 0;

	for (size_t i = 0; losses && !err && i < json_object_array_length(losses); i++) {
		struct json_object *o = json_object_array_get_idx(losses, i);

		err = add_loss(&h->loss, capture, text(o, "source"), text(o, "cause"),
			       json_object_get_uint64(field(o, "count")));
	}
	for (size_t i = 0; programs && !err && i < json_object_array_length(programs); i++) {
		struct json_object *o = json_object_array_get_idx(programs, i);

		err = add_program(&h->program, capture, text(o, "name"),
				  json_object_get_uint64(field(o, "runs")),
				  json_object_get_uint64(field(o, "run_ns")));
	}
	if (!err && capture_rows_left_out(&l->captures->v[capture]))
		err = add_loss(&h->loss, capture, span_of("obana"),
			       span_of("rows beyond the bounds of an archive of its size"),
			       capture_rows_left_out(&l->captures->v[capture]));
	return err;
}

static int health_finish(struct load *l, void *state)
{
	int err = 0;

	for (uint32_t c = 0; c < l->captures->cnt && !err; c++)
		err = add_end(l, state, c);
	if (err)
		return err;
	return store__exec(l->store,
			   "INSERT INTO loss SELECT * FROM loss_part ORDER BY 1, 2, 3;"
			   "INSERT INTO program SELECT * FROM program_part ORDER BY 1, 2;");
}

static void health_free(void *state)
{
	struct health *h = state;

	if (h) {
		insert_close(&h->loss);
		insert_close(&h->program);
		insert_close(&h->thinning);
	}
	free(h);
}

const struct loader load_health_entry = {
	.streams = (const char *const[]){"health", NULL},
	.tables = (const char *const[]){"loss", "program", "thinning", NULL},
	.begin = health_begin,
	.rows = health_rows,
	.finish = health_finish,
	.free = health_free,
};
