/* SPDX-License-Identifier: BSD-2-Clause */
/* Sockets that receive datagrams from any sender. */
#ifndef RECORD_DATAGRAMS_H
#define RECORD_DATAGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/idmap.h"

/* Those of a network namespace are read once, for all of its processes. Init with the descriptor of
 * /proc (procfs.h), which stays the caller's. */
struct datagrams {
	int proc;
	struct idmap spaces; /* by inode: &spaces where there are such sockets, else &inodes */
	struct idmap inodes; /* of such sockets */
};

/* Has the process a UDP socket that is bound and not connected? */
bool datagrams_received(struct datagrams *d, uint32_t pid);
void datagrams_fini(struct datagrams *d);

#endif
