/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/host/child.h"
#include "record/host/privilege.h"
#include "record/host/procfs.h"
#include "record/reader/reader_process.h"
#include "record/host/seccomp.h"

/* A section header can claim any size, and libelf allocates it. */
#define MEMORY_MAX_SZ (4ULL << 30)

/* A fork can block in the kernel: see uprobes.h. */
enum { FORK_MS = 300, END_MS = 300 };

struct nursery {
	pid_t pid;
	int socket;
	pthread_mutex_t lock; /* for a request and its answer */
	unsigned pending;     /* requests without an answer */
};

/* ---- in the nursery ---- */

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
	child_end_with(parent);
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
	child_ignore_signals();
	setrlimit(RLIMIT_CORE, &none);
#if !defined(__SANITIZE_ADDRESS__) /* AddressSanitizer reserves terabytes */
	setrlimit(RLIMIT_AS, &memory);
#else
	(void)memory;
#endif
	if (proc >= 0)
		child_close_all_but(control, proc);
	privilege_drop_reader();
	restrict_to(SECCOMP_NURSERY);
	child_end_with(parent);
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
	child_wait(n->pid, END_MS);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

pid_t nursery__pid(const struct nursery *n)
{
	return n->pid;
}

/* Receives the next answer: the pid of a reader, or a negative errno. -ETIMEDOUT: none yet. */
static int next_answer(struct nursery *n, int wait_ms)
{
	struct pollfd p = {.fd = n->socket, .events = POLLIN};
	struct parcel m;
	int err;

	while (poll(&p, 1, wait_ms) < 0)
		; /* a signal: the caller handles it */
	if (!p.revents)
		return -ETIMEDOUT;
	n->pending--;
	err = parcel_receive(&m, n->socket, MSG_DONTWAIT);
	if (err)
		return err;
	err = m.rc;
	parcel_fini(&m);
	return err;
}

/* Readers of which an answer came too late have ended: their sockets are closed. */
static bool is_behind(struct nursery *n)
{
	while (n->pending && next_answer(n, 0) != -ETIMEDOUT)
		;
	return n->pending;
}

/* Returns the pid or a negative errno. Takes ownership of `socket`. */
static int fork_reader(struct nursery *n, int socket)
{
	struct parcel m;
	int err = -EAGAIN;

	parcel_init(&m, 0);
	parcel_put_fd(&m, 0, socket);
	pthread_mutex_lock(&n->lock);
	if (!is_behind(n))
		err = parcel_send(&m, n->socket);
	if (!err) {
		n->pending++;
		err = next_answer(n, FORK_MS);
	}
	pthread_mutex_unlock(&n->lock);
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
