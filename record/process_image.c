/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <fcntl.h>

#include "../format/redact_command.h"
#include "../format/text.h"
#include "container.h"
#include "process_image.h"
#include "procfs.h"

#define CMDLINE_MAX_SZ 4096
#define ENVIRON_MAX_SZ (256u << 10)
#define LABEL_MAX_SZ 4096

static void set(char **to, const char *p, size_t len)
{
	char *s = strndup(p, len);

	if (s) {
		free(*to);
		*to = s;
	}
}

void root_prefix_read(struct root_prefix *r, int proc, uint32_t pid)
{
	long n = procfs_link(proc, pid, "root", r->path, sizeof(r->path));

	r->len = n > 1 ? n : 0;
}

struct span root_prefix_cut(const struct root_prefix *r, struct span path)
{
	if (r->len && path.len > r->len && !memcmp(path.p, r->path, r->len) &&
	    path.p[r->len] == '/')
		return (struct span){path.p + r->len, path.len - r->len};
	return path;
}

void identity_set_comm(struct identity *id, struct span name)
{
	size_t n = name.len < sizeof(id->comm) ? name.len : sizeof(id->comm) - 1;

	memset(id->comm, 0, sizeof(id->comm));
	memcpy(id->comm, name.p, n);
}

static void read_comm(struct identity *id, int proc, uint32_t pid)
{
	char buf[64];
	long n = procfs_read(proc, pid, "comm", buf, sizeof(buf));

	if (n > 0)
		snprintf(id->comm, sizeof(id->comm), "%.*s", (int)(buf[n - 1] == '\n' ? n - 1 : n),
			 buf);
}

/* Arguments are separated by NULs; a process that rewrote its title leaves a tail of them. */
static void read_cmdline(struct identity *id, int proc, uint32_t pid)
{
	char buf[CMDLINE_MAX_SZ];
	long n = procfs_read(proc, pid, "cmdline", buf, sizeof(buf));

	while (n > 0 && (buf[n - 1] == 0 || buf[n - 1] == ' '))
		n--;
	redact_command(buf, n > 0 ? n : 0);
	for (long i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	if (n > 0)
		set(&id->cmdline, buf, n);
}

/* False when there is none: a kernel thread, or a process whose memory is gone. */
static bool read_exe(struct identity *id, int proc, uint32_t pid)
{
	char buf[4096];
	long n = procfs_link(proc, pid, "exe", buf, sizeof(buf));
	struct root_prefix root;
	struct span path;

	if (n <= 0)
		return false;
	root_prefix_read(&root, proc, pid);
	path = root_prefix_cut(&root, (struct span){buf, n});
	set(&id->exe, path.p, path.len);
	return true;
}

static void read_cgroup(struct identity *id, int proc, uint32_t pid)
{
	char buf[8192];
	long n = procfs_read(proc, pid, "cgroup", buf, sizeof(buf));
	struct span text = {buf, n > 0 ? n : 0}, line, path;

	if (n <= 0)
		return;
	path = cgroup_pick(text);
	set(&id->cgroup, path.p, path.len);
	id->container_id[0] = 0;
	container_id_of_cgroup(path, id->container_id);
	/* Some runtimes make a cgroup in one controller only. */
	while (!id->container_id[0] && next_line(&text, &line)) {
		struct cgroup_line c;

		if (cgroup_line_parse(line, &c) == 0)
			container_id_of_cgroup(c.path, id->container_id);
	}
}

static void free_labels(struct identity *id)
{
	for (size_t i = 0; i < id->label_cnt; i++)
		free(id->labels[i]);
	free(id->labels);
	id->labels = NULL;
	id->label_cnt = 0;
}

static void read_labels(struct identity *id, int proc, uint32_t pid, const char *const *names,
			size_t cnt)
{
	char *buf = cnt ? malloc(ENVIRON_MAX_SZ) : NULL;
	long n = buf ? procfs_read(proc, pid, "environ", buf, ENVIRON_MAX_SZ) : 0;

	if (n > 0) {
		free_labels(id);
		id->labels = calloc(cnt, sizeof(*id->labels));
	}
	for (long at = 0; at < n && id->labels && id->label_cnt < cnt; at += strlen(buf + at) + 1) {
		for (size_t i = 0; i < cnt; i++) {
			size_t len = strlen(names[i]);

			if (!strncmp(buf + at, names[i], len) && buf[at + len] == '=' &&
			    (id->labels[id->label_cnt] = strndup(buf + at, LABEL_MAX_SZ))) {
				id->label_cnt++;
				break;
			}
		}
	}
	free(buf);
}

void process_describe(struct process *p, int proc, const char *const *label_env,
		      size_t label_env_cnt)
{
	struct identity *id = &p->identity;
	uint32_t tgid, ns_pid;
	struct stat st;
	char name[32];

	if (procfs_status(proc, p->tgid, &tgid, &ns_pid))
		return;
	id->ns_pid = ns_pid;
	/* An exiting process has left its memory and its cgroup: what was known before is better.
	 */
	if (!read_exe(id, proc, p->tgid) && p->maps.cnt)
		return;
	read_comm(id, proc, p->tgid);
	read_cmdline(id, proc, p->tgid);
	read_cgroup(id, proc, p->tgid);
	read_labels(id, proc, p->tgid, label_env, label_env_cnt);
	snprintf(name, sizeof(name), "%u/ns/net", p->tgid);
	if (!fstatat(proc, name, &st, 0))
		id->netns = st.st_ino;
}

void process_inherit(struct process *child, const struct process *parent)
{
	struct identity *to = &child->identity;
	const struct identity *from = &parent->identity;

	memcpy(to->comm, from->comm, sizeof(to->comm));
	memcpy(to->container_id, from->container_id, sizeof(to->container_id));
	to->netns = from->netns;
	if (from->ns_pid == parent->tgid) /* both in the host's pid namespace */
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
	free_labels(&p->identity);
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
