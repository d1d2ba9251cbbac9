/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the /proc files of a process in a reader process. Reading /proc/PID/maps waits for the
 * process's mmap lock; cmdline and environ wait for their pages, which may belong to a file. */
#ifndef RECORD_READ_PROCESS_H
#define RECORD_READ_PROCESS_H

#include "record/base/parcel.h"
#include "record/process/process_image.h"

/* Identity. Runs in the reader: */
int read_process_serve(int proc, struct parcel *request, struct parcel *answer);
/* label_env: names of environment variables. */
void read_process_ask(struct parcel *m, uint32_t pid, const char *const *label_env,
		      size_t label_env_cnt);
/*
 * Copies the answer into the process's identity. Fields that could not be read are left unchanged.
 */
void read_process_take(struct parcel *answer, struct process *p);

/* Executable mappings. */
int read_maps_serve(int proc, struct parcel *request, struct parcel *answer);
void read_maps_ask(struct parcel *m, uint32_t pid);
/* Returns true and fills *m with the next mapping; its path points into the answer. */
bool read_maps_next(struct parcel *answer, uint32_t pid, struct mapped *m);

#endif
