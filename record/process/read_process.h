/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc tells of a process, read by a reader process: /proc/PID/maps waits for the process's
 * memory map, cmdline and environ for the page they lie in, which may be that of a file. */
#ifndef RECORD_READ_PROCESS_H
#define RECORD_READ_PROCESS_H

#include "record/base/parcel.h"
#include "record/process/process_image.h"

/* Who it is. In the reader: */
int read_process_serve(int proc, struct parcel *request, struct parcel *answer);
/* label_env: names of environment variables. */
void read_process_ask(struct parcel *m, uint32_t pid, const char *const *label_env,
		      size_t label_env_cnt);
/* Puts the answer into the process's identity. What could not be read (any more) stays as it is. */
void read_process_take(struct parcel *answer, struct process *p);

/* Its executable mappings. */
int read_maps_serve(int proc, struct parcel *request, struct parcel *answer);
void read_maps_ask(struct parcel *m, uint32_t pid);
/* The next one: true, and *m, whose path points into the answer. */
bool read_maps_next(struct parcel *answer, uint32_t pid, struct mapped *m);

#endif
