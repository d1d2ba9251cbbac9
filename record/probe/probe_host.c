/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host from /proc and cgroup files, without BPF. A reading takes at most a thousandth of the
 * time until the next: it rests that long. The host is in each reading; of processes, and the
 * cgroups they are in, as many as fit, in turn, and all at the start and at the end. What a process
 * used between its last reading and its exit is only in the figures of its cgroup and the host.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/records.h"
#include "format/text.h"
#include "record/base/idmap.h"
#include "record/base/loss.h"
#include "record/probe/probe.h"
#include "record/probe/read_host.h"
#include "record/reader/readers.h"

/* CPU time for processes at a reading, at the start and the end. */
#define TURN_NS 600000
#define ENDS_NS 20000000

enum { REST = 1000, LATEST_MAX = 32768, FIRST_SERIES = SERIES_NUMBERS + 1 };

/* The latest values of a key. */
struct latest {
	uint64_t born, count, sum, turn;
};

struct host {
	struct idmap latest; /* by hash of series and key */
	uint32_t *pids;	     /* the targets of a reading */
	size_t pid_cnt, pid_cap;
	size_t at;		/* the next target in turn */
	uint64_t turn;		/* how often all have been read */
	uint64_t started_ticks; /* since boot: what is born later is counted from its start on */
	uint64_t from_ns, next_ns;
	uint64_t cpu_ns; /* of the readings between those at the start and the end */
	unsigned readings;
	bool read, asked, named, full, stopping;
	int err;
};

extern const struct probe probe_host_entry;

static const struct {
	const char *name, *kind, *unit, *keys;
} host_series[] = {
#define HOST_SERIES(name, kind, unit, keys) {#name, #kind, unit, keys},
	HOST_SERIES_LIST(HOST_SERIES)
#undef HOST_SERIES
};

static bool is_gauge(uint64_t series)
{
	return host_series[series].kind[0] == 'g';
}

static void write_series(struct probe_env *env, struct host *h)
{
	for (size_t i = 0; i < HOST_SERIES_CNT && !h->err; i++) {
		struct rec_series r = {
			.id = FIRST_SERIES + i,
			.probe = span_of(probe_host_entry.name),
			.name = span_of(host_series[i].name),
			.kind = span_of(host_series[i].kind),
			.unit = span_of(host_series[i].unit),
			.keys = span_of(host_series[i].keys),
		};

		h->err = obz_writer__put(env->writer, REC_series, &r);
	}
	h->named = true;
}

static uint64_t hash_of(const struct host_cell *c)
{
	uint64_t h = c->series + 1;
	size_t i = 0;

	while (c->born && i < c->key.len && c->key.p[i] != '\t') /* a name may change */
		i++;
	for (; i < c->key.len; i++)
		h = idmap_mix(h * 31 + (unsigned char)c->key.p[i]);
	return h;
}

/*
 * Returns the values from which the cell has grown: the latest ones; at first sight 0 if it is
 * newer than the capture, else its own. A cgroup is as old as it likes when its first process is
 * read.
 */
static struct latest grown_from(struct probe_env *env, struct host *h, const struct host_cell *c)
{
	uint64_t hash = hash_of(c);
	struct latest *l = idmap_get(&h->latest, hash);
	struct latest now = {c->born, c->count, c->sum, h->turn}, from = now;
	bool is_cgroup = c->series >= HOST_cgroup_cpu && c->series <= HOST_cgroup_pressure;

	if (l && l->born == c->born)
		from = *l;
	else if (c->born ? c->born >= h->started_ticks : h->read && !is_cgroup)
		from.count = from.sum = 0;
	if (!l && h->latest.cnt < LATEST_MAX) {
		l = malloc(sizeof(*l));
		if (l && idmap_put(&h->latest, hash, l)) {
			free(l);
			l = NULL;
		}
	}
	if (l)
		*l = now;
	else if (!h->full)
		loss__add(env->loss, "host", "too many processes and devices", 1);
	h->full |= !l;
	return l ? from : now;
}

static void take_cell(struct probe_env *env, struct host *h, const struct host_cell *c)
{
	struct rec_cell r = {
		.ts_ns = h->from_ns,
		.series = FIRST_SERIES + c->series,
		.key = c->key,
		.count = c->count,
		.sum = c->sum,
	};

	if (!is_gauge(c->series)) {
		struct latest from = grown_from(env, h, c);

		/* Some of the kernel's counters step back a little, as that of iowait. */
		r.count = c->count > from.count ? c->count - from.count : 0;
		r.sum = c->sum > from.sum ? c->sum - from.sum : 0;
	}
	if (!h->err && (r.count || r.sum))
		h->err = obz_writer__put(env->writer, REC_cell, &r);
}

static uint64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void take(struct probe_env *env, struct parcel *answer)
{
	struct host *h = probe_env__state(env, &probe_host_entry);
	uint64_t began_ns = own_cpu_ns(), done, used_ns, now = clock_now_ns();
	struct host_cell c;

	h->asked = false;
	if (answer->rc) {
		loss__add(env->loss, "host", "a reading timed out", 1);
		return;
	}
	if (!h->named)
		write_series(env, h);
	while (read_host_next(answer, &c))
		take_cell(env, h, &c);
	read_host_end(answer, &done, &used_ns);
	h->at += done;
	if (h->at >= h->pid_cnt) {
		h->at = 0;
		h->turn++;
	}
	h->from_ns = now;
	used_ns += own_cpu_ns() - began_ns;
	if (h->read && !h->stopping) {
		h->next_ns = now + REST * used_ns;
		h->cpu_ns += used_ns;
		h->readings++;
	}
	h->read = true;
}

static void on_late(void *env, struct reading_request *r)
{
	take(env, &r->m);
}

static int add_pid(void *ctx, uint32_t pid)
{
	struct host *h = ctx;
	size_t cap = h->pid_cap ? 2 * h->pid_cap : 64;
	uint32_t *more = h->pid_cnt < h->pid_cap ? h->pids : realloc(h->pids, cap * sizeof(*more));

	if (!more)
		return 1;
	h->pid_cap = h->pid_cnt < h->pid_cap ? h->pid_cap : cap;
	h->pids = more;
	h->pids[h->pid_cnt++] = pid;
	return 0;
}

static void read_now(struct probe_env *env, uint64_t cpu_ns, size_t at)
{
	struct host *h = probe_env__state(env, &probe_host_entry);
	struct reading_request *r;
	struct parcel m;

	if (h->asked)
		return;
	h->pid_cnt = 0;
	tracker__each_target(env->tracker, add_pid, h);
	h->at = at < h->pid_cnt ? at : 0;
	read_host_ask(&m, h->pids + h->at, h->pid_cnt - h->at, cpu_ns);
	r = readers__ask(env->readers, &m, 0, 0);
	h->asked = r;
	if (r && readers__await(env->readers, r)) {
		take(env, &r->m);
		readers__done(r);
	} else if (r) {
		readers__later(r, on_late, env);
	}
}

static int start(struct probe_env *env)
{
	struct host *h = probe_env__state(env, &probe_host_entry);
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	h->started_ticks = (boot.tv_sec + boot.tv_nsec / 1e9) * sysconf(_SC_CLK_TCK);
	h->from_ns = env->start_ns;
	read_now(env, ENDS_NS, 0);
	return 0; /* an archive that is full already is for tick() to tell */
}

static int tick(struct probe_env *env, uint64_t now_ns, bool last)
{
	struct host *h = probe_env__state(env, &probe_host_entry);

	if (!last && now_ns >= h->next_ns)
		read_now(env, TURN_NS, h->at);
	return h->err;
}

/* Forgets what was not seen while all were read twice. */
static void reanchor(struct probe_env *env)
{
	struct host *h = probe_env__state(env, &probe_host_entry);
	struct idmap all = h->latest;
	struct idmap_slot *s = all.slots;

	h->named = false;
	h->latest = (struct idmap){0};
	for (size_t i = 0; i < all.cap; i++, s++) {
		struct latest *l = s->value;

		if (l && (l->turn + 2 < h->turn || idmap_put(&h->latest, s->key, l)))
			free(l);
	}
	idmap_fini(&all);
}

static void finish(struct probe_env *env)
{
	struct host *h = probe_env__state(env, &probe_host_entry);

	message_verbose("host: %u readings, %.2f ms of CPU time", h->readings, h->cpu_ns / 1e6);
	h->stopping = true;
	read_now(env, ENDS_NS, 0);
}

static void free_host(struct probe_env *env)
{
	struct host *h = probe_env__state(env, &probe_host_entry);
	struct latest *l;

	for (size_t i = 0; h && (l = idmap_next(&h->latest, &i));)
		free(l);
	if (!h)
		return;
	idmap_fini(&h->latest);
	free(h->pids);
}

const struct probe probe_host_entry = {
	.name = "host",
	.state_sz = sizeof(struct host),
	.start = start,
	.tick = tick,
	.reanchor = reanchor,
	.finish = finish,
	.free = free_host,
};
