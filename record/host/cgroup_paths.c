/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/cgroup_paths.h"

#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "format/clock.h"

/* Rate limit: a look-up of an unknown id may read thousands of directories. */
#define LOOK_NS 500000000ULL
/* id of the root cgroup */
#define ROOT_ID 1

static bool is_of(const char *dir, long type)
{
	struct statfs st;

	return !statfs(dir, &st) && st.f_type == type;
}

bool cgroup_paths_v1(void)
{
	return is_of("/sys/fs/cgroup/memory", CGROUP_SUPER_MAGIC) ||
	       is_of("/sys/fs/cgroup/cpu", CGROUP_SUPER_MAGIC);
}

/* Mount point of the unified hierarchy, as systemd mounts it; NULL: none. */
static const char *root(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (is_of(roots[i], CGROUP2_SUPER_MAGIC))
			return roots[i];
	return NULL;
}

static void add(struct cgroup_paths *c, uint64_t id, const char *path)
{
	char *copy = strdup(*path ? path : "/");

	free(idmap_del(&c->paths, id));
	if (copy && idmap_put(&c->paths, id, copy))
		free(copy);
}

static void look(struct cgroup_paths *c)
{
	const char *at = root();
	char *const dirs[] = {(char *)at, NULL};
	FTS *fts = at ? fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL) : NULL;
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info == FTS_D)
			add(c, e->fts_statp->st_ino, e->fts_path + strlen(at));
	if (fts)
		fts_close(fts);
}

const char *cgroup_paths__of(struct cgroup_paths *c, uint64_t id)
{
	const char *path = idmap_get(&c->paths, id);
	uint64_t now = clock_now_ns();

	if (id == ROOT_ID)
		return c->v1 ? "/ (cgroup v1)" : "/";
	if (!path && now - c->looked_ns >= LOOK_NS) {
		look(c);
		c->looked_ns = now;
		path = idmap_get(&c->paths, id);
	}
	if (path)
		return path;
	snprintf(c->unknown, sizeof(c->unknown), "cgroup %llu", (unsigned long long)id);
	return c->unknown;
}

void cgroup_paths__fini(struct cgroup_paths *c)
{
	char *path;

	for (size_t i = 0; (path = idmap_next(&c->paths, &i));)
		free(path);
	idmap_fini(&c->paths);
}
