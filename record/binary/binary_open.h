/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening the file behind a mapping without being led astray: what is mapped is opened, not what
 * now has its name; nothing but regular files; never blocks on a FIFO or touches a device.
 */
#ifndef RECORD_BINARY_OPEN_H
#define RECORD_BINARY_OPEN_H

#include <stdbool.h>
#include <sys/stat.h>

#include "record/binary/binary.h"

/* An fd and its stat; -ENXIO when it is no regular file, -ESTALE when another file has the name by
 * now. */
int binary_open_mapped(int proc, const struct mapped *m, struct stat *st);

/* Only the stat, by the mapping. */
int binary_stat_mapped(int proc, const struct mapped *m, struct stat *st);

/* The vDSO of a process as a memfd: obrec's own when it must be the same, else read from the
 * process. */
int binary_open_vdso(const struct mapped *m);

/* Cuts " (deleted)" off; true when it was there. */
bool binary_path_deleted(struct span *path);

#endif
