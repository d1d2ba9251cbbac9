/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large numbers of connections, each with PING of Redis and its response:
 *
 *   crowd churn N      N connections with one request, one after the other
 *   crowd hold N       N concurrent ones with three requests, open until a second byte on stdin
 *   crowd share N      N pairs of Unix sockets; two processes send one request each, the first
 *                      receives both responses; open until a second byte
 *
 * One process cannot have that many descriptors, so each 15,000 connections have their own server
 * and client. The servers exist from the start; the clients are children of this process, started
 * by the first byte on stdin. Either side can be recorded alone. Prints "SERVER[,SERVER...]", and
 * "done" after all responses.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

enum { PER_ADDRESS = 10000, PER_PAIR = 15000, PAIRS = 32 };

/* One server and its client. */
struct pair {
	struct sockaddr_in address;
	int listener, cnt;
	pid_t server, client;
};

static const char request[] = "*1\r\n$4\r\nPING\r\n", response[] = "+PONG\r\n";
static char bytes[64];
static bool hold;
static int rounds;
static int answered[2]; /* pipe: one byte per finished server */

static void wait_byte(void)
{
	NEED(read(STDIN_FILENO, bytes, 1) == 1);
}

static void listen_at(struct pair *p)
{
	socklen_t sz = sizeof(p->address);

	p->address.sin_family = AF_INET;
	p->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	p->listener = socket(AF_INET, SOCK_STREAM, 0);
	NEED(p->listener >= 0 && !bind(p->listener, (void *)&p->address, sz));
	NEED(!listen(p->listener, 4096) && !getsockname(p->listener, (void *)&p->address, &sz));
}

/* One address does not have enough ports, because closed connections stay in TIME_WAIT. */
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
	return fd;
}

static void give(int fd, const char *text)
{
	ssize_t sz = strlen(text);

	NEED(send(fd, text, sz, 0) == sz);
}

static void take(int fd, const char *text)
{
	ssize_t sz = strlen(text);

	NEED(recv(fd, bytes, sz, MSG_WAITALL) == sz && !memcmp(bytes, text, sz));
}

static void ask(const struct pair *p)
{
	for (int i = 0; i < p->cnt; i++) {
		int fd = call(&p->address, i);

		for (int round = 0; round < rounds; round++) {
			give(fd, request);
			take(fd, response);
		}
		if (!hold)
			close(fd);
	}
	if (hold)
		pause();
}

static void answer(const struct pair *p)
{
	for (int i = 0; i < p->cnt; i++) {
		int fd = accept(p->listener, NULL, NULL);

		NEED(fd >= 0);
		for (int round = 0; round < rounds; round++) {
			take(fd, request);
			give(fd, response);
		}
		if (!hold)
			close(fd);
	}
	NEED(write(answered[1], bytes, 1) == 1);
	if (hold)
		pause();
}

static pid_t spawn(void (*body)(const struct pair *p), const struct pair *p)
{
	pid_t pid = fork();

	NEED(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	body(p);
	_exit(0);
}

static void end(pid_t pid)
{
	if (hold)
		kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void share(int cnt)
{
	int (*pairs)[2] = calloc(cnt, sizeof(*pairs));
	pid_t child;

	NEED(pairs);
	printf("%d\n", getpid());
	wait_byte();
	for (int i = 0; i < cnt; i++) {
		NEED(!socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]));
		give(pairs[i][0], request);
		take(pairs[i][1], request);
	}
	child = fork();
	NEED(child >= 0);
	for (int i = 0; i < cnt && !child; i++)
		give(pairs[i][0], request);
	if (!child)
		_exit(0);
	for (int i = 0; i < cnt; i++)
		take(pairs[i][1], request);
	NEED(waitpid(child, NULL, 0) == child);
	printf("done\n");
	wait_byte();
	free(pairs);
}

int main(int argc, char **argv)
{
	int left = argc == 3 ? atoi(argv[2]) : 0, cnt = 0;
	struct pair pairs[PAIRS] = {0};
	struct rlimit files;

	if (left < 1)
		return 2;
	hold = !strcmp(argv[1], "hold");
	rounds = hold ? 3 : 1;
	NEED(!getrlimit(RLIMIT_NOFILE, &files) && !pipe(answered));
	files.rlim_cur = files.rlim_max;
	NEED(!setrlimit(RLIMIT_NOFILE, &files));
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[1], "share")) {
		share(left);
		return 0;
	}
	for (; left > 0 && cnt < PAIRS; left -= pairs[cnt++].cnt) {
		pairs[cnt].cnt = hold && left > PER_PAIR ? PER_PAIR : left;
		listen_at(&pairs[cnt]);
		pairs[cnt].server = spawn(answer, &pairs[cnt]);
	}
	for (int i = 0; i < cnt; i++)
		printf("%d%c", pairs[i].server, i + 1 < cnt ? ',' : '\n');
	wait_byte();
	for (int i = 0; i < cnt; i++)
		pairs[i].client = spawn(ask, &pairs[i]);
	for (int i = 0; i < cnt; i++)
		NEED(read(answered[0], bytes, 1) == 1);
	printf("done\n");
	if (hold)
		wait_byte();
	/* Clients close first, so that the server sees the end. */
	for (int i = 0; i < cnt; i++)
		end(pairs[i].client);
	for (int i = 0; i < cnt; i++)
		end(pairs[i].server);
	return 0;
}
