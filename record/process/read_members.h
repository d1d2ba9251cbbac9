/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the members of cgroups in a reader process: the owner of a cgroup decides how many others
 * are below it. */
#ifndef RECORD_READ_MEMBERS_H
#define RECORD_READ_MEMBERS_H

#include "record/base/parcel.h"

/* Directories of one request; what is beyond them is left out. */
enum { MEMBERS_DIRS_MAX = 1 << 16 };

/* Runs in the reader. */
int read_members_serve(int proc, struct parcel *request, struct parcel *answer);
/* dir: directories of cgroups. */
void read_members_ask(struct parcel *m, char *const *dir, unsigned cnt);
/* To be called first: whether all directories were read. */
bool read_members_all(struct parcel *answer);
bool read_members_next(struct parcel *answer, uint32_t *pid);

#endif
