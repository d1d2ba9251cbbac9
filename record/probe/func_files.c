/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the files with functions that operands name: those that targets map, and beforehand those
 * that programs still to be started would map. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/text.h"
#include "record/base/loss.h"
#include "record/binary/read_file.h"
#include "record/binary/read_functions.h"
#include "record/probe/func_impl.h"
#include "record/probe/func_kernel.h"
#include "record/reader/readers.h"

_Static_assert((int)RECORD_OPERANDS <= (int)FUNC_PATTERNS_MAX, "each may match the same file");

struct late_file {
	struct probe_env *env;
	struct stat st;
	int fd;
	uint32_t operands;
	char path[];
};

static void on_late(void *ctx, struct reading_request *r)
{
	struct late_file *late = ctx;
	struct probed_file *f = probed_files_find(&func_state(late->env)->files, &late->st);

	func_state(late->env)->late--;
	if (f)
		func_attach_found(late->env, f, late->fd, late->path, late->operands, &r->m);
	close(late->fd);
	free(late);
}

static void finish_later(struct probe_env *env, int fd, const struct stat *st, const char *path,
			 uint32_t operands, struct reading_request *r)
{
	size_t sz = strlen(path) + 1;
	struct late_file *late = malloc(sizeof(*late) + sz);

	if (!late) {
		readers__later(r, NULL, NULL);
		return;
	}
	*late = (struct late_file){env, *st, fcntl(fd, F_DUPFD_CLOEXEC, 3), operands};
	memcpy(late->path, path, sz);
	readers__later(r, on_late, late);
	func_state(env)->late++;
}

static void attach_file(struct probe_env *env, struct probed_file *f, int fd, const struct stat *st,
			const char *path, uint32_t operands)
{
	const char *patterns[RECORD_OPERANDS];
	struct funcs *fs = func_state(env);
	struct reading_request *r;
	struct parcel m;
	uint64_t how = 0;
	size_t cnt = 0;

	for (unsigned i = 0; i < env->opts->operand_cnt; i++)
		if (operands >> i & 1) {
			how |= fs->operand[i].wants & FUNC_WANTS_ARGS ? FUNC_FIND_ARGS(cnt) : 0;
			how |= fs->operand[i].usdt ? FUNC_FIND_USDT(cnt) : 0;
			patterns[cnt++] = fs->operand[i].symbol;
			fs->file_seen[i] = true;
		}
	if (probe_env__option(env, &probe_func_entry, "uretprobe"))
		how |= FUNC_FIND_URETPROBES;
	read_functions_ask(&m, fd, patterns, cnt, how);
	r = readers__ask(env->readers, &m, 0, 0);
	if (r && readers__await(env->readers, r)) {
		func_attach_found(env, f, fd, path, operands, &r->m);
		readers__done(r);
	} else if (r) {
		finish_later(env, fd, st, path, operands, r);
	}
}

/* The kernel reads the file when it attaches. */
static bool may_hang(struct probe_env *env, const struct file_facts *facts, const char *path)
{
	if (facts && facts->remote) {
		loss__add(env->loss, "func", "binary: on a FUSE or network file system", 1);
		message_verbose("%s: not attached: its file system may block", path);
	}
	return facts && facts->remote;
}

/* A file may have several paths, by links. */
struct func_meant {
	dev_t dev;
	ino_t ino;
	uint32_t operands; /* as bits */
	bool attach;	   /* though no target maps it */
	char path[];
};

static struct func_meant *find_meant(const struct funcs *f, const struct stat *st)
{
	for (size_t i = 0; i < f->meant_cnt; i++)
		if (f->meant[i]->dev == st->st_dev && f->meant[i]->ino == st->st_ino)
			return f->meant[i];
	return NULL;
}

/* Operands that a file is meant by, as bits. */
static uint32_t operands_of(const struct probe_env *env, const struct stat *st, const char *path)
{
	const struct funcs *f = func_state(env);
	const struct func_meant *m = find_meant(f, st);
	uint32_t set = m ? m->operands : 0;

	for (unsigned i = 0; i < env->opts->operand_cnt; i++)
		set |= (uint32_t)func_operand_is_named(&f->operand[i], path) << i;
	return set;
}

static bool add_file(struct probe_env *env, const struct file_facts *facts, int fd,
		     const struct stat *st, const char *path, uint32_t operands)
{
	struct probed_file *f = probed_files_find(&func_state(env)->files, st);

	if (!f && operands && !may_hang(env, facts, path) &&
	    (f = probed_files_add(env, &func_state(env)->files, st))) {
		f->users = 1; /* attaching may report other files */
		attach_file(env, f, fd, st, path, operands);
		return true;
	}
	if (f)
		f->users++;
	return f;
}

bool func_files_new(struct probe_env *env, const struct file_facts *facts, int fd,
		    const struct stat *st, const char *path)
{
	return add_file(env, facts, fd, st, path, operands_of(env, st, path));
}

void func_files_gone(struct probe_env *env, const struct stat *st)
{
	probed_files_gone(env, &func_state(env)->files, st);
}

/* ---- programs still to be started */

static int mean(struct probe_env *env, const char *path, unsigned operand, bool attach)
{
	struct funcs *f = func_state(env);
	struct func_meant *m, **more;
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENOEXEC;
	m = find_meant(f, &st);
	if (!m) {
		more = realloc(f->meant, (f->meant_cnt + 1) * sizeof(*more));
		if (more)
			f->meant = more;
		m = more ? malloc(sizeof(*m) + strlen(path) + 1) : NULL;
		if (!m)
			return -ENOMEM;
		*m = (struct func_meant){.dev = st.st_dev, .ino = st.st_ino};
		strcpy(m->path, path);
		f->meant[f->meant_cnt++] = m;
	}
	m->operands |= 1u << operand;
	m->attach |= attach;
	return 0;
}

static void mean_glob(struct probe_env *env, const char *pattern, unsigned operand)
{
	glob_t g = {0};

	if (!glob(pattern, 0, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc; i++)
			mean(env, g.gl_pathv[i], operand, true);
	globfree(&g);
}

/* As the shell would look it up. */
static void mean_program(struct probe_env *env, const char *name, unsigned operand, bool attach)
{
	const char *at = getenv("PATH");
	char path[2 * PATH_MAX];
	bool found = false;

	for (; at && *at && !found; at += strspn(at, ":")) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, name);
		found = !access(path, X_OK) && !mean(env, path, operand, attach);
		at += len;
	}
}

/* As the dynamic linker would. */
static void mean_library(struct probe_env *env, const char *name, unsigned operand)
{
	static const char *const places[] = {
		"/usr/lib/*/%s",     "/usr/lib64/%s",	"/usr/lib/%s",	       "/usr/lib/*/%s.so*",
		"/usr/lib64/%s.so*", "/usr/lib/%s.so*", "/usr/lib/*/%s-*.so*",
	};
	char path[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), places[i], name);
		mean_glob(env, path, operand);
	}
}

static void mean_operand(struct probe_env *env, unsigned i)
{
	const struct target_spec *to = &env->opts->target;
	const struct func_operand *o = &func_state(env)->operand[i];
	const char *command = env->opts->command, *name = o->binary;
	bool started = !to->pid_cnt || env->opts->command_pid;

	if (o->kernel)
		return;
	if (strchr(name, '/')) {
		func_state(env)->missing[i] = mean(env, name, i, true);
		return;
	}
	if (started && command && strchr(command, '/') && func_operand_is_named(o, command))
		mean(env, command, i, true);
	mean_program(env, name, i, started);
	if (started)
		mean_library(env, name, i);
}

void func_files_prepare(struct probe_env *env)
{
	for (unsigned i = 0; i < env->opts->operand_cnt; i++)
		mean_operand(env, i);
}

void func_files_fini(struct probe_env *env)
{
	struct funcs *f = func_state(env);

	for (size_t i = 0; i < f->meant_cnt; i++)
		free(f->meant[i]);
	free(f->meant);
}

/* The file keeps a reference until the end. */
static void attach_meant(struct probe_env *env, const struct func_meant *m)
{
	int fd = open(m->path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		add_file(env, NULL, fd, &st, m->path, m->operands | operands_of(env, &st, m->path));
	close(fd);
}

/* ---- functions of the kernel */

static bool name_kernel(struct probe_env *env, const char *function, uint64_t wants,
			uint32_t *cookie)
{
	uint32_t number;

	if (!func_attach_number(env, function, "[kernel]", wants, &number))
		return false;
	*cookie = number | FUNC_SHARES_FRAME;
	return true;
}

static int attach_kernel(struct probe_env *env, unsigned i)
{
	const struct func_operand *o = &func_state(env)->operand[i];
	char why[256] = "";
	size_t left_out;
	int err = func_kernel_attach(env, o, name_kernel, &left_out, why, sizeof(why));

	func_state(env)->found[i] = !err;
	if (err == -ENOENT) {
		message_error("func: no function of the kernel is called '%s'", o->symbol);
		return -PROBE_NOT_THERE;
	}
	if (err)
		message_error("func: functions of the kernel cannot be recorded: %s", why);
	else if (left_out)
		message_warn("func: %zu of the kernel's functions '%s' are not recorded: they "
			     "cannot be probed, or are too many",
			     left_out, o->symbol);
	return err;
}

static int check_path(const struct funcs *f, unsigned i)
{
	if (!f->missing[i] || f->file_seen[i])
		return 0;
	message_error("func: %s: %s", f->operand[i].binary, strerror(-f->missing[i]));
	return -PROBE_NOT_THERE;
}

int func_files_attach(struct probe_env *env)
{
	struct funcs *f = func_state(env);
	int err = 0;

	for (unsigned i = 0; i < env->opts->operand_cnt && !err; i++)
		err = f->operand[i].kernel ? attach_kernel(env, i) : check_path(f, i);
	for (size_t i = 0; i < f->meant_cnt && !err; i++)
		if (f->meant[i]->attach)
			attach_meant(env, f->meant[i]);
	if (f->late)
		tracker__settle(env->tracker);
	if (!err && f->err) {
		message_error("func: cannot attach uprobes: %s", strerror(-f->err));
		return f->err;
	}
	for (unsigned i = 0; i < env->opts->operand_cnt && !err; i++) {
		const struct func_operand *o = &f->operand[i];

		/* Beside it, libraries have obsolete versions that hardly anybody calls. */
		if (f->found[i] && f->indirect[i] && !strpbrk(o->symbol, "*?["))
			message_warn("func: '%s' in %s is an indirect function (IFUNC) too: calls "
				     "of the implementation chosen at run time are not recorded",
				     o->symbol, o->binary);
		if (f->found[i])
			continue;
		if (f->indirect[i])
			message_error("func: '%s' in %s is an indirect function (IFUNC), whose "
				      "implementation is chosen at run time: name that instead, "
				      "if the file has its symbol, as in libc:__strlen_*",
				      o->symbol, o->binary);
		else if (f->file_seen[i])
			message_error("func: no %s in %s is called '%s'",
				      o->usdt ? "USDT probe" : "function", o->binary, o->symbol);
		else
			message_error("func: no target maps a file '%s'; its path can be given "
				      "instead",
				      o->binary);
		err = -PROBE_NOT_THERE;
	}
	return err;
}
