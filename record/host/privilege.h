/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Capabilities: what is missing is named before the start, those no longer needed are dropped
 * once everything is attached. They belong to threads: each of obrec's gives up its own.
 */
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

/* In the calling thread's effective set? CAP_BPF, CAP_PERFMON and CAP_CHECKPOINT_RESTORE are part
 * of CAP_SYS_ADMIN. */
bool privilege_has(int cap);

/* Can anything be recorded? Else -EPERM with the missing capabilities named in `why` (one line). */
int privilege_check(char *why, size_t why_sz);

/* One warning for each capability without which something is lost. pids: processes were named, so
 * that reading them is checked one by one. */
void privilege_warn(bool pids);

/*
 * The calling thread keeps what a recording needs while it runs (`session`: its main thread), or
 * what reading files takes, and loses everything else for good: effective, permitted, inheritable,
 * ambient and bounding set, what execve(2) could give. command: one was started, which may have to
 * be ended as another user. attaches: probes are attached to files that are still to come.
 */
void privilege_drop_session(bool command, bool attaches);
void privilege_drop_worker(void);
/* Of a process that reads what targets control: their memory, mappings and files. */
void privilege_drop_reader(void);

#endif
