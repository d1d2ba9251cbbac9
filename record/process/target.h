/* SPDX-License-Identifier: BSD-2-Clause */
/* Who is recorded, decided by a process's own properties; inheritance is the tracker's. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "record/process/process.h"

struct target;

/* `spec` and `proc` (directory fd of /proc) are borrowed. Reports what is wrong on one line: -ESRCH
 * for a pid that is no process, -ENOENT for a cgroup that no hierarchy has, -EINVAL for obrec
 * itself. Warns of children that the processes named have already: only later ones are followed. */
int target__new(struct target **t, const struct target_spec *spec, int proc);
void target__free(struct target *t);

/* Whether a process is wanted for its pid, name (NULL: not known here) or cgroup. */
bool target__wants(const struct target *t, uint32_t pid, const char *comm);

/* True when the choice depends on names: a renamed process has to be asked about again. */
bool target__by_comm(const struct target *t);
bool target__by_cgroup(const struct target *t);

/* Calls fn for every process that may be wanted now: the pids, the members of the cgroup, or all of
 * /proc. */
int target__scan(const struct target *t, int (*fn)(void *ctx, uint32_t pid), void *ctx);

/* One line of /proc/PID/cgroup or a path below a hierarchy's root: is `path` `below` or in it?
 * Pure. */
bool cgroup_contains(struct span below, struct span path);

#endif
