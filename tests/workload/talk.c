/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server that talk over each transport with each kind of system call, a known number
 * of times:
 *
 *   talk [ROUNDS]      prints "NAME TRANSPORT PORT REQUEST ANSWER" (bytes of each message), a line
 * a way; exit status 0 when all went well
 *
 * Each round is one request in one call and one answer in one call, received in one call each.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST = 96, ANSWER = 224, PORT = 7600 };

/* How one message moves; at least one call of each family is a way's. */
enum call { RW, TO_FROM, VECTOR, MSG, MMSG, SENDFILE };

static const struct way {
	const char *name, *transport;
	int family, type;
	enum call call;
} ways[] = {
	{"read-write", "tcp", AF_INET, SOCK_STREAM, RW},
	{"send-recv", "tcp", AF_INET6, SOCK_STREAM, TO_FROM},
	{"vectors", "tcp", AF_INET, SOCK_STREAM, VECTOR},
	{"messages", "tcp", AF_INET, SOCK_STREAM, MSG},
	{"sendfile", "tcp", AF_INET, SOCK_STREAM, SENDFILE},
	{"datagrams", "udp", AF_INET, SOCK_DGRAM, TO_FROM},
	{"many-datagrams", "udp", AF_INET6, SOCK_DGRAM, MMSG},
};

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static int file_fd; /* what sendfile sends */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static socklen_t loopback(int family, int port, union addr *a)
{
	memset(a, 0, sizeof(*a));
	a->sa.sa_family = family;
	if (family == AF_INET) {
		a->in.sin_port = htons(port);
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->in);
	}
	a->in6.sin6_port = htons(port);
	a->in6.sin6_addr = in6addr_loopback;
	return sizeof(a->in6);
}

/* One message in one call; `to`: for datagrams of a socket that is not connected. */
static ssize_t send_one(int fd, enum call call, char *buf, size_t len, union addr *to,
			socklen_t to_sz)
{
	struct iovec v[2] = {{buf, len / 2}, {buf + len / 2, len - len / 2}};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = v, .msg_iovlen = 2}};
	off_t from = 0;

	if (to_sz)
		m.msg_hdr.msg_name = to, m.msg_hdr.msg_namelen = to_sz;
	switch (call) {
	case RW:
		return write(fd, buf, len);
	case TO_FROM:
		return sendto(fd, buf, len, 0, to_sz ? &to->sa : NULL, to_sz);
	case VECTOR:
		return writev(fd, v, 2);
	case MSG:
		return sendmsg(fd, &m.msg_hdr, 0);
	case MMSG:
		return sendmmsg(fd, &m, 1, 0) == 1 ? (ssize_t)m.msg_len : -1;
	case SENDFILE:
		return sendfile(fd, file_fd, &from, len);
	}
	return -1;
}

static ssize_t receive_one(int fd, enum call call, char *buf, size_t len, union addr *from,
			   socklen_t *from_sz)
{
	struct iovec v[2] = {{buf, len / 2}, {buf + len / 2, len - len / 2}};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = v, .msg_iovlen = 2}};
	ssize_t n;

	*from_sz = sizeof(*from);
	m.msg_hdr.msg_name = from, m.msg_hdr.msg_namelen = sizeof(*from);
	switch (call) {
	case RW:
	case SENDFILE:
		return read(fd, buf, len);
	case TO_FROM:
		return recvfrom(fd, buf, len, 0, &from->sa, from_sz);
	case VECTOR:
		return readv(fd, v, 2);
	case MSG:
		return recvmsg(fd, &m.msg_hdr, 0);
	case MMSG:
		n = recvmmsg(fd, &m, 1, 0, NULL) == 1 ? (ssize_t)m.msg_len : -1;
		*from_sz = m.msg_hdr.msg_namelen;
		return n;
	}
	return -1;
}

static void serve(const struct way *w, int fd, int rounds)
{
	char buf[1024] = {0};
	socklen_t from_sz;
	union addr from;

	if (w->type == SOCK_STREAM && (fd = accept(fd, NULL, NULL)) < 0)
		die("accept");
	for (int i = 0; i < rounds; i++) {
		if (receive_one(fd, w->call, buf, REQUEST, &from, &from_sz) != REQUEST)
			die("request");
		if (send_one(fd, w->call, buf, ANSWER, &from,
			     w->type == SOCK_DGRAM ? from_sz : 0) != ANSWER)
			die("answer");
	}
}

static void ask(const struct way *w, int port, int rounds)
{
	int fd = socket(w->family, w->type, 0);
	char buf[1024] = "a request";
	socklen_t sz;
	union addr a;

	sz = loopback(w->family, port, &a);
	if (connect(fd, &a.sa, sz))
		die("connect");
	for (int i = 0; i < rounds; i++) {
		if (send_one(fd, w->call, buf, REQUEST, NULL, 0) != REQUEST)
			die("send");
		if (receive_one(fd, w->call, buf, ANSWER, &a, &sz) != ANSWER)
			die("receive");
	}
	close(fd);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100, status, one = 1, bad = 0;
	char text[1024] = "a file's text";
	FILE *f = tmpfile();

	if (!f || (file_fd = fileno(f)) < 0 || write(file_fd, text, sizeof(text)) < ANSWER)
		die("temporary file");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct way *w = &ways[i];
		int fd = socket(w->family, w->type, 0), port = PORT + i;
		union addr a;
		socklen_t sz = loopback(w->family, port, &a);

		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (fd < 0 || bind(fd, &a.sa, sz) || (w->type == SOCK_STREAM && listen(fd, 1)))
			die("listen");
		if (!fork()) {
			ask(w, port, rounds);
			_exit(0);
		}
		serve(w, fd, rounds);
		wait(&status);
		bad |= status;
		close(fd);
		printf("%s %s %d %d %d\n", w->name, w->transport, port, REQUEST, ANSWER);
	}
	return !!bad;
}
