/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the file behind a mapping safely: the mapped file itself, not another one that now has its
 * name, and regular files only. Never blocks on a FIFO and never opens a device. */
#ifndef RECORD_BINARY_OPEN_H
#define RECORD_BINARY_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "record/binary/binary.h"

/* Returns a descriptor and fills *st. -ENXIO: not a regular file; -ESTALE: the name now belongs to
 * another file. */
int binary_open_mapped(int proc, const struct mapped *m, struct stat *st);

/* Fills *st only, through the mapping. */
int binary_stat_mapped(int proc, const struct mapped *m, struct stat *st);

/* Returns the vDSO of a process as a memfd: obrec's own if both must be identical, else a copy read
 * from the process. */
int binary_open_vdso(const struct mapped *m);

/* Strips a trailing " (deleted)"; returns true if it was present. */
bool binary_path_deleted(struct span *path);

#endif
