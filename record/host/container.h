/* SPDX-License-Identifier: BSD-2-Clause */
/* Extracts the container id from a cgroup path (Docker, containerd, CRI-O, Podman, Kubernetes, ECS,
 * LXC). Pure. */
#ifndef RECORD_CONTAINER_H
#define RECORD_CONTAINER_H

#include "format/records.h"

#define CONTAINER_ID_CAP 80

/* Copies the id of the innermost container in `path` to `id` (NUL-terminated) and returns its
 * length; 0: none. */
size_t container_id_of_cgroup(struct span path, char id[CONTAINER_ID_CAP]);

#endif
