/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1.1 at full speed, with distinguishable responses:
 *
 *   storm SECONDS CONNECTIONS DEPTH
 *
 * Request n has "Host: n.example"; its response has status 200 + n % 97. DEPTH requests are in
 * flight per connection, each in its own call. Waits for a byte on stdin; then prints the number of
 * answered requests, and the bytes the client sent and received:
 * REQUESTS SENT RECEIVED
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "need.h"

enum { CONNECTIONS = 64, MODULUS = 97 };

/*
 * Reads one request or response, which ends with an empty line; all responses have the same size.
 */
static size_t take(int fd, char *buf, size_t sz)
{
	size_t have = 0;

	while (have < sz) {
		ssize_t n = recv(fd, buf + have, sz - have, 0);

		if (n <= 0)
			return 0;
		have += n;
	}
	return have;
}

static size_t request(char *buf, size_t sz, unsigned long n)
{
	return snprintf(buf, sz, "GET /path HTTP/1.1\r\nHost: %010lu.example\r\n\r\n", n);
}

static size_t answer(char *buf, size_t sz, unsigned long n)
{
	return snprintf(buf, sz, "HTTP/1.1 %lu Some\r\nContent-Length: 0\r\n\r\n",
			200 + n % MODULUS);
}

/* Serves each connection in its own process. */
static void serve(int fd)
{
	char in[128], out[128];
	size_t size = request(in, sizeof(in), 0);

	/* The clients' descriptors are inherited, so the end of a connection is not seen here. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (take(fd, in, size) == size) {
		size_t sz = answer(out, sizeof(out), strtoul(strstr(in, "Host: ") + 6, NULL, 10));

		NEED(send(fd, out, sz, MSG_NOSIGNAL) == (ssize_t)sz);
	}
	_exit(0);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double seconds = argc == 4 ? atof(argv[1]) : 0, end;
	int cnt = argc == 4 ? atoi(argv[2]) : 0, depth = argc == 4 ? atoi(argv[3]) : 0;
	int one = 1, fds[CONNECTIONS], listener = socket(AF_INET, SOCK_STREAM, 0);
	unsigned long number = 0, sent = 0, received = 0;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char out[128], in[128];
	socklen_t sz = sizeof(a);

	if (seconds <= 0 || cnt < 1 || cnt > CONNECTIONS || depth < 1)
		return 2;
	signal(SIGCHLD, SIG_IGN);
	NEED(!bind(listener, (void *)&a, sz) && !listen(listener, CONNECTIONS));
	/* Accepted sockets inherit this. */
	NEED(!setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
	NEED(!getsockname(listener, (void *)&a, &sz));
	NEED(read(STDIN_FILENO, in, 1) == 1);
	for (int i = 0; i < cnt; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM, 0);
		NEED(!setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)));
		NEED(!connect(fds[i], (void *)&a, sizeof(a)));
		if (!fork())
			serve(accept(listener, NULL, NULL));
	}
	for (end = now() + seconds; now() < end;)
		for (int i = 0; i < cnt; i++) {
			unsigned long first = number;

			for (int d = 0; d < depth; d++) {
				size_t len = request(out, sizeof(out), number++);

				NEED(send(fds[i], out, len, 0) == (ssize_t)len);
				sent += len;
			}
			for (unsigned long n = first; n < number; n++) {
				size_t len = answer(out, sizeof(out), n);

				NEED(take(fds[i], in, len) == len && !memcmp(in, out, len));
				received += len;
			}
		}
	printf("%lu %lu %lu\n", number, sent, received);
	return 0;
}
