/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides from a process's own properties whether it is recorded. Inheritance is handled by the
 * tracker. */
#ifndef RECORD_TARGET_H
#define RECORD_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/parcel.h"
#include "record/process/process.h"

struct target;

/*
 * `spec` and `proc` (descriptor of /proc) are borrowed. Reports errors on one line: -ESRCH: no such
 * process; -ENOENT: cgroup not found in any hierarchy; -EINVAL: obrec itself. Warns if the given
 * processes already have children, because only later ones are followed.
 */
int target__new(struct target **t, const struct target_spec *spec, int proc);
void target__free(struct target *t);

/* Returns true if the process matches by pid, name (NULL: unknown) or cgroup. */
bool target__wants(const struct target *t, uint32_t pid, const char *comm);

/*
 * Returns true if the choice depends on the name, so that a renamed process must be checked again.
 */
bool target__by_comm(const struct target *t);
bool target__by_cgroup(const struct target *t);

/*
 * Calls fn for every candidate process: the given pids, or all of /proc.
 */
int target__scan(const struct target *t, int (*fn)(void *ctx, uint32_t pid), void *ctx);

/* With target__by_cgroup() the members of the cgroup are the candidates: asks for them. */
void target__ask_members(const struct target *t, struct parcel *m);

/* Returns true if `path`, from a line of /proc/PID/cgroup or below a hierarchy's root, is `below`
 * or inside it. Pure. */
bool cgroup_contains(struct span below, struct span path);

#endif
