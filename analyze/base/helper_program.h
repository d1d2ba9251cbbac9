/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs of this machine that are asked for something, without a shell. */
#ifndef ANALYZE_HELPER_PROGRAM_H
#define ANALYZE_HELPER_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts argv[0], found in PATH, without what it prints on stderr. *fd: its stdout, to be closed
 * before helper_end(). Its pid, or -1: not found. */
pid_t helper_start(char *const argv[], int *fd);
/* Waits for its end. Whether it was successful. */
bool helper_end(pid_t pid);

#endif
