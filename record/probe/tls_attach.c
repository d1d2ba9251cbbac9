/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>

#include "obrec.skel.h"
#include "record/probe/tls_attach.h"
#include "record/host/uprobe_multi.h"

enum { PATH_SZ = 32 };

static void path_of(int fd, char path[PATH_SZ])
{
	snprintf(path, PATH_SZ, "/proc/self/fd/%d", fd);
}

static bool is_go(enum tls_kind kind)
{
	return kind >= TLS_GO_READ;
}

static bool has_return(enum tls_kind kind)
{
	return !is_go(kind) && kind != TLS_FREE;
}

/* ---- one link per site ---- */

static struct bpf_program *entry_program(const struct probe_env *env, enum tls_kind kind)
{
	struct obrec_bpf *skel = env->skel;
	struct bpf_program *const progs[TLS_KIND_CNT] = {
		[TLS_READ] = skel->progs.tls_read,
		[TLS_WRITE] = skel->progs.tls_write,
		[TLS_READ_EX] = skel->progs.tls_read_ex,
		[TLS_WRITE_EX] = skel->progs.tls_write_ex,
		[TLS_READ_TYPED] = skel->progs.tls_read_typed,
		[TLS_READ_ELSEWHERE] = skel->progs.tls_read_elsewhere,
		[TLS_WRITE_ELSEWHERE] = skel->progs.tls_write_elsewhere,
		[TLS_SESSION] = skel->progs.tls_session,
		[TLS_FREE] = skel->progs.tls_free,
#if defined(__x86_64__)
		[TLS_GO_READ] = skel->progs.tls_go_read,
		[TLS_GO_WRITE] = skel->progs.tls_go_write,
		[TLS_GO_RETURN] = env->features->atomic_fetch ? skel->progs.tls_go_return
							      : skel->progs.tls_go_return_5_10,
#endif
	};

	/* The location of the count cannot be passed to a closure's probe this way, so every return
	 * is probed. */
	if (kind == TLS_GO_LATE_RETURN)
		kind = TLS_GO_RETURN;
	return progs[kind];
}

static struct bpf_program *return_program(const struct probe_env *env, enum tls_kind kind)
{
	struct obrec_bpf *skel = env->skel;

	if (!has_return(kind))
		return NULL;
	if (kind == TLS_SESSION)
		return skel->progs.tls_session_return;
	return env->features->atomic_fetch ? skel->progs.tls_return : skel->progs.tls_return_5_10;
}

static int attach_one(struct links *links, struct bpf_program *prog, const char *path,
		      uint64_t offset, bool at_return)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = at_return);

	if (!prog)
		return 0;
	return links__keep(links, bpf_program__attach_uprobe_opts(prog, -1, path, offset, &opts));
}

static int attach_each(const struct probe_env *env, const char *path, const struct tls_site *sites,
		       size_t cnt, struct links *links)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		enum tls_kind kind = sites[i].kind;

		/* Return first: a call whose return is missed would never end. */
		err = attach_one(links, return_program(env, kind), path, sites[i].offset, true);
		if (!err)
			err = attach_one(links, entry_program(env, kind), path, sites[i].offset,
					 false);
	}
	return err;
}

/* ---- one link for many sites ---- */

struct places {
	uint64_t offsets[TLS_SITES_MAX], cookies[TLS_SITES_MAX];
	uint32_t cnt;
};

static void add(struct places *p, const struct tls_site *site)
{
	p->offsets[p->cnt] = site->offset;
	p->cookies[p->cnt++] = TLS_COOKIE(site->kind, site->result_at);
}

static int attach_places(struct links *links, const struct bpf_program *prog, const char *path,
			 const struct places *p, bool at_return)
{
	if (!p->cnt)
		return 0;
	return links__keep_fd(
		links, uprobe_multi__attach(prog, path, p->offsets, p->cookies, p->cnt, at_return));
}

static int attach_all(const struct probe_env *env, const char *path, const struct tls_site *sites,
		      size_t cnt, struct links *links)
{
	struct places entries = {0}, returns = {0}, go = {0};
	int err;

	for (size_t i = 0; i < cnt; i++) {
		if (has_return(sites[i].kind))
			add(&returns, &sites[i]);
		if (!is_go(sites[i].kind))
			add(&entries, &sites[i]);
		else if (sites[i].kind != TLS_GO_LATE_RETURN) /* covered by its closure */
			add(&go, &sites[i]);
	}
	err = attach_places(links, env->skel->progs.tls_returns, path, &returns, true);
	if (!err)
		err = attach_places(links, env->skel->progs.tls_entries, path, &entries, false);
#if defined(__x86_64__)
	if (!err)
		err = attach_places(links, env->skel->progs.tls_go_sites, path, &go, false);
#endif
	return err;
}

/* ---- both ---- */

void tls_attach_prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;

	if (env->features->uprobe_multi) {
		uprobe_multi__choose(skel->progs.tls_entries);
		uprobe_multi__choose(skel->progs.tls_returns);
#if defined(__x86_64__)
		uprobe_multi__choose(skel->progs.tls_go_sites);
#endif
		return;
	}
	for (int kind = TLS_NONE; kind < TLS_KIND_CNT; kind++) {
		struct bpf_program *entry = entry_program(env, kind),
				   *ret = entry ? return_program(env, kind) : NULL;

		if (entry)
			bpf_program__set_autoload(entry, true);
		if (ret)
			bpf_program__set_autoload(ret, true);
	}
}

int tls_attach(const struct probe_env *env, int fd, const struct tls_site *sites, size_t cnt,
	       struct links *links)
{
	char path[PATH_SZ];

	path_of(fd, path);
	return env->features->uprobe_multi ? attach_all(env, path, sites, cnt, links)
					   : attach_each(env, path, sites, cnt, links);
}
