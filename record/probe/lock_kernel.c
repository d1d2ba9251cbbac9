/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/lock_kernel.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/probe/lock.h"
#include "obrec.skel.h"
#include "record/host/kallsyms.h"
#include "record/intake/intake.h"
#include "record/probe/probe.h"

/* In progress at a time. */
enum { KERNEL_WAITS = 8192 };

/* ---- where things are */

static void join(uint64_t range[2], uint64_t address)
{
	uint64_t end = range[0] + range[1];

	if (!range[1])
		end = address;
	if (!range[1] || address < range[0])
		range[0] = address;
	range[1] = (address < end ? end : address + 1) - range[0];
}

static uint64_t address_of(const struct ksym_table *t, const char *name)
{
	for (size_t i = 0; i < t->cnt; i++)
		if (!t->syms[i].module && !strcmp(ksym_name(t, &t->syms[i]), name))
			return t->syms[i].address;
	return 0;
}

/* Symbols with low addresses are offsets in the memory of a CPU. */
static void place_variables(const struct ksym_table *t, uint64_t to[LOCK_VARIABLES][2])
{
	for (size_t i = 0; i < t->cnt; i++)
		if ((int64_t)t->syms[i].address < 0 && t->syms[i].rank != KSYM_RANK_LABEL)
			join(to[t->syms[i].module != 0], t->syms[i].address);
}

static void place_functions(const struct ksym_table *t, uint64_t to[LOCK_FUNCTIONS][2])
{
	static const char *const sections[LOCK_FUNCTIONS][2] = {
		{"__sched_text_start", "__sched_text_end"},
		{"__lock_text_start", "__lock_text_end"},
	};

	for (size_t i = 0; i < LOCK_FUNCTIONS; i++) {
		uint64_t start = address_of(t, sections[i][0]);
		uint64_t end = address_of(t, sections[i][1]);

		if (start && end > start)
			to[i][0] = start, to[i][1] = end - start;
	}
}

int lock_kernel_prepare(struct lock_kernel *k, struct probe_env *env)
{
	struct obrec_bpf__rodata *to = env->skel->rodata;
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	uint64_t variables[LOCK_VARIABLES][2] = {0}, functions[LOCK_FUNCTIONS][2] = {0};

	if (fd >= 0 && !ksym_table__load_variables(&k->variables, fd)) {
		place_variables(&k->variables, variables);
		place_functions(&k->variables, functions);
		memcpy((void *)to->lock_variables, variables, sizeof(variables));
		memcpy((void *)to->lock_functions, functions, sizeof(functions));
	}
	if (fd >= 0)
		close(fd);
	return bpf_map__set_max_entries(env->skel->maps.lock_kernel_waits, KERNEL_WAITS);
}

void lock_kernel_free(struct lock_kernel *k)
{
	if (k)
		ksym_table__fini(&k->variables);
}

/* ---- names */

static const char *lock_text(const struct lock_kernel *k, uint64_t lock)
{
	static const char *const classes[] = {[LOCK_CLASS_NONE] = "",
#define X(name, text) [LOCK_CLASS_##name] = text,
					      LOCK_CLASSES(X)
#undef X
	};
	const struct ksym *s;
	uint64_t size;

	if (lock < sizeof(classes) / sizeof(*classes))
		return classes[lock];
	s = ksym_table_find(&k->variables, lock, &size);
	return s ? ksym_name(&k->variables, s) : "";
}

/* The address is where the call returns to, perhaps behind the function's end. */
static const char *caller_text(struct probe_env *env, uint64_t address)
{
	const char *name =
		env->kallsyms && address ? kallsyms__name(env->kallsyms, address - 1) : NULL;

	return name ? name : "";
}

static const char *kind_text(uint64_t flags)
{
	static const struct {
		uint64_t flags;
		const char *name;
	} kinds[] = {
		{0, "semaphore"},
		{LCB_F_SPIN, "spinlock"},
		{LCB_F_SPIN | LCB_F_READ, "rwlock, read"},
		{LCB_F_SPIN | LCB_F_WRITE, "rwlock, write"},
		{LCB_F_READ, "rwsem, read"},
		{LCB_F_WRITE, "rwsem, write"},
		{LCB_F_RT, "rt_mutex"},
		{LCB_F_RT | LCB_F_READ, "rwlock, read"},
		{LCB_F_RT | LCB_F_WRITE, "rwlock, write"},
		{LCB_F_MUTEX, "mutex"},
		{LCB_F_MUTEX | LCB_F_SPIN, "mutex, spun"},
		{LCB_F_PERCPU | LCB_F_READ, "percpu rwsem, read"},
		{LCB_F_PERCPU | LCB_F_WRITE, "percpu rwsem, write"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].flags == flags)
			return kinds[i].name;
	return "other";
}

void lock_kernel_key(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, kind_text(part[LOCK_PART_KIND]));
}

void lock_kernel_locks_key(const struct lock_kernel *k, struct probe_env *env,
			   const uint64_t part[METRIC_KEY_PARTS], char *text, size_t sz)
{
	snprintf(text, sz, "%s", lock_text(k, part[LOCK_PART_LOCK]));
	series_key_add(text, sz, kind_text(part[LOCK_PART_KIND]));
	series_key_add(text, sz, caller_text(env, part[LOCK_PART_CALLER]));
}

/* ---- rows */

/* Appends a string to the texts; returns its length. */
static size_t append(char **to, const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	memcpy(*to, text, len);
	*to += len;
	return len;
}

bool lock_kernel_record(const struct lock_kernel *k, struct probe_env *env,
			const struct wire_hdr *hdr)
{
	const struct event_klock *from = (const void *)hdr;
	struct {
		struct event_klock e;
		char text[1024];
	} r = {0};
	char *end = r.e.text;

	if (hdr->kind != WIRE_KLOCK || hdr->size < sizeof(*from) + WIRE_COMM_LEN)
		return false;
	memcpy(&r.e, from, sizeof(*from));
	r.e.lock = append(&end, lock_text(k, from->lock), 256);
	r.e.kind = append(&end, kind_text(from->kind), 64);
	r.e.caller = append(&end, caller_text(env, from->caller), 256);
	r.e.owner_comm = append(&end, from->text, WIRE_COMM_LEN);
	r.e.hdr.kind = WIRE_EVENT;
	r.e.hdr.size = sizeof(r);
	intake__event(env->intake, &r.e.hdr);
	return true;
}
