/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracker from inside, for its own files and their tests: process_table.c keeps images and
 * threads, process_events.c follows side-band records, process_scan.c reads /proc, process.c is the
 * outside.
 */
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
	struct sideband *sideband; /* NULL before the start */
	struct binaries *binaries;
	struct idmap processes; /* tgid -> struct process, the latest; older ones hang on it */
	struct idmap threads;	/* tid -> struct thread, likewise */
	/* By tid, who was asked for last: written, and the latest of its tid and of its process. */
	struct thread *recent[RECENT];
	uint32_t process_ids, thread_ids;
	size_t live_targets;
	int64_t boot_offset_ns; /* CLOCK_BOOTTIME minus CLOCK_MONOTONIC */
	struct process *dirty;	/* ranges to publish */
	struct process *ended, **ended_tail;
	struct thread *ended_threads, **ended_threads_tail;
	uint32_t *dying; /* tgids */
	size_t dying_cnt, dying_cap;
	struct range *ranges; /* scratch of publishing */
	size_t ranges_cap;
	/* Mappings whose files are being read. */
	struct waiting_map *waiting, **waiting_tail;
	size_t waiting_cnt;
	bool files_came; /* some may be known by now */
	bool draining, rescan, unwritten, hit_since, relevant;
	unsigned describe_budget, idle_wakes, wakes_max;
	uint64_t next_quick_ns, next_slow_ns, next_wake_ns; /* when the chores are due */
	uint64_t jit_resolved_ns;
};

static inline void tracker_lose(struct tracker *t, const char *source, const char *cause,
				uint64_t count)
{
	if (t->opts.loss && count)
		t->opts.loss(t->opts.loss_ctx, source, cause, count);
}

/* ---- process_table.c ---- */

/* The latest image of a process that lives; NULL. */
struct process *table_live(struct tracker *t, uint32_t tgid);
/* The image that began then; NULL when it has been replaced or has ended. */
struct process *table_same(struct tracker *t, uint32_t tgid, uint64_t started_ns);
/* The image that a sample of that time belongs to; NULL when the process is not known. */
struct process *table_at(struct tracker *t, uint32_t tgid, uint64_t ts_ns);
/* A new image in front of older ones. */
struct process *table_add(struct tracker *t, uint32_t tgid, uint32_t ppid, uint64_t started_ns);
void table_set_target(struct tracker *t, struct process *p, bool target);
/* The image's end: `replaced` by exec, or the process is gone. */
void table_end(struct tracker *t, struct process *p, uint64_t ts_ns, bool replaced);
/* Ensures that the process's record is written; returns its id. */
uint32_t table_write(struct tracker *t, struct process *p);
void table_mark_dirty(struct tracker *t, struct process *p);
void table_publish(struct tracker *t);
/* The thread with that tid that a sample of that time belongs to; made when it is not there. */
struct thread *table_thread(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns);
/* The same thread as at the last calls, at once; NULL: it is to be looked for. */
struct thread *table_recent(const struct tracker *t, uint32_t tgid, uint32_t tid, uint64_t ts_ns);
void table_set_recent(struct tracker *t, struct thread *th);
void table_thread_started(struct tracker *t, struct process *p, uint32_t tid, uint64_t ts_ns);
void table_thread_ended(struct tracker *t, uint32_t tid, uint64_t ts_ns);
/* A short thread's first sample may be handled after its exit, and a process be taken in after its
 * exit's record: what /proc does not show has ended. */
void table_end_gone(struct tracker *t, uint64_t now_ns);
/* Frees what ended before `before_ns`; UINT64_MAX: everything. */
void table_sweep(struct tracker *t, uint64_t before_ns);
void table_free(struct tracker *t);
/* Lets binaries be forgotten that no process maps. */
void tracker_sweep_binaries(struct tracker *t, uint64_t now_ns);

/* ---- process_map.c ---- */

/* Adds an executable mapping to an image. */
void tracker_map(struct tracker *t, struct process *p, const struct mapped *m, uint64_t ts_ns);
/* The same where newer ones stay. */
void tracker_map_below(struct tracker *t, struct process *p, const struct mapped *m,
		       uint64_t ts_ns);
/* Those whose files were being read, should they be known by now. */
void tracker_map_waiting(struct tracker *t);
void tracker_free_waiting(struct tracker *t);

/* ---- process_read.c: what readers are asked ---- */

/* Who it is; where the answer is late, its record is written again. */
void tracker_describe(struct tracker *t, struct process *p);
/* Its mappings, added to those it has. 0: they are there, or come later; negative errno. `late`:
 * they may come later. */
int tracker_read_maps(struct tracker *t, struct process *p, bool late);
/* Names of generated code. `last`: at the end. */
void tracker_read_jit(struct tracker *t, bool last);

/* ---- process_events.c ---- */

void tracker_handle(struct tracker *t, const struct sideband_record *r);
/* Whether processes whose leader exited are gone; those of just now only when `at_once`. */
void tracker_check_dying(struct tracker *t, bool at_once);

/* ---- process_scan.c ---- */

/* Takes a running process in, as /proc shows it; NULL when it is gone. `match`: it is wanted for
 * itself. */
struct process *scan_adopt(struct tracker *t, uint32_t tgid, bool match);
/* Everything that is wanted and not known yet. -EPERM when a process asked for cannot be read
 * (reported). */
int scan_targets(struct tracker *t);
/* Nothing tells of munmap: of a process that has got many more mappings since the last look those
 * are forgotten that /proc shows no more. */
void scan_ended_maps(struct tracker *t);
/* The same of those about to be published that have more than the unwinder takes. */
void scan_full_maps(struct tracker *t);
/* After lost records: makes the table agree with /proc again. */
void scan_again(struct tracker *t);

#endif
