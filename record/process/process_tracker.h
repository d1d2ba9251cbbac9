/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the tracker, for its own files and their tests. process_table.c: images and threads;
 * process_events.c: side-band records; process_scan.c: /proc; process.c: public functions. */
#ifndef RECORD_PROCESS_TRACKER_H
#define RECORD_PROCESS_TRACKER_H

#include "record/binary/binary.h"
#include "record/base/idmap.h"
#include "record/process/process.h"
#include "record/process/process_image.h"
#include "record/process/sideband.h"
#include "record/process/target.h"

enum { RECENT = 16 }; /* a power of two */

struct tracker {
	struct tracker_opts opts;
	int proc; /* directory fd of /proc */
	uint32_t self;
	struct target *target;
	struct sideband *sideband; /* NULL before start */
	struct binaries *binaries;
	struct idmap processes; /* tgid -> struct process, the latest; older ones are chained to
				 * it */
	struct idmap threads;	/* tid -> struct thread, likewise */
	/* Cache by tid of recently used threads: record written, and the latest of its tid and
	 * process. */
	struct thread *recent[RECENT];
	uint32_t process_ids, thread_ids;
	size_t live_targets;
	int64_t boot_offset_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	struct process *dirty;	/* ranges to publish */
	struct process *ended, **ended_tail;
	struct thread *ended_threads, **ended_threads_tail;
	uint32_t *dying; /* tgids */
	size_t dying_cnt, dying_cap;
	struct range *ranges; /* buffer for publishing */
	size_t ranges_cap;
	/* Mappings whose files are being read. */
	struct waiting_map *waiting, **waiting_tail;
	size_t waiting_cnt;
	bool files_came;    /* some of them may be resolved now */
	bool members_asked; /* and not answered yet */
	bool members_cut;   /* some were left out: counted */
	bool draining, rescan, unwritten, hit_since, relevant;
	unsigned describe_budget, idle_wakes, wakes_max;
	uint64_t next_quick_ns, next_slow_ns, next_wake_ns,
		next_members_ns; /* when the periodic tasks are due */
	uint64_t jit_resolved_ns;
};

static inline void tracker_lose(struct tracker *t, const char *source, const char *cause,
				uint64_t count)
{
	if (t->opts.loss && count)
		t->opts.loss(t->opts.loss_ctx, source, cause, count);
}

/* ---- process_table.c ---- */

/* Returns the latest image of a live process, or NULL. */
struct process *table_live(struct tracker *t, uint32_t tgid);
/* Returns the image that started at that time; NULL if it was replaced or has ended. */
struct process *table_same(struct tracker *t, uint32_t tgid, uint64_t started_ns);
/* Returns the image to which a sample of that time belongs; NULL: unknown process. */
struct process *table_at(struct tracker *t, uint32_t tgid, uint64_t ts_ns);
/* Adds a new image before the older ones. */
struct process *table_add(struct tracker *t, uint32_t tgid, uint32_t ppid, uint64_t started_ns);
void table_set_target(struct tracker *t, struct process *p, bool target);
/* Ends the image: `replaced` by exec, or the process has exited. */
void table_end(struct tracker *t, struct process *p, uint64_t ts_ns, bool replaced);
/* Writes the process's record if needed; returns its id. */
uint32_t table_write(struct tracker *t, struct process *p);
void table_mark_dirty(struct tracker *t, struct process *p);
void table_publish(struct tracker *t);
/* Returns the thread with that tid to which a sample of that time belongs; creates it if needed. */
struct thread *table_thread(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns);
/* Cache look-up of a recently used thread; NULL: use table_thread(). */
struct thread *table_recent(const struct tracker *t, uint32_t tgid, uint32_t tid, uint64_t ts_ns);
void table_set_recent(struct tracker *t, struct thread *th);
void table_thread_started(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns);
void table_thread_ended(struct tracker *t, uint32_t tid, uint64_t ts_ns);
/* Ends processes and threads that are not in /proc. Needed if the first sample of a short-lived
 * thread is handled after its exit, or a process is adopted after its exit record. */
void table_end_gone(struct tracker *t, uint64_t now_ns);
/* Frees what ended before `before_ns`; UINT64_MAX: everything. */
void table_sweep(struct tracker *t, uint64_t before_ns);
void table_free(struct tracker *t);
/* Lets the registry drop binaries that no process maps. */
void tracker_sweep_binaries(struct tracker *t, uint64_t now_ns);

/* ---- process_map.c ---- */

/* Adds an executable mapping to an image. */
void tracker_map(struct tracker *t, struct process *p, const struct mapped *m, uint64_t ts_ns);
/* The same, but newer mappings are kept. */
void tracker_map_below(struct tracker *t, struct process *p, const struct mapped *m,
		       uint64_t ts_ns);
/* Retries mappings whose files were being read. */
void tracker_map_waiting(struct tracker *t);
void tracker_free_waiting(struct tracker *t);

/* ---- process_read.c: requests to readers ---- */

/* Reads the identity of a process. If the answer is late, its record is written again. */
void tracker_describe(struct tracker *t, struct process *p);
/* Reads the mappings of a process and adds them. Returns 0: added, or added later; negative errno
 * on error. `late`: adding later is acceptable. */
int tracker_read_maps(struct tracker *t, struct process *p, bool late);
/* Reads names of JIT code. `last`: at the end of the capture. */
void tracker_read_jit(struct tracker *t, bool last);
/* Reads the members of the target's cgroup. They are adopted when they are known; `check`: again
 * one by one. */
void tracker_read_members(struct tracker *t, bool check);

/* ---- process_events.c ---- */

void tracker_handle(struct tracker *t, const struct sideband_record *r);
/* Checks whether processes with an exited leader are gone; with `at_once` also those whose leader
 * has just exited. */
void tracker_check_dying(struct tracker *t, bool at_once);

/* ---- process_scan.c ---- */

/* Adopts a running process from /proc; NULL: it is gone. `match`: it matches the target itself. */
struct process *scan_adopt(struct tracker *t, uint32_t tgid, bool match);
/* Adds a running process that is not a target, but did something to one; NULL: it is gone. */
struct process *scan_bystander(struct tracker *t, uint32_t tgid);
/* Adopts a candidate, if it matches and is not known yet. */
int scan_adopt_wanted(void *tracker, uint32_t pid);
/* Adopts all matching processes not yet known. -EPERM: a process given by pid cannot be read
 * (reported). */
int scan_targets(struct tracker *t);
/* munmap is not reported. If a process has many more mappings than at the last look, this removes
 * those that are no longer in /proc. */
void scan_ended_maps(struct tracker *t);
/* The same for processes about to be published with more mappings than the unwinder supports. */
void scan_full_maps(struct tracker *t);
/* After lost records: brings the table in line with /proc. */
void scan_again(struct tracker *t);

#endif
