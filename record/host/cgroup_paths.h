/* SPDX-License-Identifier: BSD-2-Clause */
/* Maps cgroup v2 ids, as used by the kernel (inode numbers of the cgroup directories), to paths. */
#ifndef RECORD_CGROUP_PATHS_H
#define RECORD_CGROUP_PATHS_H

#include <stdbool.h>

#include "record/base/idmap.h"

struct cgroup_paths {
	struct idmap paths; /* cgroup id -> path, malloc'ed */
	uint64_t looked_ns; /* time of the last full scan */
	bool v1;	    /* cgroup_paths_v1() */
	char unknown[32];
};

/* Returns true if resource controllers have separate hierarchies (cgroup v1). All processes are
 * then in the v2 root. */
bool cgroup_paths_v1(void);

/* Returns the path below the root: "/" for the root, "/ (cgroup v1)" if only v1 has more, "cgroup
 * ID" for a cgroup removed before the look-up. Valid until the next call. */
const char *cgroup_paths__of(struct cgroup_paths *c, uint64_t id);
void cgroup_paths__fini(struct cgroup_paths *c);

#endif
