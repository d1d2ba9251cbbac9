/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/redact/redact_command.h"
#include "format/text.h"
#include "record/host/container.h"
#include "record/host/procfs.h"
#include "record/process/read_process.h"
#include "record/reader/reader_process.h"

#define CMDLINE_MAX_SZ 4096
#define ENVIRON_MAX_SZ (256u << 10)
#define LABEL_MAX_SZ 4096
#define LABELS_MAX 256

/* ---- in the reader ---- */

/*
 * The process's root directory as seen by obrec. This prefix (chroot(2)) is removed from its paths.
 */
struct root_prefix {
	char path[4096];
	size_t len; /* 0: the root itself */
};

static void read_root(struct root_prefix *r, int proc, uint32_t pid)
{
	long n = procfs_link(proc, pid, "root", r->path, sizeof(r->path));

	r->len = n > 1 ? n : 0;
}

static struct span cut_root(const struct root_prefix *r, struct span path)
{
	if (r->len && path.len > r->len && !memcmp(path.p, r->path, r->len) &&
	    path.p[r->len] == '/')
		return (struct span){path.p + r->len, path.len - r->len};
	return path;
}

/* Empty for a kernel thread or a process without memory. */
static void put_exe(struct parcel *m, int proc, uint32_t pid)
{
	char buf[4096];
	long n = procfs_link(proc, pid, "exe", buf, sizeof(buf));
	struct root_prefix root;

	if (n <= 0) {
		parcel_put_string(m, NULL);
		return;
	}
	read_root(&root, proc, pid);
	parcel_put_span(m, cut_root(&root, (struct span){buf, n}));
}

static void put_comm(struct parcel *m, int proc, uint32_t pid)
{
	char buf[64];
	long n = procfs_read(proc, pid, "comm", buf, sizeof(buf));

	n = n > 0 && buf[n - 1] == '\n' ? n - 1 : n;
	parcel_put_span(m, (struct span){buf, n > 0 ? n : 0});
}

/* Arguments are separated by NULs; a process that rewrote its title leaves trailing NULs. */
static void put_cmdline(struct parcel *m, int proc, uint32_t pid)
{
	char buf[CMDLINE_MAX_SZ];
	long n = procfs_read(proc, pid, "cmdline", buf, sizeof(buf));

	while (n > 0 && (buf[n - 1] == 0 || buf[n - 1] == ' '))
		n--;
	redact_command(buf, n > 0 ? n : 0);
	for (long i = 0; i < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	parcel_put_span(m, (struct span){buf, n > 0 ? n : 0});
}

static void put_cgroup(struct parcel *m, int proc, uint32_t pid)
{
	char buf[8192], container[sizeof(((struct identity *)0)->container_id)] = "";
	long n = procfs_read(proc, pid, "cgroup", buf, sizeof(buf));
	struct span text = {buf, n > 0 ? n : 0}, line, path = cgroup_pick(text);

	container_id_of_cgroup(path, container);
	/* Some runtimes create a cgroup in one controller only. */
	while (!container[0] && next_line(&text, &line)) {
		struct cgroup_line c;

		if (cgroup_line_parse(line, &c) == 0)
			container_id_of_cgroup(c.path, container);
	}
	parcel_put_span(m, path);
	parcel_put_string(m, container);
}

static void put_netns(struct parcel *m, int proc, uint32_t pid)
{
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "%u/ns/net", pid);
	parcel_put_u64(m, fstatat(proc, name, &st, 0) ? 0 : st.st_ino);
}

static bool is_wanted(const char *variable, struct parcel *request, uint64_t cnt)
{
	size_t from = request->at;
	bool found = false;

	while (cnt-- && !found) {
		struct span name = parcel_get_span(request);

		found = !strncmp(variable, name.p, name.len) && variable[name.len] == '=';
	}
	request->at = from;
	return found;
}

static void put_labels(struct parcel *m, int proc, uint32_t pid, struct parcel *request)
{
	uint64_t cnt = parcel_get_u64(request), left = cnt;
	char *buf = cnt ? malloc(ENVIRON_MAX_SZ) : NULL;
	long n = buf ? procfs_read(proc, pid, "environ", buf, ENVIRON_MAX_SZ) : 0;

	for (long at = 0; at < n && left; at += strlen(buf + at) + 1) {
		if (!is_wanted(buf + at, request, cnt))
			continue;
		parcel_put_span(m, (struct span){buf + at, strnlen(buf + at, LABEL_MAX_SZ)});
		left--;
	}
	free(buf);
}

int read_process_serve(int proc, struct parcel *request, struct parcel *answer)
{
	uint32_t pid = parcel_get_u64(request), tgid, ns_pid;
	int err = procfs_status(proc, pid, &tgid, &ns_pid);

	if (err)
		return err;
	parcel_put_u64(answer, ns_pid);
	put_exe(answer, proc, pid);
	put_comm(answer, proc, pid);
	put_cmdline(answer, proc, pid);
	put_cgroup(answer, proc, pid);
	put_netns(answer, proc, pid);
	put_labels(answer, proc, pid, request);
	return 0;
}

struct listing {
	struct root_prefix root;
	struct parcel *answer;
	unsigned cnt;
};

static int put_map(void *ctx, const struct maps_line *l)
{
	struct listing *list = ctx;
	struct parcel *m = list->answer;
	struct span shown = cut_root(&list->root, l->path);
	char path[4096];
	size_t len = shown.len < sizeof(path) ? shown.len : sizeof(path);

	if (!l->exec)
		return 0;
	memcpy(path, shown.p, len);
	parcel_put_u64(m, l->start);
	parcel_put_u64(m, l->end);
	parcel_put_u64(m, l->offset);
	parcel_put_u64(m, l->inode);
	parcel_put_u64(m, l->major);
	parcel_put_u64(m, l->minor);
	parcel_put_span(m, (struct span){path, maps_path_unescape(path, len)});
	return ++list->cnt >= MAPS_MAX;
}

int read_maps_serve(int proc, struct parcel *request, struct parcel *answer)
{
	uint32_t pid = parcel_get_u64(request);
	struct listing list = {.answer = answer};
	int err;

	read_root(&list.root, proc, pid);
	err = procfs_each_map(proc, pid, put_map, &list);
	return err < 0 ? err : 0;
}

/* ---- in obrec ---- */

void read_process_ask(struct parcel *m, uint32_t pid, const char *const *label_env,
		      size_t label_env_cnt)
{
	parcel_init(m, READING_process);
	parcel_put_u64(m, pid);
	parcel_put_u64(m, label_env_cnt);
	for (size_t i = 0; i < label_env_cnt; i++)
		parcel_put_string(m, label_env[i]);
}

static void set(char **to, struct span s)
{
	char *copy = s.len ? strndup(s.p, s.len) : NULL;

	if (copy) {
		free(*to);
		*to = copy;
	}
}

static void take_labels(struct parcel *m, struct identity *id)
{
	size_t cnt = 0;
	char **v;

	if (m->at == m->len || !(v = calloc(LABELS_MAX, sizeof(*v))))
		return;
	while (m->at < m->len && cnt < LABELS_MAX) {
		struct span s = parcel_get_span(m);

		if (s.len && memchr(s.p, '=', s.len) && (v[cnt] = strndup(s.p, s.len)))
			cnt++;
	}
	identity_free_labels(id);
	id->labels = v;
	id->label_cnt = cnt;
}

void read_process_take(struct parcel *m, struct process *p)
{
	struct identity *id = &p->identity;
	struct span exe, comm, cgroup, container;
	uint64_t netns;

	if (m->rc)
		return;
	id->ns_pid = parcel_get_u64(m);
	exe = parcel_get_span(m);
	/* An exiting process no longer has memory or cgroup: keep what is known. */
	if (!exe.len && p->maps.cnt)
		return;
	set(&id->exe, exe);
	comm = parcel_get_span(m);
	if (comm.len)
		identity_set_comm(id, comm);
	set(&id->cmdline, parcel_get_span(m));
	cgroup = parcel_get_span(m);
	container = parcel_get_span(m);
	/* One that exits is in the root of every cgroup v1: its parent's is right then. */
	if (exe.len || cgroup.len > 1) {
		set(&id->cgroup, cgroup);
		snprintf(id->container_id, sizeof(id->container_id), "%.*s", (int)container.len,
			 container.p);
	}
	netns = parcel_get_u64(m);
	if (netns)
		id->netns = netns;
	take_labels(m, id);
}

void read_maps_ask(struct parcel *m, uint32_t pid)
{
	parcel_init(m, READING_maps);
	parcel_put_u64(m, pid);
}

bool read_maps_next(struct parcel *m, uint32_t pid, struct mapped *map)
{
	if (m->at >= m->len || m->bad)
		return false;
	*map = (struct mapped){.pid = pid};
	map->start = parcel_get_u64(m);
	map->end = parcel_get_u64(m);
	map->offset = parcel_get_u64(m);
	map->inode = parcel_get_u64(m);
	map->major = parcel_get_u64(m);
	map->minor = parcel_get_u64(m);
	map->path = parcel_get_span(m);
	return !m->bad;
}
