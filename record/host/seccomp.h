/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seccomp filters for processes of obrec that read data written by targets: a system call
 * allow-list per role (table in seccomp.c), permanent and for all threads. Dangerous calls (execve,
 * ptrace, mount, modules, changing user ids, new sockets, ...) fail with EPERM. All others fail
 * with ENOSYS, as on an older kernel, so that libc uses a fallback. No process is killed.
 *
 * Filters accumulate: a child inherits its parent's and may restrict itself further. COMMAND is
 * forked before any filter is installed.
 */
#ifndef RECORD_SECCOMP_H
#define RECORD_SECCOMP_H

enum seccomp_role {
	SECCOMP_RECORDER = 1, /* rings, BPF maps, archive; may kill COMMAND */
	SECCOMP_ATTACHER = 2, /* attaches uprobes to files; no archive, no new processes */
	SECCOMP_READER = 4,   /* reads files and memory of targets, replies on open descriptors: no
			       * BPF, no perf events, no signals to others, no new processes */
	SECCOMP_NURSERY = 8,  /* a READER that forks, kills and reaps readers */
};

/*
 * Call it when the process has opened all its sockets and descriptors. Sets no_new_privs. Returns 0
 * or a negative errno (-EINVAL: kernel without seccomp; -ECANCELED: not all threads could be
 * restricted). On error the process continues without a filter and the caller reports it.
 */
int seccomp_restrict(enum seccomp_role role);

#endif
