/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client and a server that communicate over each transport with each kind of system call, a known
 * number of times:
 *
 *   talk [ROUNDS]      prints one line per end of each way: NAME END TRANSPORT COLUMN VALUE SENDS
 *                      SENT RECEIVES RECEIVED, where COLUMN of obana's table of connections has
 *                      that VALUE; exit status 0 on success
 *
 * Each round is a request in one call and a response in one call, each received in one call.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REQUEST = 96, ANSWER = 224 };

/* How a message is transferred; each family of calls is used at least once. */
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
	{"unix-stream", "unix", AF_UNIX, SOCK_STREAM, RW},
	{"unix-packets", "unix", AF_UNIX, SOCK_SEQPACKET, MSG},
	{"unix-datagrams", "unix-dgram", AF_UNIX, SOCK_DGRAM, TO_FROM},
};

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int file_fd; /* source of sendfile */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/*
 * A separate address for each run, so that two can run at the same time: a free port, or a name
 * with the server's process id. Both ends of a Unix socket have one, because without an address
 * there is no response.
 */
static socklen_t address(const struct way *w, const char *end, pid_t pid, union addr *a)
{
	int len;

	memset(a, 0, sizeof(*a));
	a->sa.sa_family = w->family;
	switch (w->family) {
	case AF_UNIX:
		/* after the NUL of an abstract name */
		len = snprintf(a->un.sun_path + 1, sizeof(a->un.sun_path) - 1, "talk-%s-%s-%d",
			       w->name, end, pid);
		return offsetof(struct sockaddr_un, sun_path) + 1 + len;
	case AF_INET:
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->in);
	default:
		a->in6.sin6_addr = in6addr_loopback;
		return sizeof(a->in6);
	}
}

/* Sends one message in one call; `to`: destination of datagrams on an unconnected socket. */
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

	if (w->type != SOCK_DGRAM && (fd = accept(fd, NULL, NULL)) < 0)
		die("accept");
	for (int i = 0; i < rounds; i++) {
		if (receive_one(fd, w->call, buf, REQUEST, &from, &from_sz) != REQUEST)
			die("request");
		if (send_one(fd, w->call, buf, ANSWER, &from,
			     w->type == SOCK_DGRAM ? from_sz : 0) != ANSWER)
			die("answer");
	}
}

static void ask(const struct way *w, union addr *server, socklen_t server_sz, int rounds)
{
	int fd = socket(w->family, w->type, 0);
	char buf[1024] = "a request";
	union addr a;
	socklen_t sz = address(w, "client", getppid(), &a);

	if (bind(fd, &a.sa, sz) || connect(fd, &server->sa, server_sz))
		die("connect");
	for (int i = 0; i < rounds; i++) {
		if (send_one(fd, w->call, buf, REQUEST, NULL, 0) != REQUEST)
			die("send");
		if (receive_one(fd, w->call, buf, ANSWER, &a, &sz) != ANSWER)
			die("receive");
	}
	close(fd);
}

static void say(const struct way *w, const union addr *server, int rounds)
{
	static const struct {
		const char *name, *column;
		int sent, received;
	} ends[] = {{"client", "remote_port", REQUEST, ANSWER},
		    {"server", "local_port", ANSWER, REQUEST}};

	for (int i = 0; i < 2; i++) {
		printf("%s %s %s ", w->name, ends[i].name, w->transport);
		if (w->family == AF_UNIX)
			printf("local_addr @talk-%s-%s-%d", w->name, ends[i].name, getpid());
		else
			printf("%s %d", ends[i].column, ntohs(server->in.sin_port));
		printf(" %d %d %d %d\n", rounds, rounds * ends[i].sent, rounds,
		       rounds * ends[i].received);
	}
}

/* Returns true on success. */
static bool talk(const struct way *w, int rounds)
{
	int fd = socket(w->family, w->type, 0), status;
	union addr a;
	socklen_t sz = address(w, "server", getpid(), &a);

	if (fd < 0 || bind(fd, &a.sa, sz) || getsockname(fd, &a.sa, &sz) ||
	    (w->type != SOCK_DGRAM && listen(fd, 1)))
		die("listen");
	if (!fork()) {
		ask(w, &a, sz, rounds);
		_exit(0);
	}
	serve(w, fd, rounds);
	wait(&status);
	close(fd);
	say(w, &a, rounds);
	return !status;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	char text[1024] = "a file's text";
	FILE *f = tmpfile();
	bool good = true;

	if (!f || (file_fd = fileno(f)) < 0 || write(file_fd, text, sizeof(text)) < ANSWER)
		die("temporary file");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		good &= talk(&ways[i], rounds);
	return !good;
}
