/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/host/child.h"

void child_end_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
}

void child_ignore_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD};
	sigset_t none;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void close_between(int first, int last)
{
	if (first <= last)
		syscall(SYS_close_range, first, last, 0);
}

void child_close_all_but(int keep1, int keep2)
{
	int low = keep1 < keep2 ? keep1 : keep2, high = keep1 < keep2 ? keep2 : keep1;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != low && fd != high)
			dup2(null, fd);
	close_between(3, low - 1);
	close_between(low < 3 ? 3 : low + 1, high - 1);
	syscall(SYS_close_range, high < 3 ? 3 : high + 1, ~0U, 0);
}

int child_wait(pid_t pid, int ms)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	if (pidfd >= 0) {
		poll(&p, 1, ms);
		close(pidfd);
	}
	return waitpid(pid, NULL, WNOHANG) == pid || kill(pid, 0) ? 0 : -ETIMEDOUT;
}
