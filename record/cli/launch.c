/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/cli/launch.h"

/*
 * START_NS: if obrec woke the child itself, the child could preempt it, and obrec would run at the
 * next tick: a thousand allocations of COMMAND later. Until the timer expires, obrec gets to where
 * it waits.
 */
enum { TERM_GRACE_MS = 5000, POLL_MS = 20, START_NS = 200000 };

static void child(char **argv, int start_fd, int timer_fd, int error_fd)
{
	struct pollfd fd[] = {{.fd = timer_fd, .events = POLLIN}, {.fd = start_fd}};
	int err;

	while (poll(fd, 2, -1) < 0 && errno == EINTR)
		;
	/* obrec exited before the start: do not run COMMAND. */
	if (!(fd[0].revents & POLLIN))
		_exit(127);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	err = errno;
	if (write(error_fd, &err, sizeof(err)) < 0)
		_exit(127);
	_exit(err == ENOENT ? 127 : 126);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int command_prepare(struct command_child *c, char **argv)
{
	int start[2], error[2];

	*c = (struct command_child){.start_fd = -1, .timer_fd = -1, .error_fd = -1};
	if (pipe2(start, O_CLOEXEC))
		return -errno;
	c->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (c->timer_fd < 0 || pipe2(error, O_CLOEXEC)) {
		int err = -errno;

		close_fd(&c->timer_fd);
		close(start[0]);
		close(start[1]);
		return err;
	}
	c->pid = fork();
	if (!c->pid) {
		close(start[1]);
		close(error[0]);
		child(argv, start[0], c->timer_fd, error[1]);
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
	const struct itimerspec start = {.it_value.tv_nsec = START_NS};
	int err = timerfd_settime(c->timer_fd, 0, &start, NULL) ? errno : 0;

	/* Returns when exec closes the other end, or with the errno of exec. */
	while (!err && read(c->error_fd, &err, sizeof(err)) < 0)
		err = errno == EINTR ? 0 : errno;
	close_fd(&c->start_fd);
	close_fd(&c->timer_fd);
	close_fd(&c->error_fd);
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
	close_fd(&c->start_fd);
	close_fd(&c->timer_fd);
	close_fd(&c->error_fd);
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
