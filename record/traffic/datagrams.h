/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds sockets that receive datagrams from any sender. */
#ifndef RECORD_DATAGRAMS_H
#define RECORD_DATAGRAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/base/idmap.h"

/* The sockets of a network namespace are read once for all of its processes. Initialise with the
 * descriptor of /proc (procfs.h), which is borrowed. */
struct datagrams {
	int proc;
	struct idmap spaces; /* namespace inode -> &spaces if it has such sockets, else &inodes */
	struct idmap inodes; /* inodes of such sockets */
	unsigned looked;     /* lines and descriptors read */
};

enum { DATAGRAMS_LOOKED_MAX = 1 << 16 };

/* Returns true if the process has a UDP socket that is bound but not connected, or when it would
 * take too long to find out: users decide how many sockets and descriptors there are. */
bool datagrams_received(struct datagrams *d, uint32_t pid);
void datagrams_fini(struct datagrams *d);

#endif
