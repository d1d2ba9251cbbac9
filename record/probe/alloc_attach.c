/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/alloc_attach.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/binary/alloc_find.h"
#include "record/binary/read_file.h"
#include "record/binary/uprobe_place.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"
#include "record/probe/probe.h"
#include "record/probe/probed_files.h"

#define SEC_NS 1000000000ULL
#define ATTACHED_MIN_NS 50000000ULL /* at a time */

struct attached {
	struct probed_file *file; /* NULL: the number is free */
	int fd;
	char *path;
	struct alloc_site *sites;
	size_t cnt;
};

struct alloc_files {
	struct probe_env *env;
	enum alloc_how how;
	bool follow;
	struct probed_files files;
	struct attached by_number[ALLOC_FILES];
	unsigned level, now_level; /* wanted, in effect */
	bool off;
	uint64_t on_ns, off_until_ns;
};

/* ---- programs */

static struct bpf_program *entry_program(const struct alloc_files *f, enum alloc_kind kind)
{
	struct obrec_bpf *skel = f->env->skel;
	struct bpf_program *const each[ALLOC_KIND_CNT] = {
#define X(name, doc) [ALLOC_##name] = skel->progs.alloc_##name,
		ALLOC_KINDS(X)
#undef X
	};

	if (f->how == ALLOC_BY_EACH)
		return each[kind];
	if (kind == ALLOC_go_sample)
		return skel->progs.alloc_go_samples;
	if (kind == ALLOC_go_free)
		return skel->progs.alloc_go_frees;
	if (kind == ALLOC_free)
		return skel->progs.alloc_frees;
	return f->how == ALLOC_BY_SESSION && f->follow ? skel->progs.alloc_sessions
						       : skel->progs.alloc_entries;
}

/* NULL: none is needed. */
static struct bpf_program *return_program(const struct alloc_files *f)
{
	if (!f->follow || f->how == ALLOC_BY_SESSION)
		return NULL;
	return f->how == ALLOC_BY_EACH ? f->env->skel->progs.alloc_return
				       : f->env->skel->progs.alloc_returns;
}

static bool frees(enum alloc_kind kind)
{
	return kind == ALLOC_free || kind == ALLOC_go_free;
}

/* Whether the return of the function tells something. */
static bool returns(enum alloc_kind kind)
{
	return !frees(kind) && kind != ALLOC_new && kind != ALLOC_go_sample;
}

static void choose(const struct alloc_files *f, struct bpf_program *prog)
{
	if (!prog)
		return;
	if (f->how == ALLOC_BY_EACH)
		bpf_program__set_autoload(prog, true);
	else if (prog == f->env->skel->progs.alloc_sessions)
		uprobe_multi__choose_session(prog);
	else
		uprobe_multi__choose(prog);
}

int alloc_files__new(struct alloc_files **out, struct probe_env *env, enum alloc_how how,
		     bool follow)
{
	struct alloc_files *f = calloc(1, sizeof(*f));
	struct obrec_bpf *skel = env->skel;
	int err;

	if (!f)
		return -ENOMEM;
	f->env = env;
	f->how = how;
	f->follow = follow;
	*out = f;
	for (int kind = 0; kind < ALLOC_KIND_CNT; kind++)
		if (follow || !frees(kind))
			choose(f, entry_program(f, kind));
	choose(f, return_program(f));
	err = bpf_map__set_max_entries(skel->maps.alloc_files, ALLOC_FILES);
	return err
		       ?: bpf_map__set_max_entries(skel->maps.alloc_places,
						   how == ALLOC_BY_EACH ? ALLOC_FILES * 16 : 1);
}

static void attached_fini(struct attached *a)
{
	if (!a->file)
		return;
	close(a->fd);
	free(a->path);
	free(a->sites);
	*a = (struct attached){0};
}

void alloc_files__free(struct alloc_files *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < ALLOC_FILES; i++)
		attached_fini(&f->by_number[i]);
	probed_files_fini(&f->files);
	free(f);
}

/* ---- one file */

struct places {
	uint64_t offsets[ALLOC_FUNCS], cookies[ALLOC_FUNCS];
	uint32_t cnt;
};

static uint64_t cookie_of(const struct alloc_files *f, const struct attached *a,
			  const struct alloc_site *s)
{
	return ALLOC_COOKIE(s->kind, s->tails, a - f->by_number, s->address);
}

static int attach_places(const struct alloc_files *f, const struct attached *a,
			 const struct bpf_program *prog, const struct places *p, bool at_return)
{
	const struct uprobe_places at = {
		.prog_fd = bpf_program__fd(prog),
		.offsets = p->offsets,
		.cookies = p->cookies,
		.cnt = p->cnt,
		.at_return = at_return,
		.multi = f->how != ALLOC_BY_EACH,
		.session = prog == f->env->skel->progs.alloc_sessions,
	};

	return p->cnt ? uprobes__attach(f->env->uprobes, a->file->uprobes, a->fd, &at) : 0;
}

/* Attaches to all functions that this program is for. */
static int attach_program(const struct alloc_files *f, const struct attached *a,
			  const struct bpf_program *prog, bool at_return)
{
	struct places p = {.cnt = 0};

	for (size_t i = 0; i < a->cnt; i++) {
		const struct alloc_site *s = &a->sites[i];

		if (at_return ? !returns(s->kind) : entry_program(f, s->kind) != prog)
			continue;
		p.offsets[p.cnt] = s->offset;
		p.cookies[p.cnt++] = cookie_of(f, a, s);
	}
	return attach_places(f, a, prog, &p, at_return);
}

/* free() before the others, as one that is missed is worse. */
static int attach_all(const struct alloc_files *f, const struct attached *a)
{
	const struct bpf_program *at_return = return_program(f), *last = NULL;
	int err = 0;

	for (int kind = ALLOC_KIND_CNT - 1; kind >= 0 && !err; kind--) {
		const struct bpf_program *prog = entry_program(f, kind);

		if (kind == ALLOC_malloc && at_return && !err)
			err = attach_program(f, a, at_return, true);
		if (prog == last || (frees(kind) && !f->follow))
			continue;
		last = prog;
		err = err ?: attach_program(f, a, prog, false);
	}
	return err;
}

static const struct alloc_site *site_at(const struct attached *a, uint64_t start)
{
	for (size_t i = 0; start && i < a->cnt; i++)
		if (a->sites[i].start == start)
			return &a->sites[i];
	return NULL;
}

/* Which functions may end in which; or not any longer. */
static void tell_jumps(const struct alloc_files *f, const struct attached *a, bool gone)
{
	int fd = bpf_map__fd(f->env->skel->maps.alloc_jumps), err = 0;
	uint8_t yes = 1;

	for (size_t i = 0; i < a->cnt; i++)
		for (size_t j = 0; j < ALLOC_JUMPS; j++) {
			const struct alloc_site *to = site_at(a, a->sites[i].jumps[j]);
			struct alloc_jump jump;

			if (!to)
				continue;
			jump.from = cookie_of(f, a, &a->sites[i]);
			jump.to = cookie_of(f, a, to);
			if (gone)
				bpf_map_delete_elem(fd, &jump);
			else
				err = bpf_map_update_elem(fd, &jump, &yes, BPF_ANY) ?: err;
		}
	if (err)
		loss__add(f->env->loss, "alloc", "allocator: too many files", 1);
}

/* Without cookies a place is known by its code. */
static void tell_places(const struct alloc_files *f, const struct attached *a)
{
	uint64_t patched[ALLOC_FUNCS];
	size_t cnt = 0;

	if (f->how != ALLOC_BY_EACH)
		return;
	for (size_t i = 0; i < a->cnt; i++)
		if (f->follow || !frees(a->sites[i].kind))
			patched[cnt++] = a->sites[i].offset;
	uprobe_place_sort(patched, cnt);
	for (size_t i = 0; i < a->cnt; i++) {
		struct alloc_place place = a->sites[i].place;
		uint64_t cookie = cookie_of(f, a, &a->sites[i]);

		uprobe_place_patch((uint8_t *)place.code, sizeof(place.code),
				   a->sites[i].offset + ALLOC_CODE_AT, patched, cnt);
		if (bpf_map_update_elem(bpf_map__fd(f->env->skel->maps.alloc_places), &place,
					&cookie, BPF_ANY))
			loss__add(f->env->loss, "alloc", "allocator: too many files", 1);
	}
}

static void tell_functions(const struct alloc_files *f, const struct attached *a)
{
	struct alloc_file *to = calloc(1, sizeof(*to));
	uint32_t number = a - f->by_number;

	if (!to)
		return;
	for (size_t i = 0; i < a->cnt; i++) {
		if (a->sites[i].kind == ALLOC_go_sample)
			to->go = a->sites[i].go;
		to->func[to->cnt].start = a->sites[i].start;
		to->func[to->cnt++].end = a->sites[i].end;
	}
	bpf_map_update_elem(bpf_map__fd(f->env->skel->maps.alloc_files), &number, to, BPF_ANY);
	tell_places(f, a);
	tell_jumps(f, a, false);
	free(to);
}

static void report_sites(const struct attached *a)
{
	for (size_t i = 0; i < a->cnt; i++)
		message_verbose("%s: %s at %#llx%s%s", a->path, a->sites[i].name,
				(unsigned long long)a->sites[i].offset,
				a->sites[i].kind == ALLOC_new ? ", return not probed" : "",
				a->sites[i].step ? ", single-stepped" : "");
}

static bool attach_now(struct alloc_files *f, struct attached *a)
{
	int err = attach_all(f, a);

	if (!err)
		return true;
	loss__add(f->env->loss, "alloc",
		  err == -ETIMEDOUT ? "allocator: attaching timed out" : "allocator: cannot attach",
		  1);
	message_verbose("%s: cannot attach: %s", a->path, strerror(-err));
	return false;
}

/* A program that maps an allocator while it is recorded may call it before uprobes are attached.
 * What was mapped before the start is attached by then, however late it was read. */
static void attach_new(struct alloc_files *f, struct attached *a, uint64_t mapped_ns)
{
	if (!attach_now(f, a) || !f->env->start_ns || mapped_ns <= f->env->start_ns)
		return;
	loss__add(f->env->loss, "alloc",
		  "allocator: mapped after the start: calls before it was attached", 1);
	message_verbose("%s: attached %.3g ms after it was mapped", a->path,
			(clock_now_ns() - mapped_ns) / 1e6);
}

/* reallocarray() of glibc only calls realloc(). Those that must be single-stepped cost too much
 * unless there is no other way. */
static size_t without_costly(struct alloc_site *sites, size_t cnt)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++)
		if (!sites[i].step || strcmp(sites[i].name, "reallocarray"))
			sites[n++] = sites[i];
	return n;
}

static bool take_sites(struct attached *a, struct span from)
{
	a->cnt = from.len / sizeof(*a->sites);
	if (a->cnt > ALLOC_FUNCS)
		return false;
	a->sites = malloc(from.len);
	if (!a->sites)
		return false;
	memcpy(a->sites, from.p, a->cnt * sizeof(*a->sites));
	for (size_t i = 0; i < a->cnt; i++) {
		if (a->sites[i].kind >= ALLOC_KIND_CNT)
			return false;
		a->sites[i].name[sizeof(a->sites[i].name) - 1] = '\0';
	}
	a->cnt = without_costly(a->sites, a->cnt);
	return true;
}

static struct attached *number(struct alloc_files *f)
{
	for (unsigned i = 0; i < ALLOC_FILES; i++)
		if (!f->by_number[i].file)
			return &f->by_number[i];
	loss__add(f->env->loss, "alloc", "allocator: too many files", 1);
	return NULL;
}

static void add(struct alloc_files *f, struct probed_file *file, const struct file_facts *facts,
		int fd, const char *path)
{
	struct attached *a = number(f);

	if (!a)
		return;
	*a = (struct attached){
		.file = file, .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .path = strdup(path)};
	if (a->fd < 0 || !a->path || !take_sites(a, facts->alloc)) {
		loss__add(f->env->loss, "alloc", "allocator: cannot attach", 1);
		attached_fini(a);
		return;
	}
	tell_functions(f, a);
	report_sites(a);
	if (!f->off)
		attach_new(f, a, facts->mapped_ns);
}

static void report_lack(struct alloc_files *f, const struct file_facts *facts, const char *path)
{
	static const char *const lacks[ALLOC_GO_LACK_CNT] = {
#define X(name, text) [ALLOC_GO_LACKS_##name] = text,
		ALLOC_GO_LACKS(X)
#undef X
	};
	const char *what = facts->alloc_go < ALLOC_GO_LACK_CNT ? lacks[facts->alloc_go] : NULL;

	if (!what)
		return;
	loss__add(f->env->loss, "alloc", what, 1);
	message_verbose("%s: %s", path, what);
}

/* The kernel reads the file when it attaches. */
static bool may_hang(struct alloc_files *f, const struct file_facts *facts, const char *path)
{
	if (facts->remote) {
		loss__add(f->env->loss, "alloc", "allocator: on a FUSE or network file system", 1);
		message_verbose("%s: not attached: its file system may block", path);
	}
	return facts->remote;
}

bool alloc_files__add(struct alloc_files *f, const struct file_facts *facts, int fd,
		      const struct stat *st, const char *path)
{
	struct probed_file *file = probed_files_find(&f->files, st);

	if (!file)
		report_lack(f, facts, path);
	if (!file && facts->alloc.len && !may_hang(f, facts, path) &&
	    (file = probed_files_add(f->env, &f->files, st))) {
		file->users = 1; /* attaching may report other files */
		add(f, file, facts, fd, path);
		return true;
	}
	if (file)
		file->users++;
	return file;
}

void alloc_files__gone(struct alloc_files *f, const struct stat *st)
{
	struct probed_file *file = probed_files_find(&f->files, st);

	for (unsigned i = 0; file && file->users == 1 && i < ALLOC_FILES; i++)
		if (f->by_number[i].file == file) {
			tell_jumps(f, &f->by_number[i], true);
			attached_fini(&f->by_number[i]);
		}
	probed_files_gone(f->env, &f->files, st);
}

/* ---- programs still to be started */

static void attach_path(struct alloc_files *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct alloc_site *sites = calloc(ALLOC_FUNCS, sizeof(*sites));
	enum alloc_go_lack lack = ALLOC_GO_LACKS_NOTHING;
	struct file_facts facts = {0};
	struct stat st;

	if (fd >= 0 && sites && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		facts.alloc = (struct span){(const char *)sites,
					    alloc_find(fd, sites, &lack) * sizeof(*sites)};
		facts.alloc_go = lack;
		alloc_files__add(f, &facts, fd, &st, path); /* until the end */
	}
	if (fd >= 0)
		close(fd);
	free(sites);
}

/* As the shell finds it. */
static void attach_command(struct alloc_files *f, const char *command)
{
	const char *at = getenv("PATH");
	char path[2 * PATH_MAX];

	if (!command || strchr(command, '/')) {
		if (command)
			attach_path(f, command);
		return;
	}
	for (; at && *at; at += strspn(at, ":")) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, command);
		at += len;
		if (!access(path, X_OK)) {
			attach_path(f, path);
			return;
		}
	}
}

void alloc_files__system(struct alloc_files *f)
{
	static const char *const dirs[] = {"/usr/lib/*/", "/usr/lib64/", "/usr/lib/", "/lib/"};
	static const char *const names[] = {"libc.so.6",       "libc.so",
					    "libjemalloc.so*", "libtcmalloc*.so*",
					    "libmimalloc.so*", "ld-musl-*.so.1"};
	const struct target_spec *to = &f->env->opts->target;
	char pattern[64];
	glob_t g;

	if (to->pid_cnt && !f->env->opts->command_pid)
		return;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++) {
			snprintf(pattern, sizeof(pattern), "%s%s", dirs[i], names[j]);
			g = (glob_t){0};
			if (!glob(pattern, 0, NULL, &g))
				for (size_t k = 0; k < g.gl_pathc; k++)
					attach_path(f, g.gl_pathv[k]);
			globfree(&g);
		}
	attach_command(f, f->env->opts->command);
}

/* ---- for a share of the time */

static void detach_all(struct alloc_files *f)
{
	for (unsigned i = 0; i < ALLOC_FILES; i++)
		if (f->by_number[i].file) {
			uprobes__detach(f->env->uprobes, f->by_number[i].file->uprobes);
			f->by_number[i].file->uprobes = uprobes__set(f->env->uprobes);
		}
}

static void switch_on(struct alloc_files *f, uint64_t now_ns)
{
	struct obrec_bpf__bss *bss = f->env->skel->bss;

	for (unsigned i = 0; f->off && i < ALLOC_FILES; i++)
		if (f->by_number[i].file)
			attach_now(f, &f->by_number[i]);
	f->off = false;
	f->now_level = f->level;
	__atomic_store_n(&bss->alloc_level, f->level, __ATOMIC_RELEASE);
	__atomic_store_n(&bss->alloc_detached, false, __ATOMIC_RELEASE);
	f->on_ns = now_ns;
}

/* As long as it takes for the time that they were attached to be the share. */
static void switch_off(struct alloc_files *f, uint64_t now_ns)
{
	uint64_t attached_ns = now_ns - f->on_ns;

	__atomic_store_n(&f->env->skel->bss->alloc_detached, true, __ATOMIC_RELEASE);
	f->off = true;
	if (f->follow)
		loss__add(f->env->loss, "alloc", "free not seen: not attached, for --cpu-budget",
			  1);
	f->off_until_ns = now_ns + attached_ns * ((1ULL << f->now_level) - 1);
	detach_all(f);
}

void alloc_files__level(struct alloc_files *f, unsigned level)
{
	f->level = level;
}

void alloc_files__cycle(struct alloc_files *f, uint64_t now_ns)
{
	uint64_t share_ns = SEC_NS >> f->now_level;

	if (f->off) {
		if (now_ns >= f->off_until_ns || !f->level)
			switch_on(f, now_ns);
		return;
	}
	if (f->level != f->now_level)
		switch_on(f, now_ns);
	else if (f->level &&
		 now_ns - f->on_ns >= (share_ns > ATTACHED_MIN_NS ? share_ns : ATTACHED_MIN_NS))
		switch_off(f, now_ns);
}
