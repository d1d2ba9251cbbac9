/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A cgroup is given as in /proc/PID/cgroup ("/system.slice/nginx.service"), in any hierarchy, or as
 * a directory ("/sys/fs/cgroup/memory/web"). Its members are read from the cgroup.procs files of
 * its directories (read_members.h). A single process is checked with its /proc/PID/cgroup.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"
#include "record/host/procfs.h"
#include "record/process/read_members.h"
#include "record/process/target.h"

#define DIRS_MAX 32

struct target {
	const struct target_spec *spec;
	int proc;
	uint32_t self;
	/* --cgroup: the path below the root, and its directory in each hierarchy that has it. */
	char *path;
	/* Set if an absolute directory was given: match only in this hierarchy (its controllers as
	 * in /proc/PID/cgroup); else NULL. */
	char *controllers;
	char *dir[DIRS_MAX];
	unsigned dir_cnt;
};

bool target__by_comm(const struct target *t)
{
	return t->spec->comm != NULL;
}

bool target__by_cgroup(const struct target *t)
{
	return t->spec->cgroup != NULL;
}

/* ---- checking the arguments ---- */

static int check_pids(const struct target *t)
{
	for (size_t i = 0; i < t->spec->pid_cnt; i++) {
		uint32_t pid = t->spec->pids[i], tgid, ns;
		int err = procfs_status(t->proc, pid, &tgid, &ns);

		if (err == -ENOENT || err == -ESRCH) {
			message_error("no such process: %u", pid);
			return -ESRCH;
		}
		if (err) {
			message_error("cannot read /proc/%u: %s", pid, strerror(-err));
			return err == -EACCES ? -EPERM : err;
		}
		if (tgid != pid) {
			message_error("no such process: %u is a thread of process %u", pid, tgid);
			return -ESRCH;
		}
		if (pid == t->self) {
			message_error("process %u is obrec itself, which is never recorded", pid);
			return -EINVAL;
		}
	}
	return 0;
}

static bool is_named(const struct target_spec *spec, uint32_t pid, size_t *at)
{
	for (*at = 0; *at < spec->pid_cnt; ++*at)
		if (spec->pids[*at] == pid)
			return true;
	return false;
}

struct left_out {
	const struct target *t;
	unsigned *children; /* per given pid */
};

static int count_left_out(void *ctx, uint32_t pid)
{
	struct left_out *l = ctx;
	const struct target_spec *spec = l->t->spec;
	struct procfs_stat st;
	size_t at;

	if (pid != l->t->self && !is_named(spec, pid, &at) && !procfs_stat(l->t->proc, pid, &st) &&
	    st.state != 'Z' && st.state != 'X' && is_named(spec, st.ppid, &at))
		l->children[at]++;
	return 0;
}

/* Warns about existing children, e.g. workers forked by a server's master. Without them the capture
 * would be empty for no visible reason. */
static void warn_of_left_out(const struct target *t)
{
	struct left_out l = {t, calloc(t->spec->pid_cnt, sizeof(*l.children))};

	if (l.children)
		procfs_each_id(t->proc, ".", count_left_out, &l);
	for (size_t i = 0; l.children && i < t->spec->pid_cnt; i++) {
		uint32_t pid = t->spec->pids[i];
		unsigned n = l.children[i];

		if (n)
			message_warn("process %u already has %u child%s, not recorded: to include "
				     "%s use -p %u,$(pgrep -d, -P %u), --comm or --cgroup",
				     pid, n, n == 1 ? "" : "ren", n == 1 ? "it" : "them", pid, pid);
	}
	free(l.children);
}

static bool has_prefix(struct span s, struct span with)
{
	return s.len >= with.len && !memcmp(s.p, with.p, with.len);
}

bool cgroup_contains(struct span below, struct span path)
{
	while (below.len && below.p[below.len - 1] == '/')
		below.len--;
	return has_prefix(path, below) && (path.len == below.len || path.p[below.len] == '/');
}

/* A mounted hierarchy, from one line of /proc/self/mountinfo (proc(5)). */
struct hierarchy {
	struct span root;	 /* the cgroup that is mounted, */
	struct span mount_point; /* and where */
	struct span options;	 /* contain its controllers; empty for v2 */
};

static struct span word(struct span *line)
{
	const char *sp = memchr(line->p, ' ', line->len);
	struct span w = {line->p, sp ? (size_t)(sp - line->p) : line->len};

	line->p += w.len + (sp != NULL);
	line->len -= w.len + (sp != NULL);
	return w;
}

/* ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS [FIELD...] - TYPE SOURCE SUPER-OPTIONS */
static bool hierarchy_parse(struct span line, struct hierarchy *h)
{
	const char *dash = memmem(line.p, line.len, " - ", 3);
	struct span tail, type;

	if (!dash)
		return false;
	tail = (struct span){dash + 3, line.p + line.len - dash - 3};
	type = word(&tail);
	if (type.len < 6 || memcmp(type.p, "cgroup", 6) || type.len > 7)
		return false;
	word(&tail);
	h->options = type.len == 7 ? (struct span){"", 0} : tail;
	word(&line);
	word(&line);
	word(&line);
	h->root = word(&line);
	h->mount_point = word(&line);
	/* Outside obrec's cgroup namespace: membership cannot be determined, because
	 * /proc/PID/cgroup shows paths relative to that root. */
	return !has_prefix(h->root, span_of("/.."));
}

/* Returns the directory of `path` in a mounted hierarchy if it exists; malloc'ed. */
static char *hierarchy_dir(const struct hierarchy *h, const char *path)
{
	struct span p = span_of(path);
	struct stat st;
	char *dir;

	if (h->root.len > 1) { /* only a part is mounted, as in a container */
		if (!cgroup_contains(h->root, p))
			return NULL;
		p.p += h->root.len;
	}
	if (asprintf(&dir, "%.*s%s", (int)h->mount_point.len, h->mount_point.p, p.p) < 0)
		return NULL;
	if (stat(dir, &st) || !S_ISDIR(st.st_mode)) {
		free(dir);
		return NULL;
	}
	return dir;
}

/* "rw,cpu,cpuacct" -> "cpu,cpuacct", as /proc/PID/cgroup names it. */
static char *controllers_of(struct span options)
{
	char *s = strndup(options.p, options.len), *at, *name;

	if (!s)
		return NULL;
	name = strstr(s, "name=");
	at = name ? name : !strncmp(s, "rw,", 3) || !strncmp(s, "ro,", 3) ? s + 3 : s;
	memmove(s, at, strlen(at) + 1);
	return s;
}

/* "/sys/fs/cgroup/memory/web" -> hierarchy "memory", path "/web". */
static bool take_directory(struct target *t, const struct hierarchy *h, const char *asked)
{
	struct span a = span_of(asked);
	struct stat st;

	if (t->controllers || h->mount_point.len <= 1 || !cgroup_contains(h->mount_point, a) ||
	    stat(asked, &st) || !S_ISDIR(st.st_mode))
		return false;
	free(t->path);
	if (asprintf(&t->path, "%.*s%s", h->root.len > 1 ? (int)h->root.len : 0, h->root.p,
		     a.len > h->mount_point.len ? asked + h->mount_point.len : "/") < 0)
		t->path = NULL;
	t->controllers = controllers_of(h->options);
	while (t->dir_cnt)
		free(t->dir[--t->dir_cnt]);
	t->dir[0] = strdup(asked);
	t->dir_cnt = t->dir[0] != NULL;
	return true;
}

/* Each component after one slash, those that are "." left out, as /proc/PID/cgroup has it;
 * malloc'ed. */
static char *normalize(const char *asked)
{
	char *s = malloc(strlen(asked) + 2), *to = s;

	if (!s)
		return NULL;
	for (const char *at = asked; *at; at += *at == '/') {
		size_t len = strcspn(at, "/");

		if (len && !(len == 1 && *at == '.')) {
			*to++ = '/';
			to = mempcpy(to, at, len);
		}
		at += len;
	}
	if (to == s)
		*to++ = '/';
	*to = 0;
	return s;
}

static int find_cgroup(struct target *t)
{
	static char text[1 << 20];
	long n = procfs_read(t->proc, getpid(), "mountinfo", text, sizeof(text));
	struct span rest = {text, n > 0 ? n : 0}, line;
	char *asked = normalize(t->spec->cgroup);

	t->path = normalize(t->spec->cgroup);
	while (asked && t->path && next_line(&rest, &line)) {
		struct hierarchy h;
		char *dir;

		if (!hierarchy_parse(line, &h) || take_directory(t, &h, asked) || t->controllers ||
		    t->dir_cnt == DIRS_MAX)
			continue;
		dir = hierarchy_dir(&h, t->path);
		if (dir)
			t->dir[t->dir_cnt++] = dir;
	}
	free(asked);
	if (t->dir_cnt)
		return 0;
	message_error(
		"no such cgroup: %s (%s)", t->spec->cgroup,
		procfs_in_initial_ns("cgroup")
			? "in no mounted hierarchy; see /proc/PID/cgroup"
			: "obrec is in a cgroup namespace, which hides those of others: docker "
			  "run --cgroupns=host");
	return -ENOENT;
}

int target__new(struct target **out, const struct target_spec *spec, int proc)
{
	struct target *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return -ENOMEM;
	t->spec = spec;
	t->proc = proc;
	t->self = getpid();
	if (spec->pid_cnt)
		err = check_pids(t);
	else if (spec->cgroup)
		err = find_cgroup(t);
	if (err) {
		target__free(t);
		return err;
	}
	if (spec->pid_cnt && spec->inherit)
		warn_of_left_out(t);
	*out = t;
	return 0;
}

void target__free(struct target *t)
{
	if (!t)
		return;
	for (unsigned i = 0; i < t->dir_cnt; i++)
		free(t->dir[i]);
	free(t->path);
	free(t->controllers);
	free(t);
}

/* ---- matching ---- */

static bool in_cgroup(const struct target *t, uint32_t pid)
{
	char text[8192];
	long n = procfs_read(t->proc, pid, "cgroup", text, sizeof(text));
	struct span rest = {text, n > 0 ? n : 0}, line;

	while (next_line(&rest, &line)) {
		struct cgroup_line c;

		if (cgroup_line_parse(line, &c))
			continue;
		if (t->controllers && (c.controllers.len != strlen(t->controllers) ||
				       memcmp(c.controllers.p, t->controllers, c.controllers.len)))
			continue;
		if (cgroup_contains(span_of(t->path), c.path))
			return true;
	}
	return false;
}

bool target__wants(const struct target *t, uint32_t pid, const char *comm)
{
	const struct target_spec *spec = t->spec;
	size_t at;

	if (pid == t->self)
		return false;
	if (spec->all || is_named(spec, pid, &at))
		return true;
	if (spec->comm)
		return comm && !fnmatch(spec->comm, comm, 0);
	return spec->cgroup && in_cgroup(t, pid);
}

/* ---- scanning ---- */

void target__ask_members(const struct target *t, struct parcel *m)
{
	read_members_ask(m, t->dir, t->dir_cnt);
}

int target__scan(const struct target *t, int (*fn)(void *ctx, uint32_t pid), void *ctx)
{
	int err = 0;

	if (t->spec->pid_cnt) {
		for (size_t i = 0; !err && i < t->spec->pid_cnt; i++)
			err = fn(ctx, t->spec->pids[i]);
		return err;
	}
	return procfs_each_id(t->proc, ".", fn, ctx);
}
