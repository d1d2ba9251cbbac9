/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Clear text of TLS connections (bpf/tls.bpf.c): uprobes in every TLS library that a target maps,
 * each file once for all processes. Libraries of the system are attached beforehand where programs
 * are still to start, as those may be done before their mappings are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../format/text.h"
#include "idmap.h"
#include "loss.h"
#include "probe.h"
#include "tls_find.h"
#include "obrec.skel.h"

enum { SLOTS_A_CPU = 3 }; /* scratch: one of net.bpf.c, PLAIN_SLOTS */

struct tls_file {
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	struct tls_file *other; /* of the same hash */
};

struct tls_files {
	struct idmap seen;
};

static bool available(const struct features *f, char *why, size_t why_sz)
{
	if (access("/sys/bus/event_source/devices/uprobe", F_OK)) {
		snprintf(why, why_sz, "no uprobes (CONFIG_UPROBE_EVENTS)");
		return false;
	}
	return attach_choose(&probe_l4_entry, f, 0, why, why_sz) >= 0;
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;
	bool fetch = env->features->atomic_fetch;
	struct bpf_program *const progs[] = {skel->progs.tls_read,	skel->progs.tls_write,
					     skel->progs.tls_read_ex,	skel->progs.tls_write_ex,
					     skel->progs.tls_handshake, skel->progs.tls_shaken,
					     skel->progs.tls_free,	skel->progs.tls_read_typed};

	env->tls = calloc(1, sizeof(*env->tls));
	if (!env->tls)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++)
		bpf_program__set_autoload(progs[i], true);
#if defined(__x86_64__)
	bpf_program__set_autoload(skel->progs.tls_go_read, true);
	bpf_program__set_autoload(skel->progs.tls_go_write, true);
	bpf_program__set_autoload(skel->progs.tls_go_return, fetch);
	bpf_program__set_autoload(skel->progs.tls_go_return_5_10, !fetch);
#endif
	bpf_program__set_autoload(skel->progs.tls_return, fetch);
	bpf_program__set_autoload(skel->progs.tls_return_5_10, !fetch);
	skel->rodata->net_tls = true;
	return bpf_map__set_max_entries(skel->maps.net_scratch, env->features->cpus * SLOTS_A_CPU);
}

/* ---- one file ---- */

static int attach_one(struct probe_env *env, struct bpf_program *prog, int fd, uint64_t offset,
		      bool ret)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = ret);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return probe_env__keep(env, bpf_program__attach_uprobe_opts(prog, -1, path, offset, &opts));
}

static struct bpf_program *return_of(struct probe_env *env, enum tls_kind kind)
{
	struct obrec_bpf *skel = env->skel;

	if (kind == TLS_FREE || kind >= TLS_GO_READ)
		return NULL;
	if (kind == TLS_HANDSHAKE)
		return skel->progs.tls_shaken;
	return env->features->atomic_fetch ? skel->progs.tls_return : skel->progs.tls_return_5_10;
}

static int attach_site(struct probe_env *env, int fd, const struct tls_site *site)
{
	struct obrec_bpf *skel = env->skel;
	struct bpf_program *const entries[TLS_KIND_CNT] = {
		[TLS_READ] = skel->progs.tls_read,
		[TLS_WRITE] = skel->progs.tls_write,
		[TLS_READ_EX] = skel->progs.tls_read_ex,
		[TLS_WRITE_EX] = skel->progs.tls_write_ex,
		[TLS_READ_TYPED] = skel->progs.tls_read_typed,
		[TLS_HANDSHAKE] = skel->progs.tls_handshake,
		[TLS_FREE] = skel->progs.tls_free,
#if defined(__x86_64__)
		[TLS_GO_READ] = skel->progs.tls_go_read,
		[TLS_GO_WRITE] = skel->progs.tls_go_write,
		[TLS_GO_RETURN] = env->features->atomic_fetch ? skel->progs.tls_go_return
							      : skel->progs.tls_go_return_5_10,
#endif
	};
	struct bpf_program *ret = return_of(env, site->kind);
	/* The return first: a call whose return is missed seems never to end. */
	int err = ret ? attach_one(env, ret, fd, site->offset, true) : 0;

	return err ? err : attach_one(env, entries[site->kind], fd, site->offset, false);
}

static void attach_file(struct probe_env *env, int fd, const char *path)
{
	struct tls_site sites[TLS_SITES_MAX];
	size_t cnt = tls_find(fd, sites);

	for (size_t i = 0; i < cnt; i++) {
		int err = attach_site(env, fd, &sites[i]);

		if (err) {
			loss__add(env->loss, "tls", "library: cannot be attached to", 1);
			message_verbose("%s: %s: cannot attach: %s", path, sites[i].name,
					strerror(-err));
			return;
		}
		message_verbose("%s: %s at %#llx%s", path, sites[i].name,
				(unsigned long long)sites[i].offset,
				sites[i].step ? ", single-stepped" : "");
	}
}

static bool same_file(const struct tls_file *f, const struct stat *st)
{
	return f->dev == st->st_dev && f->ino == st->st_ino &&
	       f->mtime.tv_sec == st->st_mtim.tv_sec && f->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

/* Whether it is seen for the first time. */
static bool is_new(struct tls_files *t, const struct stat *st)
{
	uint64_t key = idmap_mix(st->st_ino ^ idmap_mix(st->st_dev));
	struct tls_file *first = idmap_get(&t->seen, key), *f;

	for (f = first; f; f = f->other)
		if (same_file(f, st))
			return false;
	f = malloc(sizeof(*f));
	if (!f)
		return false;
	*f = (struct tls_file){st->st_dev, st->st_ino, st->st_mtim, first};
	if (!idmap_put(&t->seen, key, f))
		return true;
	free(f);
	return false;
}

static void file(struct probe_env *env, int fd, const struct stat *st, const char *path)
{
	if (is_new(env->tls, st))
		attach_file(env, fd, path);
}

/* ---- the system's libraries ---- */

static void attach_path(struct probe_env *env, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		file(env, fd, &st, path);
	close(fd);
}

static int attach(struct probe_env *env)
{
	static const char *const patterns[] = {
		"/usr/lib/*/libssl.so*",    "/usr/lib64/libssl.so*",	"/usr/lib/libssl.so*",
		"/usr/lib/*/libgnutls.so*", "/usr/lib64/libgnutls.so*", "/usr/lib/libgnutls.so*"};
	const struct target_spec *to = &env->opts->target;
	glob_t g = {0};

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

	if (!env->tls)
		return;
	for (size_t i = 0; (f = idmap_next(&env->tls->seen, &i));)
		for (; f; f = other) {
			other = f->other;
			free(f);
		}
	idmap_fini(&env->tls->seen);
	free(env->tls);
	env->tls = NULL;
}

const struct probe probe_tls_entry = {
	.name = "tls",
	.bulky = true,
	.available = available,
	.prepare = prepare,
	.attach = attach,
	.file = file,
	.free = free_files,
};
