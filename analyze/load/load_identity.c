/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes, threads and labels. A repeated record replaces the earlier one. */
#include <json-c/json.h>

#include "analyze/load/load.h"

#include <errno.h>
#include <stdlib.h>

#include "format/text.h"

enum { PROCESS, EXIT, THREAD, LABEL, INSERT_CNT };

static const char *const inserts[INSERT_CNT] = {
	[PROCESS] =
		"INSERT INTO process(id, capture_id, pid, ppid, comm, exe, cmdline, cgroup, "
		"container_id, started_ns, "
		"ns_pid, netns) VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET "
		"(pid, ppid, comm, exe, cmdline, cgroup, container_id, started_ns, ns_pid, netns) "
		"= (excluded.pid, "
		"excluded.ppid, excluded.comm, excluded.exe, excluded.cmdline, excluded.cgroup, "
		"excluded.container_id, excluded.started_ns, excluded.ns_pid, excluded.netns)",
	/* The exit may be the only record of a process that was not lost. */
	[EXIT] = "INSERT INTO process(id, capture_id, exited_ns) VALUES(?,?,?) "
		 "ON CONFLICT(id) DO UPDATE SET exited_ns = excluded.exited_ns",
	[THREAD] = "INSERT OR REPLACE INTO thread(id, process_id, tid, comm) VALUES(?,?,?,?)",
	[LABEL] =
		"INSERT OR REPLACE INTO label(capture_id, process_id, key, value) VALUES(?,?,?,?)",
};

struct identity {
	struct insert in[INSERT_CNT];
};

static int identity_begin(struct load *l, void **state)
{
	struct identity *id = calloc(1, sizeof(*id));

	*state = id;
	if (!id)
		return -ENOMEM;
	for (int i = 0; i < INSERT_CNT; i++)
		if (insert_open(&id->in[i], l->store, inserts[i]))
			return -EIO;
	return 0;
}

static void time_or_null(struct insert *in, const struct capture *c, uint64_t ns)
{
	if (ns)
		insert_int(in, ns + c->to_realtime);
	else
		insert_null(in);
}

static int add_process(struct insert *in, const struct load *l, uint32_t capture,
		       const struct rec_process *r)
{
	insert_int(in, capture_row(capture, r->id));
	insert_int(in, capture_id(capture));
	insert_int(in, r->pid);
	insert_int(in, r->ppid);
	insert_span(in, budget_name(r->comm));
	insert_span(in, budget_name(r->exe));
	insert_span(in, budget_name(r->cmdline));
	insert_span(in, budget_name(r->cgroup));
	insert_span(in, budget_name(r->container_id));
	time_or_null(in, &l->captures->v[capture], r->started_ns);
	insert_int(in, r->ns_pid);
	insert_int(in, r->netns);
	return insert_run(in);
}

static int add_exit(struct insert *in, const struct load *l, uint32_t capture,
		    const struct rec_process_exit *r)
{
	insert_int(in, capture_row(capture, r->process));
	insert_int(in, capture_id(capture));
	time_or_null(in, &l->captures->v[capture], r->exited_ns);
	return insert_run(in);
}

static int add_thread(struct insert *in, uint32_t capture, const struct rec_thread *r)
{
	insert_int(in, capture_row(capture, r->id));
	insert_int(in, capture_row(capture, r->process));
	insert_int(in, r->tid);
	insert_span(in, budget_name(r->comm));
	return insert_run(in);
}

static int add_label(struct insert *in, uint32_t capture, const struct rec_label *r)
{
	insert_int(in, capture_id(capture));
	if (r->process)
		insert_int(in, capture_row(capture, r->process));
	else
		insert_null(in);
	insert_span(in, budget_name(r->key));
	insert_span(in, budget_name(r->value));
	return insert_run(in);
}

static int identity_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
			 const void *rows, size_t cnt)
{
	struct identity *id = state;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		switch ((int)kind) {
		case REC_process:
			err = add_process(&id->in[PROCESS], l, capture,
					  (const struct rec_process *)rows + i);
			break;
		case REC_process_exit:
			err = add_exit(&id->in[EXIT], l, capture,
				       (const struct rec_process_exit *)rows + i);
			break;
		case REC_thread:
			err = add_thread(&id->in[THREAD], capture,
					 (const struct rec_thread *)rows + i);
			break;
		case REC_label:
			err = add_label(&id->in[LABEL], capture,
					(const struct rec_label *)rows + i);
			break;
		default:
			return 0;
		}
	return err;
}

/* Labels given with obrec --label are in the archive's first member. */
static int add_capture_labels(struct insert *in, const struct captures *captures)
{
	struct json_object *labels;
	int err = 0;

	for (size_t i = 0; i < captures->cnt; i++) {
		if (!json_object_object_get_ex(captures->v[i].header, "labels", &labels) ||
		    !json_object_is_type(labels, json_type_object))
			continue;
		json_object_object_foreach(labels, key, value)
		{
			insert_int(in, capture_id(i));
			insert_null(in);
			insert_text(in, key);
			insert_text(in, json_object_get_string(value));
			err = err ? err : insert_run(in);
		}
	}
	return err;
}

/* Adds missing rows for everything that is referred to, so that joins drop nothing if chunks were
 * lost. */
static int identity_finish(struct load *l, void *state)
{
	struct identity *id = state;
	int err = add_capture_labels(&id->in[LABEL], l->captures);

	if (err)
		return err;
	return store__exec(
		l->store,
		"INSERT INTO process(id, capture_id, comm) "
		"SELECT DISTINCT process_id, (process_id >> 32) + 1, '[lost]' FROM thread "
		"WHERE process_id NOT IN (SELECT id FROM process);"
		"UPDATE process SET comm = '[lost]' WHERE comm IS NULL;");
}

static void identity_free(void *state)
{
	struct identity *id = state;

	for (int i = 0; id && i < INSERT_CNT; i++)
		insert_close(&id->in[i]);
	free(id);
}

const struct loader load_identity_entry = {
	.streams = (const char *const[]){"identity", NULL},
	.tables = (const char *const[]){"process", "thread", "label", NULL},
	.begin = identity_begin,
	.rows = identity_rows,
	.finish = identity_finish,
	.free = identity_free,
};
