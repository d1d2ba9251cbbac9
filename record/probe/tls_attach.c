/* SPDX-License-Identifier: BSD-2-Clause */
#include "obrec.skel.h"
#include "record/probe/tls_attach.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"

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

static int attach_one(const struct probe_env *env, uint32_t set, int fd,
		      const struct bpf_program *prog, uint64_t offset, bool at_return)
{
	const struct uprobe_places at = {.prog_fd = prog ? bpf_program__fd(prog) : -1,
					 .offsets = &offset,
					 .cnt = 1,
					 .at_return = at_return};

	return prog ? uprobes__attach(env->uprobes, set, fd, &at) : 0;
}

static int attach_each(const struct probe_env *env, uint32_t set, int fd,
		       const struct tls_site *sites, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		enum tls_kind kind = sites[i].kind;

		/* Return first: a call whose return is missed would never end. */
		err = attach_one(env, set, fd, return_program(env, kind), sites[i].offset, true);
		if (!err)
			err = attach_one(env, set, fd, entry_program(env, kind), sites[i].offset,
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

static int attach_places(const struct probe_env *env, uint32_t set, int fd,
			 const struct bpf_program *prog, const struct places *p, bool at_return)
{
	const struct uprobe_places at = {.prog_fd = bpf_program__fd(prog),
					 .offsets = p->offsets,
					 .cookies = p->cookies,
					 .cnt = p->cnt,
					 .at_return = at_return,
					 .multi = true};

	return p->cnt ? uprobes__attach(env->uprobes, set, fd, &at) : 0;
}

static int attach_all(const struct probe_env *env, uint32_t set, int fd,
		      const struct tls_site *sites, size_t cnt)
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
	err = attach_places(env, set, fd, env->skel->progs.tls_returns, &returns, true);
	if (!err)
		err = attach_places(env, set, fd, env->skel->progs.tls_entries, &entries, false);
#if defined(__x86_64__)
	if (!err)
		err = attach_places(env, set, fd, env->skel->progs.tls_go_sites, &go, false);
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

int tls_attach(const struct probe_env *env, uint32_t set, int fd, const struct tls_site *sites,
	       size_t cnt)
{
	return env->features->uprobe_multi ? attach_all(env, set, fd, sites, cnt)
					   : attach_each(env, set, fd, sites, cnt);
}
