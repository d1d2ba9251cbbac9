/* SPDX-License-Identifier: BSD-2-Clause */
/* What obrec's helper processes do first. They are forked while obrec has a single thread. */
#ifndef RECORD_CHILD_H
#define RECORD_CHILD_H

#include <sys/types.h>

/* Requests SIGKILL when the parent exits; exits if it has exited already. */
void child_end_with(pid_t parent);
/* Ctrl-C is sent to the terminal's whole process group; only obrec handles it. Children become no
 * zombies. */
void child_ignore_signals(void);
/* A process left behind must not keep pipes open whose end others wait for. keep2: -1: none */
void child_close_all_but(int keep1, int keep2);

/* In the parent: waits until the child has exited, at most `ms`, or until a signal arrives. Returns
 * 0, or -ETIMEDOUT. */
int child_wait(pid_t pid, int ms);

#endif
