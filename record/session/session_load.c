/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens, prepares and loads the BPF programs: selection, sizes of maps and rings, error
 * messages. */
#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/text.h"
#include "bpf/net/net.h"
#include "bpf/unwind.h"
#include "record/host/kfuncs.h"
#include "record/session/session_impl.h"

enum {
	DEFAULT_MEM = 256 << 20,
	MIN_RING = 64 << 10,
	MAX_RING = 1 << 20,
	MAX_RING_SOCKS = 4 << 20,  /* socket records without payload */
	MAX_RING_BULKY = 32 << 20, /* some tenths of a second of the most that one CPU can send */
	USUAL_RING_BULKY = 8 << 20,
	WAKEUP = 128 << 10,
	WAKEUP_PAYLOAD = 256 << 10, /* with less, or with a timer only, nginx serves fewer
				     * requests */
};

/*
 * Ring fill level that wakes obrec. One wake-up should handle hundreds of records, but use the CPU
 * for only some tenths of a millisecond: a longer run delays the clients of a server on that CPU,
 * and the server becomes idle.
 */
static uint32_t wakeup_size(uint32_t ring_sz, uint32_t most)
{
	return most < ring_sz / 2 ? most : ring_sz / 2;
}

/* The line that explains a failed load; libbpf's print callback has no context argument. */
static char load_error[256];

/* The verifier's log ends with the reason, followed by statistics. */
static void keep_reason(const char *log)
{
	const char *end = strstr(log, "\nprocessed "), *line;

	if (!end)
		end = strstr(log, "\n-- END");
	if (!end)
		return;
	for (line = end; line > log && line[-1] != '\n';)
		line--;
	snprintf(load_error, sizeof(load_error), "%.*s", (int)(end - line), line);
}

static int on_libbpf_message(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text, *log;
	int len = vasprintf(&text, fmt, args);

	if (len < 0)
		return 0;
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = 0;
	log = strstr(text, "-- BEGIN PROG LOAD LOG --\n");
	if (log)
		keep_reason(log);
	else if (level == LIBBPF_WARN && !load_error[0])
		snprintf(load_error, sizeof(load_error), "%s",
			 strncmp(text, "libbpf: ", 8) ? text : text + 8);
	if (level != LIBBPF_DEBUG)
		message_verbose("%s", text);
	free(text);
	return 0;
}

/* Call after the programs are prepared: returns true if payload has its own rings
 * (bpf/net/net_payload.bpf.h). */
static bool has_payload_rings(const struct obrec_bpf *skel)
{
#if defined(__x86_64__)
	return skel->rodata->net_payload_on && skel->rodata->net_by == NET_BY_SOCK;
#else
	return false;
#endif
}

static bool is_bulky(const struct session *s)
{
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->bulky)
			return true;
	return false;
}

/* Returns the size of a ring: at most `max` bytes, and all `cnt` together at most `budget`. */
static uint32_t ring_size(const struct session *s, uint64_t budget, unsigned cnt, uint32_t max)
{
	uint32_t sz = MIN_RING;

	if (s->opts.ring_sz)
		return s->opts.ring_sz;
	while (sz < max && sz * 2ULL * cnt <= budget)
		sz *= 2;
	return sz;
}

/* Size limit of a payload ring; `more`: there are more rings than are filled. A ring is resident
 * from the start, so the maximum is used only if a memory limit was given. */
static uint32_t max_bulky(const struct session *s, bool more)
{
	if (s->opts.bound_mem)
		return MAX_RING_BULKY;
	return more ? USUAL_RING_BULKY / 2 : USUAL_RING_BULKY;
}

/* Bytes captured per call in one record. */
static uint32_t largest_payload(const struct obrec_bpf *skel)
{
	uint32_t one = skel->rodata->net_payload_max, many = skel->rodata->net_payload_many;
	uint32_t most = one > many ? one : many;

	return (most > NET_FRAMES_MAX ? most : NET_FRAMES_MAX) + NET_FRAMES_MORE;
}

/* Sets the sizes of the payload rings; with TLS plaintext there are more rings than are filled. */
static int prepare_payload_rings(struct session *s)
{
	struct obrec_bpf *skel = s->skel;
	unsigned cnt = bpf_map__max_entries(skel->maps.net_scratch);
	bool more = cnt > s->plan.features.cpus;
	uint64_t budget = s->opts.max_mem / (more ? 4 : 8);
	uint32_t kept = largest_payload(skel);
	uint32_t sz = ring_size(s, budget, cnt, max_bulky(s, more));
	int err;

	while (sz < 2 * NET_RECORD_SZ(kept))
		sz *= 2;
	s->payload_ring_sz = sz;
	skel->rodata->net_ring_mask = sz - 1;
	skel->rodata->net_kept_max = kept;
	skel->rodata->net_wakeup_sz = wakeup_size(sz, WAKEUP_PAYLOAD);
	err = bpf_map__set_map_flags(skel->maps.net_scratch, BPF_F_MMAPABLE);
	return err ? err : bpf_map__set_value_size(skel->maps.net_scratch, NET_SCRATCH_SZ(sz));
}

static int prepare_rings(struct session *s)
{
	struct obrec_bpf *skel = s->skel;
	unsigned cpus = s->plan.features.cpus;
	uint64_t mem = s->opts.max_mem;
	uint32_t sz;
	int err = 0;

	if (has_payload_rings(skel)) {
		err = prepare_payload_rings(s);
		sz = ring_size(s, mem / 16, cpus, s->opts.bound_mem ? MAX_RING_SOCKS : MAX_RING);
	} else {
		sz = ring_size(s, mem / 8, cpus, is_bulky(s) ? max_bulky(s, false) : MAX_RING);
	}
	s->opts.ring_sz = sz;
	skel->rodata->wakeup_sz = wakeup_size(sz, WAKEUP);
	skel->rodata->net_ring_limit = sz / 4 * 3;
	return err ? err : bpf_map__set_max_entries(skel->maps.rings, cpus);
}

static int prepare(struct session *s)
{
	struct obrec_bpf *skel = s->skel;
	unsigned slots = s->plan.features.cpus * UNWIND_CONTEXTS;
	int err = 0;

	if (!s->opts.max_mem)
		s->opts.max_mem = DEFAULT_MEM;
	skel->rodata->have_task_pt_regs = s->plan.features.task_pt_regs;
	skel->rodata->can_disable_preempt = features_kfunc(&s->plan.features, WIRE_PREEMPT_ENABLE);
	skel->rodata->target_all = s->opts.target.all;
	skel->rodata->self_tgid = getpid();
	bpf_map__set_max_entries(skel->maps.unwind_slots, slots);
	bpf_map__set_max_entries(skel->maps.unwind_caches, slots);
	bpf_map__set_max_entries(skel->maps.kernel_stacks, s->plan.features.cpus);
	bpf_program__set_autoload(skel->progs.core_fork, true);
	bpf_program__set_autoload(skel->progs.core_exec, true);
	for (size_t i = 0; probes[i] && !err; i++)
		if (session_wants(s, i)) {
			err = hooks_prepare(&s->env, i);
			if (!err && probes[i]->prepare)
				err = probes[i]->prepare(&s->env);
		}
	if (!err)
		err = metrics_prepare(&s->env);
	err = err ? err : kfuncs_put(skel->obj, s->plan.features.kfunc);
	return err ? err : prepare_rings(s);
}

/* Before 5.11 maps count against RLIMIT_MEMLOCK; raising it requires a capability. */
static const char *load_hint(int err)
{
	struct rlimit r;

	if (err != -EPERM || !strstr(load_error, "failed to create") ||
	    getrlimit(RLIMIT_MEMLOCK, &r) || r.rlim_cur == RLIM_INFINITY)
		return "";
	return " (before Linux 5.11 maps count as locked memory: 'ulimit -l unlimited', or "
	       "CAP_SYS_RESOURCE)";
}

/* What libbpf needs besides maps and programs: BTF, and two at a time to find out what the kernel
 * has. Where it gets none it takes the kernel for one that lacks the feature. */
#define LOADER_FDS 8

static int check_descriptors(const struct bpf_object *obj)
{
	unsigned need = LOADER_FDS, used = 0;
	struct bpf_program *prog;
	struct bpf_map *map;
	struct rlimit r;
	DIR *d;

	bpf_object__for_each_map(map, obj) need += bpf_map__autocreate(map);
	bpf_object__for_each_program(prog, obj) need += bpf_program__autoload(prog);
	d = opendir("/proc/self/fd");
	while (d && readdir(d))
		used++;
	if (d)
		closedir(d);
	if (d && (getrlimit(RLIMIT_NOFILE, &r) || r.rlim_cur >= used + need))
		return 0;
	message_error("too few open files are allowed (%lu): set 'ulimit -n' to 1024 or more",
		      (unsigned long)r.rlim_cur);
	return -EMFILE;
}

int session_load(struct session *s)
{
	LIBBPF_OPTS(bpf_object_open_opts, open);
	int err = 0;

	libbpf_set_print(on_libbpf_message);
	if (s->opts.plan)
		s->plan = *s->opts.plan;
	else
		err = attach_plan_make(&s->plan, &s->opts);
	if (err)
		return err;
	s->opts.probes = s->plan.probes;
	if (s->plan.features.btf_file[0])
		open.btf_custom_path = s->plan.features.btf_file;
	s->skel = s->env.skel = obrec_bpf__open_opts(&open);
	if (!s->skel) {
		err = -errno;
		message_error("cannot open the BPF object: %s",
			      load_error[0] ? load_error : strerror(-err));
		return err;
	}
	err = prepare(s);
	features_forget_btf();
	err = err ? err : check_descriptors(s->skel->obj);
	if (err)
		return err;
	load_error[0] = 0;
	err = obrec_bpf__load(s->skel);
	if (err)
		message_error("cannot load the BPF programs on kernel %s: %s: %s%s",
			      s->plan.features.release, strerror(-err), load_error, load_hint(err));
	return err == -EINVAL || err == -E2BIG || err == -ESRCH ? -EOPNOTSUPP : err;
}

static uint64_t read_loss(int fd, uint32_t which)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t sum = 0, *values;

	if (cpus < 1)
		return 0;
	values = calloc(cpus, sizeof(*values));
	if (values && !bpf_map_lookup_elem(fd, &which, values))
		for (int i = 0; i < cpus; i++)
			sum += values[i];
	free(values);
	return sum;
}

/* One program only handles what another misses, and counts those events. */
static void add_missed(void *sum, const struct program_cost *c)
{
	if (strcmp(c->name, "net_tcp_state_missed"))
		*(uint64_t *)sum += c->missed;
}

static uint64_t missed_in_bpf(const struct session *s)
{
	uint64_t missed = 0, made_up;

	program_cost_each(s->skel->obj, add_missed, &missed);
	made_up = __atomic_load_n(&s->skel->bss->net_state_made_up, __ATOMIC_ACQUIRE);
	return missed > made_up ? missed - made_up : 0;
}

void session_miss_from_now(struct session *s)
{
	s->missed_in_bpf = missed_in_bpf(s);
}

void session_read_losses(struct session *s)
{
	static const struct {
		const char *source, *cause;
	} names[] = {
#define X(name, source, cause) {source, cause},
		WIRE_LOSSES(X)
#undef X
	};
	uint64_t missed;

	for (uint32_t i = 0; i < LOSS_CNT; i++) {
		uint64_t v = read_loss(bpf_map__fd(s->skel->maps.losses), i);

		loss__add(s->loss, names[i].source, names[i].cause, v - s->lost_in_bpf[i]);
		s->lost_in_bpf[i] = v;
	}
	missed = s->stopped_ns ? 0 : missed_in_bpf(s);
	if (missed <= s->missed_in_bpf)
		return;
	loss__add(s->loss, "probe", "program was running already", missed - s->missed_in_bpf);
	s->missed_in_bpf = missed;
}
