/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plaintext of TLS connections (bpf/probe/tls.bpf.c). Attaches uprobes to every TLS library that a
 * target maps, once per file for all processes, until no target maps it. If programs are still to
 * be started, the system's libraries are attached beforehand, because a short-lived program may
 * exit before its mappings are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"
#include "record/base/idmap.h"
#include "record/base/loss.h"
#include "record/probe/probe.h"
#include "record/probe/probe_l4.h"
#include "record/binary/read_file.h"
#include "record/host/uprobes.h"
#include "record/probe/tls_attach.h"
#include "record/binary/tls_find.h"
#include "obrec.skel.h"

/* A file with TLS sites. */
struct tls_file {
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	unsigned users;		/* references; each ends with file_gone */
	uint32_t uprobes;	/* their set */
	struct tls_file *other; /* next with the same hash */
};

struct tls_files {
	struct idmap attached;
};

extern const struct probe probe_l7_entry, probe_tls_entry;

static struct tls_files *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_tls_entry);
}

static bool available(const struct features *f, char *why, size_t why_sz)
{
	if (access("/sys/bus/event_source/devices/uprobe", F_OK)) {
		snprintf(why, why_sz, "no uprobes (CONFIG_UPROBE_EVENTS)");
		return false;
	}
	return true;
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	unsigned cpus = env->features->cpus;

	tls_attach_prepare(env);
	skel->rodata->net_tls = true;
	return bpf_map__set_max_entries(skel->maps.net_scratch, cpus + NET_PLAIN_SLOTS(cpus));
}

/* ---- one file ---- */

static void attach_file(struct probe_env *env, struct tls_file *f, int fd, const char *path,
			const struct tls_site *sites, size_t cnt)
{
	int err;

	f->uprobes = uprobes__set(env->uprobes);
	err = tls_attach(env, f->uprobes, fd, sites, cnt);
	if (err) {
		loss__add(env->loss, "tls",
			  err == -ETIMEDOUT ? "library: attaching timed out"
					    : "library: cannot attach",
			  1);
		message_verbose("%s: cannot attach: %s", path, strerror(-err));
		return;
	}
	for (size_t i = 0; i < cnt; i++)
		message_verbose("%s: %s at %#llx%s", path, sites[i].name,
				(unsigned long long)sites[i].offset,
				sites[i].step ? ", single-stepped" : "");
}

static bool same_file(const struct tls_file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->mtime.tv_sec == st->st_mtim.tv_sec && f->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static uint64_t key_of(const struct stat *st)
{
	return idmap_mix(st->st_ino ^ idmap_mix(st->st_dev));
}

static struct tls_file *find(const struct tls_files *t, const struct stat *st)
{
	struct tls_file *f = idmap_get(&t->attached, key_of(st));

	while (f && !same_file(f, st))
		f = f->other;
	return f;
}

static struct tls_file *add(struct tls_files *t, const struct stat *st)
{
	struct tls_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dev = st->st_dev;
	f->ino = st->st_ino;
	f->mtime = st->st_mtim;
	f->other = idmap_get(&t->attached, key_of(st));
	if (!idmap_put(&t->attached, key_of(st), f))
		return f;
	free(f);
	return NULL;
}

/* The kernel reads the file when it attaches. If its file system does not respond, obrec would
 * block. */
static bool may_hang(struct probe_env *env, const struct file_facts *facts, const char *path)
{
	if (facts->remote) {
		loss__add(env->loss, "tls", "library: on a FUSE or network file system", 1);
		message_verbose("%s: not attached: its file system may block", path);
	}
	return facts->remote;
}

static bool file(struct probe_env *env, const struct file_facts *facts, int fd,
		 const struct stat *st, const char *path)
{
	struct tls_file *f = find(state(env), st);

	if (!f && facts->tls_cnt && !may_hang(env, facts, path) && (f = add(state(env), st)))
		attach_file(env, f, fd, path, facts->tls, facts->tls_cnt);
	if (f)
		f->users++;
	return f;
}

static void file_gone(struct probe_env *env, const struct stat *st)
{
	struct tls_file *f = find(state(env), st), *first, **at;

	if (!f || --f->users)
		return;
	first = idmap_get(&state(env)->attached, key_of(st));
	for (at = &first; *at != f; at = &(*at)->other)
		;
	*at = f->other;
	if (first)
		idmap_put(&state(env)->attached, key_of(st), first);
	else
		idmap_del(&state(env)->attached, key_of(st));
	uprobes__detach(env->uprobes, f->uprobes);
	free(f);
}

/* ---- the system's libraries ---- */

static void attach_path(struct probe_env *env, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct file_facts facts = {0};
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		facts.tls_cnt = tls_find(fd, facts.tls);
		file(env, &facts, fd, &st, path); /* holds a reference until the end */
	}
	close(fd);
}

static int attach(struct probe_env *env)
{
	static const char *const patterns[] = {
		"/usr/lib/*/libssl.so*",    "/usr/lib64/libssl.so*",	"/usr/lib/libssl.so*",
		"/usr/lib/*/libgnutls.so*", "/usr/lib64/libgnutls.so*", "/usr/lib/libgnutls.so*"};
	const struct target_spec *to = &env->opts->target;
	glob_t g = {0};

	traffic__expect_tls(probe_l4_traffic(env));
	if (to->pid_cnt && !env->opts->command_pid)
		return 0;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		if (!glob(patterns[i], 0, NULL, &g))
			for (size_t j = 0; j < g.gl_pathc; j++)
				attach_path(env, g.gl_pathv[j]);
		globfree(&g);
	}
	return 0;
}

static void free_files(struct probe_env *env)
{
	struct tls_file *f, *other;

	if (!state(env))
		return;
	for (size_t i = 0; (f = idmap_next(&state(env)->attached, &i));)
		for (; f; f = other) {
			other = f->other;
			free(f);
		}
	idmap_fini(&state(env)->attached);
}

const struct probe probe_tls_entry = {
	.name = "tls",
	.needs = &probe_l7_entry,
	.bulky = true,
	.urgent = true,
	.attaches_files = true,
	.facts = FILE_FACT_TLS,
	.state_sz = sizeof(struct tls_files),
	.available = available,
	.prepare = prepare,
	.attach = attach,
	.file = file,
	.file_gone = file_gone,
	.free = free_files,
};
