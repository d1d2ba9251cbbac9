/* SPDX-License-Identifier: BSD-2-Clause */
/* The container's id in a cgroup path, as Docker, containerd, CRI-O, Podman, Kubernetes, ECS and
 * LXC form it. Pure. */
#ifndef RECORD_CONTAINER_H
#define RECORD_CONTAINER_H

#include "format/records.h"

#define CONTAINER_ID_CAP 80

/*
 * Copies the id of the innermost container named in `path` to `id` (NUL-terminated) and returns its
 * length; 0 when there is none.
 */
size_t container_id_of_cgroup(struct span path, char id[CONTAINER_ID_CAP]);

#endif
