/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_MOUNT_H
#define BPF_MOUNT_H

#include "bpf/metric.h"

enum { SERIES_mount_failed = SERIES_OWN };

/* The calls, by the names that their tracepoints have: X(name, the call's name,
 * whether every kernel has it). */
#define MOUNT_CALLS(X)                                                                             \
	X(mount, "mount", REQUIRED)                                                                \
	X(umount, "umount2", REQUIRED)                                                             \
	X(pivot_root, "pivot_root", REQUIRED)                                                      \
	X(fsopen, "fsopen", OPTIONAL)                                                              \
	X(fspick, "fspick", OPTIONAL)                                                              \
	X(fsconfig, "fsconfig", OPTIONAL)                                                          \
	X(fsmount, "fsmount", OPTIONAL)                                                            \
	X(open_tree, "open_tree", OPTIONAL)                                                        \
	X(move_mount, "move_mount", OPTIONAL)                                                      \
	X(mount_setattr, "mount_setattr", OPTIONAL)                                                \
	X(open_tree_attr, "open_tree_attr", OPTIONAL)
#define MOUNT_CALL_CNT 16 /* at most; a power of two */
#define MOUNT_CALL_LEN 16

#endif
