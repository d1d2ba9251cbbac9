/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/host/privilege.h"
#include "record/host/procfs.h"
#include "record/reader/reader_process.h"
#include "record/host/seccomp.h"

/* A section header can claim any size, and libelf allocates it. */
#define MEMORY_MAX_SZ (4ULL << 30)

struct nursery {
	pid_t pid;
	int socket;
	pthread_mutex_t lock; /* for a request and its answer */
};

/* ---- in the nursery ---- */

/* Requests SIGKILL when the parent exits; checks whether it has exited already. */
static void end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

/* Ctrl-C is sent to the terminal's whole process group; only obrec handles it. */
static void ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
	sigset_t none;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN); /* SIGCHLD: children become no zombies */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* An abandoned reader must not keep pipes open whose end others wait for. */
static void close_all_but(int keep1, int keep2)
{
	int low = keep1 < keep2 ? keep1 : keep2, high = keep1 < keep2 ? keep2 : keep1;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != low && fd != high)
			dup2(null, fd);
	syscall(SYS_close_range, 3, low - 1, 0);
	if (high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0U, 0);
}

/* Continues if the filter cannot be installed; obrec reports that for itself. */
static void restrict_to(enum seccomp_role role)
{
#ifndef __SANITIZE_ADDRESS__
	seccomp_restrict(role);
#endif
}

static void become_reader(int socket, int control, int proc, pid_t parent)
{
	close(control);
	end_with(parent);
	prctl(PR_SET_NAME, "obrec-reader");
	restrict_to(SECCOMP_READER);
	reader_serve(socket, proc);
	_exit(0);
}

/* Each message has the socket of a new reader; the answer is its pid. */
static void tend(int control, int proc)
{
	pid_t self = getpid(), pid;
	struct parcel m;

	while (!parcel_receive(&m, control, 0)) {
		int socket = parcel_take_fd(&m, 0);

		parcel_fini(&m);
		pid = fork();
		if (!pid)
			become_reader(socket, control, proc, self);
		m.rc = pid < 0 ? -errno : pid;
		close(socket);
		if (parcel_send(&m, control))
			break;
	}
}

static void be_nursery(int control, const char *proc_root, pid_t parent)
{
	struct rlimit none = {0, 0}, memory = {MEMORY_MAX_SZ, MEMORY_MAX_SZ};
	int proc = procfs_open(proc_root);

	prctl(PR_SET_NAME, "obrec-nursery");
	ignore_signals();
	setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) /* AddressSanitizer reserves terabytes */
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	if (proc >= 0)
		close_all_but(control, proc);
	privilege_drop_reader();
	restrict_to(SECCOMP_NURSERY);
	end_with(parent);
	if (proc >= 0)
		tend(control, proc);
	_exit(0);
}

/* ---- in obrec ---- */

int nursery__new(struct nursery **out, const char *proc_root)
{
	struct nursery *n = calloc(1, sizeof(*n));
	pid_t self = getpid();
	int pair[2];

	if (!n)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(n);
		return -errno;
	}
	n->pid = fork();
	if (!n->pid)
		be_nursery(pair[1], proc_root, self);
	close(pair[1]);
	if (n->pid < 0) {
		int err = -errno;

		close(pair[0]);
		free(n);
		return err;
	}
	n->socket = pair[0];
	pthread_mutex_init(&n->lock, NULL);
	*out = n;
	return 0;
}

void nursery__free(struct nursery *n)
{
	if (!n)
		return;
	close(n->socket);
	kill(n->pid, SIGKILL);
	waitpid(n->pid, NULL, 0); /* it never blocks in the kernel */
	pthread_mutex_destroy(&n->lock);
	free(n);
}

pid_t nursery__pid(const struct nursery *n)
{
	return n->pid;
}

/* Returns the pid or a negative errno. Takes ownership of `socket`. */
static int fork_reader(struct nursery *n, int socket)
{
	struct parcel m;
	int err;

	parcel_init(&m, 0);
	parcel_put_fd(&m, 0, socket);
	pthread_mutex_lock(&n->lock);
	err = parcel_send(&m, n->socket);
	parcel_fini(&m);
	if (!err)
		err = parcel_receive(&m, n->socket, 0);
	pthread_mutex_unlock(&n->lock);
	if (err)
		return err;
	err = m.rc;
	parcel_fini(&m);
	return err;
}

int reader_start(struct reader *r, struct nursery *n)
{
	int pair[2], pid;

	*r = (struct reader){.socket = -1, .pidfd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork_reader(n, pair[1]);
	if (pid > 0)
		r->pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (pid <= 0 || r->pidfd < 0) {
		close(pair[0]);
		return pid < 0 ? pid : -ESRCH;
	}
	r->pid = pid;
	r->socket = pair[0];
	return 0;
}
