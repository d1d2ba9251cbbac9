/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of cgroups (v2) by the ids that the kernel side knows them by: the inodes of their
 * directories. */
#ifndef RECORD_CGROUP_PATHS_H
#define RECORD_CGROUP_PATHS_H

#include "record/base/idmap.h"

struct cgroup_paths {
	struct idmap paths; /* malloc'ed */
	uint64_t looked_ns; /* when all were last looked at */
	char unknown[32];
};

/* Below the root, "/" for the root itself; "cgroup ID" of one that was gone before it was looked
 * for. Lent until the next call. */
const char *cgroup_paths__of(struct cgroup_paths *c, uint64_t id);
void cgroup_paths__fini(struct cgroup_paths *c);

#endif
