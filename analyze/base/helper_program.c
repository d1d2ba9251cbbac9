/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/helper_program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

pid_t helper_start(char *const argv[], int *fd)
{
	posix_spawn_file_actions_t actions;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ)) {
		close(fds[0]);
		pid = -1;
	}
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	*fd = fds[0];
	return pid;
}

bool helper_end(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return status == 0;
}
