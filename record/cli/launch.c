/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/cli/launch.h"

enum { TERM_GRACE_MS = 5000, POLL_MS = 20, PAUSE_NS = 200000 };

static void child(char **argv, int start_fd, int error_fd)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	char go;
	int err;

	/* obrec exited before the start: do not run COMMAND. */
	if (read(start_fd, &go, 1) != 1)
		_exit(127);
	/* When woken, it may have preempted obrec, which would then run at the next tick: a
	 * thousand allocations later. */
	nanosleep(&pause, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(err == ENOENT ? 127 : 126);
}

int command_prepare(struct command_child *c, char **argv)
{
	int start[2], error[2];

	*c = (struct command_child){.start_fd = -1, .error_fd = -1};
	if (pipe2(start, O_CLOEXEC))
		return -errno;
	if (pipe2(error, O_CLOEXEC)) {
		int err = -errno;

		close(start[0]);
		close(start[1]);
		return err;
	}
	c->pid = fork();
	if (!c->pid) {
		close(start[1]);
		close(error[0]);
		child(argv, start[0], error[1]);
	}
	close(start[0]);
	close(error[1]);
	c->start_fd = start[1];
	c->error_fd = error[0];
	if (c->pid < 0) {
		c->pid = 0;
		return -errno;
	}
	return 0;
}

int command_go(struct command_child *c)
{
	int err = 0;

	if (write(c->start_fd, "", 1) != 1)
		err = errno;
	close(c->start_fd);
	c->start_fd = -1;
	/* Returns when exec closes the other end, or with the errno of exec. */
	while (!err && read(c->error_fd, &err, sizeof(err)) < 0)
		err = errno == EINTR ? 0 : errno;
	close(c->error_fd);
	c->error_fd = -1;
	return -err;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_finish(struct command_child *c)
{
	int status = 0, waited = 0;

	if (!c->pid)
		return 0;
	if (c->start_fd >= 0)
		close(c->start_fd);
	if (c->error_fd >= 0)
		close(c->error_fd);
	if (waitpid(c->pid, &status, WNOHANG) == c->pid)
		return shell_status(status);
	kill(c->pid, SIGTERM);
	while (!waitpid(c->pid, &status, WNOHANG)) {
		struct timespec ts = {.tv_nsec = POLL_MS * 1000000L};

		nanosleep(&ts, NULL);
		waited += POLL_MS;
		if (waited >= TERM_GRACE_MS)
			kill(c->pid, SIGKILL);
	}
	c->pid = 0;
	return 0;
}
