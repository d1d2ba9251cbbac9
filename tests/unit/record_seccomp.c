/* SPDX-License-Identifier: BSD-2-Clause */
/* What each role may do and what it may not, in processes of their own; nothing is killed. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/host/seccomp.h"
#include "check.h"

static const char *const role_names[] = {[SECCOMP_RECORDER] = "recorder",
					 [SECCOMP_ATTACHER] = "attacher",
					 [SECCOMP_READER] = "reader",
					 [SECCOMP_NURSERY] = "nursery"};
enum { EVERY = SECCOMP_RECORDER | SECCOMP_ATTACHER | SECCOMP_READER | SECCOMP_NURSERY };

static long call_bpf(void)
{
	return syscall(SYS_bpf, -1, NULL, 0); /* EINVAL where it is let through */
}

static long call_perf(void)
{
	return syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0);
}

static long call_kill(void)
{
	return kill(getpid(), 0);
}

static long call_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 ? -1 : waitpid(pid, &status, 0) == pid ? status : -1;
}

static long call_exec(void)
{
	return execl("/nowhere", "nowhere", NULL);
}

static long call_ptrace(void)
{
	return ptrace(PTRACE_TRACEME, 0, 0, 0);
}

static long call_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long call_setuid(void)
{
	return syscall(SYS_setuid, getuid());
}

static long call_mount(void)
{
	return syscall(SYS_mount, NULL, NULL, NULL, 0, NULL);
}

static long call_rename(void)
{
	return renameat(AT_FDCWD, "/nowhere/a", AT_FDCWD, "/nowhere/b");
}

static long call_module(void)
{
	return syscall(SYS_init_module, NULL, 0, "");
}

static long call_readv(void)
{
	char from[4] = "abc", to[4] = "";
	struct iovec local = {to, 4}, remote = {from, 4};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 ? -1 : strcmp(to, from);
}

static long call_new(void)
{
	return syscall(100000); /* of a later kernel */
}

/* `roles` have it, with the same result as before; the others are refused. */
static const struct {
	const char *name;
	long (*call)(void);
	unsigned roles;
	int refused;
} calls[] = {
	{"bpf", call_bpf, SECCOMP_RECORDER | SECCOMP_ATTACHER, EPERM},
	{"perf_event_open", call_perf, SECCOMP_ATTACHER, EPERM},
	{"process_vm_readv", call_readv, SECCOMP_READER | SECCOMP_NURSERY, EPERM},
	{"kill", call_kill, SECCOMP_RECORDER | SECCOMP_NURSERY, EPERM},
	{"fork", call_fork, SECCOMP_NURSERY, EPERM},
	{"execve", call_exec, 0, EPERM},
	{"ptrace", call_ptrace, 0, EPERM},
	{"socket", call_socket, 0, EPERM},
	{"setuid", call_setuid, 0, EPERM},
	{"mount", call_mount, 0, EPERM},
	{"init_module", call_module, 0, EPERM},
	{"renameat", call_rename, EVERY & ~SECCOMP_ATTACHER, ENOSYS},
	{"a new one", call_new, 0, ENOSYS},
};

static bool restricted(const char *task)
{
	char path[64], line[128];
	bool filter = false, no_new_privs = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		filter |= !strcmp(line, "Seccomp:\t2\n");
		no_new_privs |= !strcmp(line, "NoNewPrivs:\t1\n");
	}
	if (f)
		fclose(f);
	return filter && no_new_privs;
}

struct thread {
	pthread_barrier_t before, after;
	bool restricted, refused;
};

/* One that was there before. */
static void *thread_main(void *arg)
{
	struct thread *t = arg;
	char tid[16];

	pthread_barrier_wait(&t->before);
	pthread_barrier_wait(&t->after);
	snprintf(tid, sizeof(tid), "%d", (int)gettid());
	t->restricted = restricted(tid);
	t->refused = call_socket() == -1 && errno == EPERM;
	return NULL;
}

static void *no_op(void *arg)
{
	return arg;
}

static void check_reading(const char *role)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	char to[4];
	void *p;

	CHECK(fd >= 0 && !fstat(fd, &st) && read(fd, to, 4) == 4, "%s: %s", role, strerror(errno));
	p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(p != MAP_FAILED && !munmap(p, 4096), "%s: mmap", role);
	close(fd);
}

static void run(enum seccomp_role role)
{
	enum { CNT = sizeof(calls) / sizeof(*calls) };
	const char *name = role_names[role];
	struct thread t = {0};
	int before[CNT] = {0};
	pthread_t old, later;
	char tid[16];

	for (size_t i = 0; i < CNT; i++)
		if ((calls[i].roles & role) && calls[i].call() < 0)
			before[i] = errno;
	pthread_barrier_init(&t.before, NULL, 2);
	pthread_barrier_init(&t.after, NULL, 2);
	CHECK(!pthread_create(&old, NULL, thread_main, &t), "thread");
	pthread_barrier_wait(&t.before);
	CHECK(!seccomp_restrict(role), "%s", name);
	pthread_barrier_wait(&t.after);
	pthread_join(old, NULL);
	CHECK(t.restricted && t.refused, "%s: a thread from before", name);
	snprintf(tid, sizeof(tid), "%d", (int)gettid());
	CHECK(restricted(tid), "%s: itself", name);
	CHECK(!pthread_create(&later, NULL, no_op, NULL) && !pthread_join(later, NULL),
	      "%s: a new thread", name);
	if (role != SECCOMP_ATTACHER)
		check_reading(name);
	for (size_t i = 0; i < CNT; i++) {
		int want = calls[i].roles & role ? before[i] : calls[i].refused;
		long rc = calls[i].call();

		CHECK(rc < 0 ? errno == want : !want, "%s: %s: %ld, %s, not %s", name,
		      calls[i].name, rc, strerror(errno), strerror(want));
	}
}

/* The reader that a nursery forks restricts itself further. */
static void run_child_of_nursery(void)
{
	int status;
	pid_t pid;

	CHECK(!seccomp_restrict(SECCOMP_NURSERY), "nursery");
	pid = fork();
	if (!pid) {
		CHECK(!seccomp_restrict(SECCOMP_READER), "its child");
		check_reading("child of the nursery");
		CHECK(!call_readv(), "child of the nursery: %s", strerror(errno));
		CHECK(call_kill() == -1 && errno == EPERM, "child of the nursery: kill");
		CHECK(fork() == -1 && errno == EPERM, "child of the nursery: fork");
		_exit(failed);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "child of the nursery");
}

int main(void)
{
	int status;

	for (unsigned role = 1; role <= EVERY + 1; role <<= 1) {
		pid_t pid = fork();

		if (!pid) { /* _exit: a leak checker would trace it */
			if (role & EVERY)
				run(role);
			else
				run_child_of_nursery();
			_exit(failed);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "role %u: %x", role,
		      status);
	}
	return failed;
}
