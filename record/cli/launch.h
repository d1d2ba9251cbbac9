/* SPDX-License-Identifier: BSD-2-Clause */
/* -- COMMAND: a child that waits until the probes are attached, then executes; reaped for its
 * status. */
#ifndef RECORD_COMMAND_H
#define RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command_child {
	pid_t pid;    /* 0: none */
	int start_fd; /* a byte written here lets it go */
	int error_fd; /* errno of a failed exec comes back here */
};

/* Forks; the child waits. 0 or -errno. */
int command_prepare(struct command_child *c, char **argv);

/* Lets it execute. Returns 0, or -errno of its exec (it has ended then). */
int command_go(struct command_child *c);

/* Ends it (SIGTERM, after five seconds SIGKILL) where it still runs, and reaps it. Exit status as a
 * shell gives it (128+N for signal N), or 0 when it was this call that ended it. */
int command_finish(struct command_child *c);

#endif
