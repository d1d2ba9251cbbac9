/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process of obrec may still ask of the kernel once it reads what targets wrote: an
 * allow-list of system calls by role (the table in seccomp.c), for all its threads and for good.
 * What is dangerous (execve, ptrace, mount, modules, other users' ids, new sockets, ...) fails with
 * EPERM, everything else with ENOSYS, as on a kernel without it, so that a libc tries another way.
 * Nothing is killed.
 *
 * Filters add up: a child has its parent's as well, and may restrict itself further. COMMAND is
 * forked before there is any.
 */
#ifndef RECORD_SECCOMP_H
#define RECORD_SECCOMP_H

enum seccomp_role {
	SECCOMP_RECORDER = 1, /* rings, BPF maps, the archive; may end COMMAND */
	SECCOMP_ATTACHER = 2, /* the same, and attaches probes to files that are still to come */
	SECCOMP_READER = 4,   /* reads files and memory of targets, answers on what is open: no BPF,
			       * no perf events, no signals to others, no new processes */
	SECCOMP_NURSERY = 8,  /* a reader that forks, ends and awaits readers */
};

/*
 * To be called when the process has all its sockets and descriptors; sets no_new_privs. 0, or
 * negative errno (-EINVAL: a kernel without seccomp; -ECANCELED: not all threads could be
 * restricted): the process goes on without, which the caller says.
 */
int seccomp_restrict(enum seccomp_role role);

#endif
