/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Container runtimes name a container's cgroup by its id, in one of these forms:
 *
 *   /docker/ID                                       cgroupfs driver
 *   /system.slice/docker-ID.scope                    systemd driver
 *   /system.slice/cri-containerd-ID.scope            likewise; also crio-, libpod-
 *   /kubepods/burstable/podUID/ID                    Kubernetes on cgroupfs
 *   /.../kubepods-podUID.slice:cri-containerd:ID     containerd's own form of slice:prefix:name
 *   /ecs/TASK/ID-NUMBER                              Fargate: 32 digits and a number
 *   /lxc/NAME, /lxc.payload.NAME                     LXC has names, no ids
 *
 * ID has 64 hex digits, with some runtimes 32. A podUID contains dashes and so never matches.
 * Monitor processes of a container (conmon, lxc.monitor) are not part of it.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "record/host/container.h"

static bool starts(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.len >= n && !memcmp(s.p, with, n);
}

static bool all_hex(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!isdigit((unsigned char)s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'f'))
			return false;
	return true;
}

/* "HEX32-DIGITS" */
static bool is_fargate(struct span s)
{
	if (s.len < 34 || s.p[32] != '-' || !all_hex((struct span){s.p, 32}))
		return false;
	for (size_t i = 33; i < s.len; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool has(struct span s, const char *what)
{
	return memmem(s.p, s.len, what, strlen(what)) != NULL;
}

static size_t take(struct span s, char id[CONTAINER_ID_CAP])
{
	if (!s.len || s.len >= CONTAINER_ID_CAP)
		return 0;
	memcpy(id, s.p, s.len);
	id[s.len] = 0;
	return s.len;
}

/* Finds an id in one path component; `parent` is the component above. */
static size_t component_id(struct span c, struct span parent, char id[CONTAINER_ID_CAP])
{
	struct span tail;

	if (starts(c, "lxc.payload.") && c.len > 12)
		return take((struct span){c.p + 12, c.len - 12}, id);
	if ((parent.len == 3 && starts(parent, "lxc")) ||
	    (parent.len == 11 && starts(parent, "lxc.payload")))
		return take(c, id);
	if (has(c, "conmon"))
		return 0;
	if (c.len > 6 && !memcmp(c.p + c.len - 6, ".scope", 6))
		c.len -= 6;
	if (is_fargate(c))
		return take(c, id);
	tail = c;
	for (size_t i = c.len; i > 0; i--) {
		if (c.p[i - 1] == '-' || c.p[i - 1] == ':') {
			tail = (struct span){c.p + i, c.len - i};
			break;
		}
	}
	if ((tail.len == 64 || tail.len == 32) && all_hex(tail))
		return take(tail, id);
	return 0;
}

/* Removes the last component from *path. */
static struct span pop(struct span *path)
{
	size_t end = path->len, i;

	while (end > 0 && path->p[end - 1] == '/')
		end--;
	for (i = end; i > 0 && path->p[i - 1] != '/'; i--)
		;
	path->len = i;
	return (struct span){path->p + i, end - i};
}

size_t container_id_of_cgroup(struct span path, char id[CONTAINER_ID_CAP])
{
	struct span c = pop(&path);

	id[0] = 0;
	while (c.len) {
		struct span parent = pop(&path);
		size_t n = component_id(c, parent, id);

		if (n)
			return n;
		c = parent;
	}
	return 0;
}
