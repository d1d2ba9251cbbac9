/* SPDX-License-Identifier: BSD-2-Clause */
/* Files in which a probe has attached uprobes: once for all processes that map a file, until no
 * target maps it. */
#ifndef RECORD_PROBED_FILES_H
#define RECORD_PROBED_FILES_H

#include <stdint.h>
#include <sys/stat.h>

#include "record/base/idmap.h"

struct probe_env;

struct probed_file {
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
	unsigned users;		   /* references; each ends with probed_files_gone() */
	uint32_t uprobes;	   /* their set */
	struct probed_file *other; /* next with the same hash */
};

struct probed_files {
	struct idmap by_stat;
};

struct probed_file *probed_files_find(const struct probed_files *files, const struct stat *st);
/* NULL: no memory. */
struct probed_file *probed_files_add(struct probe_env *env, struct probed_files *files,
				     const struct stat *st);
/* Detaches its uprobes with the last reference. */
void probed_files_gone(struct probe_env *env, struct probed_files *files, const struct stat *st);
/* The uprobes stay. */
void probed_files_fini(struct probed_files *files);

#endif
