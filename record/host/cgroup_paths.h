/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of cgroups (v2) by the ids that the kernel side knows them by: the inodes of their
 * directories. */
#ifndef RECORD_CGROUP_PATHS_H
#define RECORD_CGROUP_PATHS_H

#include <stdbool.h>

#include "record/base/idmap.h"

struct cgroup_paths {
	struct idmap paths; /* malloc'ed */
	uint64_t looked_ns; /* when all were last looked at */
	bool v1;	    /* cgroup_paths_v1() */
	char unknown[32];
};

/* Do controllers of resources have hierarchies of their own (cgroup v1)? Processes are in the v2
 * root then, wherever they are in those. */
bool cgroup_paths_v1(void);

/* Below the root, "/" for the root itself, "/ (cgroup v1)" where v1 says more; "cgroup ID" of one
 * that was gone before it was looked for. Lent until the next call. */
const char *cgroup_paths__of(struct cgroup_paths *c, uint64_t id);
void cgroup_paths__fini(struct cgroup_paths *c);

#endif
