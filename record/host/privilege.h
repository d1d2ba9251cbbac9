/* SPDX-License-Identifier: BSD-2-Clause */
/* Capabilities. Missing ones are reported before the start; those no longer needed are dropped
 * after attaching. Capabilities are per thread, so each thread drops its own. */
#ifndef RECORD_PRIVILEGE_H
#define RECORD_PRIVILEGE_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

/* Returns true if the calling thread has `cap` effective. CAP_SYS_ADMIN implies CAP_BPF,
 * CAP_PERFMON and CAP_CHECKPOINT_RESTORE. */
bool privilege_has(int cap);

/* Returns 0 if recording is possible, else -EPERM with the missing capabilities in `why` (one
 * line). */
int privilege_check(char *why, size_t why_sz);

/* Warns once for each missing capability that limits the capture. pids: processes were given by
 * pid, so access to them is checked individually. */
void privilege_warn(bool pids);

/*
 * Drops all capabilities of the calling thread except those needed while recording (`session`: the
 * main thread) or for reading files (worker): from the effective, permitted, inheritable, ambient
 * and bounding sets. This is permanent and applies to execve(2). command: keep what is needed to
 * stop COMMAND if it runs as another user.
 */
void privilege_drop_session(bool command);
void privilege_drop_worker(void);
/* For the process that attaches uprobes. admin: CAP_PERFMON does not suffice on this kernel. */
void privilege_drop_attacher(bool admin);
/* For a reader process, which reads memory, mappings and files of targets. */
void privilege_drop_reader(void);

#endif
