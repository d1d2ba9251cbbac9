/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections in masses, each with one request of 10 bytes and one answer of 20:
 *
 *   crowd churn N      N short ones, one after the other, from many addresses of 127/8
 *   crowd hold N       N at once, all open until a byte comes on stdin
 *
 * The server is this process, so that it can be recorded alone; the client a child. Waits for a
 * byte on stdin first. Prints "PORT N" at first, and "done" when all were answered.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

enum { REQUEST = 10, ANSWER = 20, PER_ADDRESS = 10000 };

static char bytes[64];

static void wait_byte(void)
{
	NEED(read(STDIN_FILENO, bytes, 1) == 1);
}

/* Ports of one address do not suffice: the bytes of a closed connection rest in TIME_WAIT. */
static int call(const struct sockaddr_in *to, int number)
{
	struct sockaddr_in from = {.sin_family = AF_INET,
				   .sin_addr.s_addr =
					   htonl(INADDR_LOOPBACK + 256 + number / PER_ADDRESS)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	NEED(fd >= 0);
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	NEED(!bind(fd, (void *)&from, sizeof(from)));
	NEED(!connect(fd, (const void *)to, sizeof(*to)));
	NEED(send(fd, bytes, REQUEST, 0) == REQUEST);
	return fd;
}

static void ask(const struct sockaddr_in *to, int cnt, int hold)
{
	int *fds = calloc(cnt, sizeof(*fds));

	NEED(fds);
	for (int i = 0; i < cnt; i++) {
		fds[i] = call(to, i);
		NEED(recv(fds[i], bytes, ANSWER, MSG_WAITALL) == ANSWER);
		if (!hold)
			close(fds[i]);
	}
	free(fds);
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0), cnt = argc == 3 ? atoi(argv[2]) : 0;
	int hold = argc > 1 && !strcmp(argv[1], "hold"), *fds = calloc(cnt + 1, sizeof(*fds));
	struct rlimit files;
	socklen_t sz = sizeof(a);
	pid_t client;

	if (cnt < 1)
		return 2;
	NEED(!getrlimit(RLIMIT_NOFILE, &files));
	files.rlim_cur = files.rlim_max;
	NEED(!setrlimit(RLIMIT_NOFILE, &files));
	NEED(fds && !bind(fd, (void *)&a, sz) && !listen(fd, 4096));
	NEED(!getsockname(fd, (void *)&a, &sz));
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("%d %d\n", ntohs(a.sin_port), cnt);
	wait_byte();
	client = fork();
	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ask(&a, cnt, hold);
		if (hold)
			pause();
		_exit(0);
	}
	for (int i = 0; i < cnt; i++) {
		fds[i] = accept(fd, NULL, NULL);
		NEED(fds[i] >= 0 && recv(fds[i], bytes, sizeof(bytes), 0) == REQUEST);
		NEED(send(fds[i], bytes, ANSWER, 0) == ANSWER);
		if (!hold)
			close(fds[i]);
	}
	printf("done\n");
	if (hold) {
		wait_byte();
		kill(client, SIGKILL);
	}
	waitpid(client, NULL, 0);
	return 0;
}
