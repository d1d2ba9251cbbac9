/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/seccomp.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>

enum {
	REC = SECCOMP_RECORDER,
	ATT = SECCOMP_ATTACHER,
	READ = SECCOMP_READER,
	NURSE = SECCOMP_NURSERY,
	FILES = REC | READ | NURSE,
	ALL = FILES | ATT,
};

/*
 * By name, as libseccomp translates them for each processor; unknown names are skipped. Includes
 * the variants used by older and newer libcs. To find a missing call, run `strace -f` on all that
 * the role does.
 */
static const struct {
	const char *names; /* separated by spaces */
	unsigned roles;
} allowed[] = {
	{"read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 close lseek",
	 ALL},
	{"fstat newfstatat fstatat64 stat lstat statx fstatfs fstatfs64 statfs", ALL},
	{"open openat openat2 access faccessat faccessat2 readlink readlinkat getdents64", ALL},
	{"fcntl dup dup2 dup3 pipe2 fadvise64 memfd_create", ALL},
	{"poll ppoll select pselect6 epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2",
	 ALL},
	{"eventfd2 timerfd_create timerfd_settime signalfd4", ALL},
	{"recvmsg sendmsg recvfrom sendto recvmmsg sendmmsg shutdown", ALL}, /* on open sockets */
	{"mmap mmap2 munmap mremap mprotect madvise brk mincore", ALL},
	{"futex futex_waitv futex_wake futex_wait set_robust_list get_robust_list rseq", ALL},
	{"set_tid_address membarrier sched_yield getcpu sched_getaffinity arch_prctl", ALL},
	{"rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait sigaltstack", ALL},
	{"rt_sigsuspend pause restart_syscall tgkill exit exit_group", ALL}, /* tgkill: abort() */
	{"getpid gettid getppid getuid geteuid getgid getegid uname sysinfo getrusage times", ALL},
	{"clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time getrandom", ALL},
	{"prctl capget capset seccomp getrlimit prlimit64 setrlimit", ALL}, /* to drop more
									     * privileges */
	{"process_vm_readv", READ | NURSE}, /* readers are under both filters */
	/* worker threads and their priority */
	{"sched_setscheduler sched_getscheduler sched_setattr sched_getattr sched_getparam", ALL},
	{"getpriority setpriority ioprio_set ioprio_get", ALL},
	/* the archive and the symbol cache */
	{"fallocate", FILES}, /* reserves space for unpacked files */
	{"fdatasync fsync sync_file_range sendfile copy_file_range splice", REC},
	{"ftruncate", FILES}, /* a reader may answer with a file */
	{"rename renameat renameat2 unlink unlinkat link linkat mkdir mkdirat", FILES},
	{"fchmod fchmodat fchown umask utimensat", FILES},
	{"socketpair", REC}, /* to reader processes */
	{"ioctl bpf", REC | ATT},
	{"perf_event_open", ATT}, /* uprobes before Linux 6.6 */
	{"kill pidfd_open pidfd_send_signal wait4 waitid", REC | NURSE},
	{"fork vfork clone3", NURSE},
};

/* Dangerous calls: EPERM, so that a failure is not mistaken for a missing system call. */
static const char *const refused =
	"execve execveat ptrace process_vm_readv process_vm_writev process_madvise kcmp "
	"pidfd_getfd "
	"init_module finit_module delete_module kexec_load kexec_file_load reboot "
	"mount umount2 umount pivot_root chroot move_mount open_tree fsopen fsconfig fsmount "
	"fspick "
	"mount_setattr swapon swapoff quotactl acct setns unshare "
	"setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid "
	"socket socketpair bind connect listen accept accept4 "
	"chmod chown lchown fchownat mknod mknodat symlink symlinkat setxattr lsetxattr fsetxattr "
	"add_key request_key keyctl userfaultfd io_uring_setup io_uring_enter io_uring_register "
	"open_by_handle_at name_to_handle_at iopl ioperm modify_ldt personality syslog "
	"settimeofday "
	"clock_settime adjtimex clock_adjtime sethostname setdomainname "
	"kill tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal "
	"bpf perf_event_open fork vfork";

/* Calls fn for each number of those names that exist on this processor. */
static int each(scmp_filter_ctx f, const char *names, int (*fn)(scmp_filter_ctx f, int nr))
{
	char name[32];
	int err = 0;

	while (!err && *names) {
		size_t len = 0;
		int nr;

		while (names[len] && names[len] != ' ' && len < sizeof(name) - 1) {
			name[len] = names[len];
			len++;
		}
		name[len] = 0;
		names += len;
		while (*names == ' ')
			names++;
		nr = seccomp_syscall_resolve_name(name);
		if (nr >= 0)
			err = fn(f, nr);
	}
	return err;
}

static int allow(scmp_filter_ctx f, int nr)
{
	return seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 0);
}

/* Refuses a call unless the role's list allows it. */
static int refuse(scmp_filter_ctx f, int nr)
{
	int err = seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), nr, 0);

	return err == -EEXIST ? 0 : err;
}

/* Allows threads only, except in the nursery. clone3 passes its flags in memory, which a filter
 * cannot read; without clone3 libc uses clone. */
static int allow_threads(scmp_filter_ctx f, enum seccomp_role role)
{
	int nr = SCMP_SYS(clone), err;

	if (role == SECCOMP_NURSERY)
		return allow(f, nr);
	/* The flags are the first argument on all supported processors. */
	err = seccomp_rule_add(f, SCMP_ACT_ALLOW, nr, 1,
			       SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	return err ? err
		   : seccomp_rule_add(f, SCMP_ACT_ERRNO(EPERM), nr, 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

static int fill(scmp_filter_ctx f, enum seccomp_role role)
{
	int err = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));

	err = err ? err : seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	err = err ? err : seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree, not a
									     * list */
	err = err ? err : allow_threads(f, role);
	for (size_t i = 0; !err && i < sizeof(allowed) / sizeof(*allowed); i++)
		if (allowed[i].roles & role)
			err = each(f, allowed[i].names, allow);
	return err ? err : each(f, refused, refuse);
}

int seccomp_restrict(enum seccomp_role role)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = f ? fill(f, role) : -ENOMEM;

	if (!err)
		err = seccomp_load(f);
	seccomp_release(f);
	return err;
}
