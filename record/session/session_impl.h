/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of a session, shared by session.c (creation and end), session_load.c, session_run.c and
 * session_status.c only. */
#ifndef RECORD_SESSION_IMPL_H
#define RECORD_SESSION_IMPL_H

#include <time.h>

#include "record/probe/attach.h"
#include "record/intake/intake.h"
#include "record/host/kallsyms.h"
#include "record/base/loss.h"
#include "record/intake/packer.h"
#include "record/probe/hooks.h"
#include "record/probe/metrics.h"
#include "record/probe/probe.h"
#include "record/probe/record_opts.h"
#include "record/host/program.h"
#include "record/reader/readers.h"
#include "record/intake/ring.h"
#include "record/session/session.h"
#include "record/session/syncer.h"
#include "record/session/thin.h"
#include "record/unwind/unwind_store.h"
#include "obrec.skel.h"

struct session {
	struct record_opts opts; /* a copy; for -- COMMAND target.pids points to `command` */
	uint32_t command;
	struct obz_writer *writer;
	struct nursery *nursery; /* borrowed */
	struct readers *readers;
	struct attach_plan plan;
	struct probe_env env;
	struct obrec_bpf *skel;
	struct unwind_store *store;
	struct debuginfo *debuginfo;
	struct kallsyms *kallsyms;
	struct tracker *tracker;
	struct loss *loss;
	struct intake *intake;
	struct ring *ring;
	uint32_t payload_ring_sz; /* 0: no separate payload rings */
	struct metrics *metrics;
	struct packer *packer;
	struct syncer *syncer;
	struct thin *thin;		    /* NULL: no budget */
	int epoll_fd, command_fd, stats_fd; /* -1: none */
	uint64_t lost_in_bpf[LOSS_CNT];	    /* values last read */
	uint64_t missed_in_bpf;
	uint64_t events;
	uint64_t started_ns, stopped_ns;
};

#define SEC_NS 1000000000ULL
#define MSEC_NS 1000000ULL

static inline bool session_wants(const struct session *s, size_t probe)
{
	return s->opts.probes >> probe & 1;
}

/* Opens the skeleton, prepares the enabled probes, and loads. Reports its errors. */
int session_load(struct session *s);

/* Returns the bytes left of --max-mem, without the reserve; UINT64_MAX: no limit. */
uint64_t session_memory_left(const struct session *s);

/* Called when programs are enabled: skipped runs count as losses from now until stopped_ns is
 * set. */
void session_miss_from_now(struct session *s);

/* Adds the kernel-side losses since the last call to the loss table. */
void session_read_losses(struct session *s);

/* session_symbols.c */
struct json_object;
struct json_object *session_symbols_json(const struct session *s);

#endif
