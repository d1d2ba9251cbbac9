/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -- COMMAND: a child process that waits until the probes are attached, then executes the command.
 */
#ifndef RECORD_COMMAND_H
#define RECORD_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command_child {
	pid_t pid;    /* 0: none */
	int start_fd; /* closed before the start: COMMAND is not run */
	int timer_fd; /* its expiry starts COMMAND */
	int error_fd; /* receives errno of a failed exec */
};

/* Forks; the child waits. Returns 0 or -errno. */
int command_prepare(struct command_child *c, char **argv);

/* Starts COMMAND. Returns 0, or -errno of exec (the child has then exited). */
int command_go(struct command_child *c);

/* Stops the child if it is still running (SIGTERM, after five seconds SIGKILL) and reaps it.
 * Returns the exit status as a shell does (128+N for signal N), or 0 if this call stopped it. */
int command_finish(struct command_child *c);

#endif
