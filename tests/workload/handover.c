/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP connections that pass between processes. Prints a line for each connection at its server:
 *
 *   PID,CLIENT_PORT,SENDS,SENT,RECEIVES,RECEIVED,REQUESTS,HOST
 *
 * PID: the process that reads and responds. HOST is the way the connection got there: `prefork`:
 * several processes accept from one listener; `inherited`: the parent accepts, a child forked
 * afterwards responds; `passed`: sent to another process through a Unix socket; `duplicated`: read
 * on one descriptor, answered on another; `shared`: read by one process, answered by another, one
 * line each; `reused`: the same descriptor number for hundreds of connections, one after the other.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

enum { REQUESTS = 3 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

static int listen_on(struct sockaddr_in *a)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t sz = sizeof(*a);

	*a = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	NEED(fd >= 0 && !bind(fd, (void *)a, sz) && !listen(fd, 128));
	NEED(!getsockname(fd, (void *)a, &sz));
	return fd;
}

static void ask_once(const struct sockaddr_in *to, const char *way, int number)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char request[128], got[256];
	size_t sz = snprintf(request, sizeof(request),
			     "GET /path HTTP/1.1\r\nHost: %s-%d.example\r\n\r\n", way, number);

	NEED(!connect(fd, (const void *)to, sizeof(*to)));
	for (int i = 0; i < REQUESTS; i++) {
		NEED(send(fd, request, sz, 0) == (ssize_t)sz);
		NEED(recv(fd, got, sizeof(got), 0) == sizeof(answer) - 1);
	}
	close(fd);
}

/* Starts a client process that uses `cnt` connections, one after the other. */
static pid_t ask(const struct sockaddr_in *to, const char *way, int cnt)
{
	pid_t pid = fork();

	NEED(pid >= 0);
	if (pid)
		return pid;
	for (int i = 0; i < cnt; i++)
		ask_once(to, way, i);
	_exit(0);
}

/* Answers until the client closes; reads on `in` and writes on `out`. */
static void answer_all(int in, int out)
{
	struct sockaddr_in peer;
	socklen_t sz = sizeof(peer);
	unsigned long sent = 0, received = 0;
	char got[256], host[64] = "", line[256];
	int cnt = 0;
	ssize_t n;

	NEED(!getpeername(in, (void *)&peer, &sz));
	while ((n = read(in, got, sizeof(got) - 1)) > 0) {
		got[n] = 0;
		NEED(sscanf(strstr(got, "Host: "), "Host: %63s", host) == 1);
		NEED(write(out, answer, sizeof(answer) - 1) == sizeof(answer) - 1);
		received += n;
		sent += sizeof(answer) - 1;
		cnt++;
	}
	n = snprintf(line, sizeof(line), "%d,%d,%d,%lu,%d,%lu,%d,%s\n", getpid(),
		     ntohs(peer.sin_port), cnt, sent, cnt, received, cnt, host);
	NEED(write(STDOUT_FILENO, line, n) == n);
}

static int take(int listener)
{
	int fd = accept(listener, NULL, NULL);

	NEED(fd >= 0);
	return fd;
}

static void serve(int fd)
{
	answer_all(fd, fd);
	close(fd);
}

static void all_ended(void)
{
	int status;

	while (wait(&status) > 0)
		NEED(!status);
}

static void prefork(void)
{
	struct sockaddr_in a;
	int listener = listen_on(&a);

	for (int child = 0; child < 3; child++) {
		if (fork())
			continue;
		for (int i = 0; i < 10; i++)
			serve(take(listener));
		_exit(0);
	}
	ask(&a, "prefork", 30);
	all_ended();
	close(listener);
}

static void inherited(void)
{
	struct sockaddr_in a;
	int listener = listen_on(&a);

	ask(&a, "inherited", 15);
	for (int i = 0; i < 15; i++) {
		int fd = take(listener);

		if (!fork()) {
			serve(fd);
			_exit(0);
		}
		close(fd);
	}
	all_ended();
	close(listener);
}

/* Sends descriptor `fd`, or receives one when fd < 0. */
static int hand(int channel, int fd)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte = 'x';
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (fd < 0) {
		NEED(recvmsg(channel, &m, 0) == 1);
	} else {
		*c = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				      .cmsg_len = CMSG_LEN(sizeof(int))};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		NEED(sendmsg(channel, &m, 0) == 1);
	}
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static void passed(void)
{
	struct sockaddr_in a;
	int channel[2], listener;

	NEED(!socketpair(AF_UNIX, SOCK_STREAM, 0, channel));
	if (!fork()) {
		for (int i = 0; i < 20; i++)
			serve(hand(channel[1], -1));
		_exit(0);
	}
	listener = listen_on(&a);
	ask(&a, "passed", 20);
	for (int i = 0; i < 20; i++) {
		int fd = take(listener);

		hand(channel[0], fd);
		close(fd);
	}
	all_ended();
	close(channel[0]), close(channel[1]), close(listener);
}

static void duplicated(void)
{
	struct sockaddr_in a;
	int listener = listen_on(&a);

	ask(&a, "duplicated", 10);
	for (int i = 0; i < 10; i++) {
		int fd = take(listener), other = dup(fd);

		answer_all(fd, other);
		close(fd), close(other);
	}
	all_ended();
	close(listener);
}

static void say_half(const struct sockaddr_in *peer, unsigned long sent, unsigned long received,
		     const char *host)
{
	printf("%d,%d,%d,%lu,%d,%lu,%d,%s\n", getpid(), ntohs(peer->sin_port),
	       sent ? REQUESTS : 0, sent, received ? REQUESTS : 0, received, *host ? REQUESTS : 0,
	       host);
	fflush(stdout);
}

/* A child responds to requests that its parent has read. */
static void serve_halves(int fd)
{
	int turn[2];
	char got[256], host[64] = "";
	struct sockaddr_in peer;
	socklen_t sz = sizeof(peer);
	unsigned long received = 0;

	NEED(!pipe(turn) && !getpeername(fd, (void *)&peer, &sz));
	fflush(stdout);
	if (!fork()) {
		for (int i = 0; i < REQUESTS; i++) {
			NEED(read(turn[0], got, 1) == 1);
			NEED(write(fd, answer, sizeof(answer) - 1) == sizeof(answer) - 1);
		}
		say_half(&peer, REQUESTS * (sizeof(answer) - 1), 0, "");
		_exit(0);
	}
	for (int i = 0; i < REQUESTS; i++) {
		ssize_t n = read(fd, got, sizeof(got) - 1);

		NEED(n > 0);
		got[n] = 0;
		NEED(sscanf(strstr(got, "Host: "), "Host: %63s", host) == 1);
		received += n;
		NEED(write(turn[1], got, 1) == 1);
	}
	say_half(&peer, 0, received, host);
	close(fd), close(turn[0]), close(turn[1]);
}

static void shared(void)
{
	struct sockaddr_in a;
	int listener = listen_on(&a);

	ask(&a, "shared", 10);
	for (int i = 0; i < 10; i++)
		serve_halves(take(listener));
	all_ended();
	close(listener);
}

static void reused(void)
{
	struct sockaddr_in a;
	int listener = listen_on(&a), number = 0;

	ask(&a, "reused", 500);
	for (int i = 0; i < 500; i++) {
		int fd = take(listener);

		NEED(!number || fd == number);
		number = fd;
		serve(fd);
	}
	all_ended();
	close(listener);
}

int main(void)
{
	prefork();
	inherited();
	passed();
	duplicated();
	shared();
	reused();
	return 0;
}
