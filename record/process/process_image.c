/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "record/process/process_image.h"

void identity_set_comm(struct identity *id, struct span name)
{
	size_t n = name.len < sizeof(id->comm) ? name.len : sizeof(id->comm) - 1;

	memset(id->comm, 0, sizeof(id->comm));
	memcpy(id->comm, name.p, n);
}

void identity_free_labels(struct identity *id)
{
	for (size_t i = 0; i < id->label_cnt; i++)
		free(id->labels[i]);
	free(id->labels);
	id->labels = NULL;
	id->label_cnt = 0;
}

void process_inherit(struct process *child, const struct process *parent)
{
	struct identity *to = &child->identity;
	const struct identity *from = &parent->identity;

	memcpy(to->comm, from->comm, sizeof(to->comm));
	memcpy(to->container_id, from->container_id, sizeof(to->container_id));
	to->netns = from->netns;
	if (from->ns_pid == parent->tgid) /* both in the initial pid namespace */
		to->ns_pid = child->tgid;
	to->exe = from->exe ? strdup(from->exe) : NULL;
	to->cmdline = from->cmdline ? strdup(from->cmdline) : NULL;
	to->cgroup = from->cgroup ? strdup(from->cgroup) : NULL;
	to->labels = from->label_cnt ? calloc(from->label_cnt, sizeof(*to->labels)) : NULL;
	for (size_t i = 0; to->labels && i < from->label_cnt; i++)
		if ((to->labels[to->label_cnt] = strdup(from->labels[i])))
			to->label_cnt++;
}

void process_free(struct process *p)
{
	maps_fini(&p->maps);
	free(p->identity.exe);
	free(p->identity.cmdline);
	free(p->identity.cgroup);
	identity_free_labels(&p->identity);
	free(p);
}

/* ---- records ---- */

int process_write(struct obz_writer *w, const struct process *p)
{
	const struct identity *id = &p->identity;
	struct rec_process rec = {
		.id = p->id,
		.pid = p->tgid,
		.ppid = p->ppid,
		.ns_pid = id->ns_pid,
		.started_ns = p->started_ns,
		.comm = span_of(id->comm),
		.exe = span_of(id->exe),
		.cmdline = span_of(id->cmdline),
		.cgroup = span_of(id->cgroup),
		.container_id = span_of(id->container_id),
		.netns = id->netns,
	};
	int err = obz_writer__put(w, REC_process, &rec);

	for (size_t i = 0; !err && i < id->label_cnt; i++) {
		const char *eq = strchr(id->labels[i], '=');
		struct rec_label label = {
			p->id, {id->labels[i], eq - id->labels[i]}, span_of(eq + 1)};

		err = obz_writer__put(w, REC_label, &label);
	}
	return err;
}

int process_write_exit(struct obz_writer *w, const struct process *p)
{
	struct rec_process_exit rec = {p->id, p->ended_ns};

	return obz_writer__put(w, REC_process_exit, &rec);
}

int thread_write(struct obz_writer *w, const struct thread *t)
{
	struct rec_thread rec = {
		t->id, t->process->id, t->tid, {t->comm, strnlen(t->comm, sizeof(t->comm))}};

	return obz_writer__put(w, REC_thread, &rec);
}

int process_write_mappings(struct obz_writer *w, struct process *p, bool again)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->maps.cnt; i++) {
		struct map *m = &p->maps.v[i];
		struct rec_mapping rec = {p->id, m->ts_ns, m->start, m->end, m->offset, 0};

		if (!m->binary || !m->binary->hit || m->written != again)
			continue;
		rec.binary = m->binary->id;
		err = obz_writer__put(w, REC_mapping, &rec);
		m->written = true;
	}
	return err;
}
