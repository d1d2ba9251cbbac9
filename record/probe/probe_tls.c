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
#include "record/base/loss.h"
#include "record/probe/probe.h"
#include "record/probe/probe_l4.h"
#include "record/probe/probed_files.h"
#include "record/binary/read_file.h"
#include "record/host/uprobes.h"
#include "record/probe/tls_attach.h"
#include "record/binary/tls_find.h"
#include "obrec.skel.h"

extern const struct probe probe_l7_entry, probe_tls_entry;

static struct probed_files *state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_tls_entry);
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

static void attach_file(struct probe_env *env, struct probed_file *f, int fd, const char *path,
			const struct tls_site *sites, size_t cnt)
{
	int err;

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
	struct probed_file *f = probed_files_find(state(env), st);

	if (!f && facts->tls_cnt && !may_hang(env, facts, path) &&
	    (f = probed_files_add(env, state(env), st)))
		attach_file(env, f, fd, path, facts->tls, facts->tls_cnt);
	if (f)
		f->users++;
	return f;
}

static void file_gone(struct probe_env *env, const struct stat *st)
{
	probed_files_gone(env, state(env), st);
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
	if (state(env))
		probed_files_fini(state(env));
}

const struct probe probe_tls_entry = {
	.name = "tls",
	.needs = &probe_l7_entry,
	.bulky = true,
	.urgent = true,
	.attaches_files = true,
	.facts = FILE_FACT_TLS,
	.state_sz = sizeof(struct probed_files),
	.available = uprobes__possible,
	.prepare = prepare,
	.attach = attach,
	.file = file,
	.file_gone = file_gone,
	.free = free_files,
};
