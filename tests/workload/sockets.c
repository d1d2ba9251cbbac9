/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers bytes through sockets in unusual ways and prints what was transferred:
 *
 *   sockets [-w|-u]   -w: waits for a byte on stdin after the first connection is open;
 *                     -u: also uses an unconnected UDP socket
 *
 * Prints one line per end of each pair: NAME END TRANSPORT LOCAL REMOTE SENDS SENT RECEIVES
 * RECEIVED (LOCAL: the port, or a Unix socket's name). Each message starts with "NAME:". Some
 * buffers contain, in or after the message, the text "not-traffic", which is not sent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

union addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

struct end {
	int fd;
	unsigned long sends, sent, receives, received;
};

/* The client end and the server end. */
struct pair {
	const char *name, *transport;
	struct end a, b;
};

static char message[70000], buf[1 << 20];

/* ---- accounting ---- */

static ssize_t tx(struct end *e, ssize_t n)
{
	NEED(n >= 0);
	e->sends++;
	e->sent += n;
	return n;
}

static ssize_t rx(struct end *e, ssize_t n)
{
	NEED(n >= 0);
	e->receives++;
	e->received += n;
	return n;
}

/* Accounts for a call that returned n messages. */
static void many(struct end *e, struct mmsghdr *m, int n, bool sent)
{
	for (int i = 0; i < n; i++)
		(sent ? tx : rx)(e, m[i].msg_len);
}

static void name_of(const union addr *a, socklen_t sz, char *to)
{
	if (a->sa.sa_family == AF_UNIX)
		sprintf(to, "@%.*s", (int)(sz - 3), a->un.sun_path + 1);
	else
		sprintf(to, "%d", ntohs(a->in.sin_port));
}

/* Addresses of both ends from the view of `e`. */
struct names {
	char local[128], remote[128];
};

static struct names names_of(const struct end *e, const struct end *other)
{
	struct names n;
	union addr a;
	socklen_t sz = sizeof(a);

	NEED(!getsockname(e->fd, &a.sa, &sz));
	name_of(&a, sz, n.local);
	sz = sizeof(a);
	NEED(!getsockname(other->fd, &a.sa, &sz));
	name_of(&a, sz, n.remote);
	return n;
}

static void say_as(const struct pair *p, const struct end *e, const struct names *n)
{
	printf("%s %s %s %s %s %lu %lu %lu %lu\n", p->name, e == &p->a ? "client" : "server",
	       p->transport, n->local, n->remote, e->sends, e->sent, e->receives, e->received);
}

static void say(const struct pair *p, const struct end *e, const struct end *other)
{
	struct names n = names_of(e, other);

	say_as(p, e, &n);
}

static void finish(struct pair *p)
{
	say(p, &p->a, &p->b);
	say(p, &p->b, &p->a);
	close(p->a.fd);
	close(p->b.fd);
}

/* ---- pairs ---- */

static socklen_t address(int family, const char *name, const char *end, union addr *a)
{
	memset(a, 0, sizeof(*a));
	a->sa.sa_family = family;
	if (family == AF_INET)
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else if (family == AF_INET6)
		a->in6.sin6_addr = in6addr_loopback;
	else
		return offsetof(struct sockaddr_un, sun_path) + 1 +
		       sprintf(a->un.sun_path + 1, "%s-%s-%d", name, end, getpid());
	return family == AF_INET ? sizeof(a->in) : sizeof(a->in6);
}

static int bound(int family, int type, const char *name, const char *end)
{
	int fd = socket(family, type, 0);
	union addr a;

	NEED(fd >= 0 && !bind(fd, &a.sa, address(family, name, end, &a)));
	return fd;
}

static void join(int fd, int to)
{
	union addr a;
	socklen_t sz = sizeof(a);

	NEED(!getsockname(to, &a.sa, &sz) && !connect(fd, &a.sa, sz));
}

static struct pair stream(const char *name, int family, int type)
{
	struct pair p = {.name = name, .transport = family == AF_UNIX ? "unix" : "tcp"};
	int listener = bound(family, type, name, "server");

	NEED(!listen(listener, 1));
	p.a.fd = bound(family, type, name, "client");
	join(p.a.fd, listener);
	p.b.fd = accept(listener, NULL, NULL);
	NEED(p.b.fd >= 0);
	close(listener);
	snprintf(message, sizeof(message), "%s:", name);
	return p;
}

static struct pair tcp(const char *name)
{
	return stream(name, AF_INET, SOCK_STREAM);
}

static struct pair datagrams(const char *name, int family, bool connected)
{
	struct pair p = {.name = name, .transport = family == AF_UNIX ? "unix-dgram" : "udp"};

	p.a.fd = bound(family, SOCK_DGRAM, name, "client");
	p.b.fd = bound(family, SOCK_DGRAM, name, "server");
	if (connected) {
		join(p.a.fd, p.b.fd);
		join(p.b.fd, p.a.fd);
	}
	snprintf(message, sizeof(message), "%s:", name);
	return p;
}

static void exchange(struct pair *p)
{
	tx(&p->a, send(p->a.fd, message, 100, 0));
	NEED(rx(&p->b, recv(p->b.fd, buf, sizeof(buf), 0)) == 100);
	tx(&p->b, write(p->b.fd, message, 200));
	NEED(rx(&p->a, read(p->a.fd, buf, sizeof(buf))) == 200);
}

/* A buffer that contains unrelated data. */
static char *used_buffer(void)
{
	for (size_t i = 0; i < 4096; i += 16)
		memcpy(buf + i, "not-traffic.....", 16);
	return buf;
}

/* ---- the ways ---- */

static void families(void)
{
	static const struct {
		const char *name;
		int family, type;
	} ways[] = {{"ipv4", AF_INET, SOCK_STREAM},
		    {"ipv6", AF_INET6, SOCK_STREAM},
		    {"unix-stream", AF_UNIX, SOCK_STREAM},
		    {"unix-seqpacket", AF_UNIX, SOCK_SEQPACKET}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct pair p = stream(ways[i].name, ways[i].family, ways[i].type);

		exchange(&p);
		finish(&p);
	}
}

static void mapped(void)
{
	struct pair p = {.name = "v4-mapped", .transport = "tcp"};
	int listener = socket(AF_INET6, SOCK_STREAM, 0);
	union addr a = {.in6 = {.sin6_family = AF_INET6}};
	socklen_t sz = sizeof(a);

	NEED(!bind(listener, &a.sa, sizeof(a.in6)) && !listen(listener, 1));
	NEED(!getsockname(listener, &a.sa, &sz));
	NEED(inet_pton(AF_INET6, "::ffff:127.0.0.1", &a.in6.sin6_addr) == 1);
	p.a.fd = socket(AF_INET6, SOCK_STREAM, 0);
	NEED(!connect(p.a.fd, &a.sa, sizeof(a.in6)));
	p.b.fd = accept(listener, NULL, NULL);
	snprintf(message, sizeof(message), "%s:", p.name);
	exchange(&p);
	finish(&p);
}

static void peek(void)
{
	struct pair p = tcp("peek");
	struct iovec v = {buf, 4096};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	struct mmsghdr m = {.msg_hdr = h};

	tx(&p.a, send(p.a.fd, message, 100, 0));
	NEED(recv(p.b.fd, buf, 100, MSG_PEEK) == 100);
	NEED(recvmsg(p.b.fd, &h, MSG_PEEK) == 100);
	NEED(recvmmsg(p.b.fd, &m, 1, MSG_PEEK, NULL) == 1);
	rx(&p.b, recv(p.b.fd, buf, 100, 0));
	finish(&p);
}

static void truncated(void)
{
	struct pair p = tcp("discarded"), d = datagrams("truncated", AF_INET, true);
	struct iovec v = {buf, 20};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};

	snprintf(message, sizeof(message), "discarded:");
	tx(&p.a, send(p.a.fd, message, 300, 0));
	/* TCP discards the data: nothing is written to the buffer. */
	NEED(rx(&p.b, recv(p.b.fd, used_buffer(), 300, MSG_TRUNC)) == 300);
	finish(&p);
	snprintf(message, sizeof(message), "truncated:");
	for (int i = 0; i < 3; i++)
		tx(&d.a, send(d.a.fd, message, 300, 0));
	NEED(rx(&d.b, recv(d.b.fd, used_buffer(), 20, MSG_TRUNC)) == 300);
	used_buffer();
	NEED(rx(&d.b, recvmsg(d.b.fd, &h, MSG_TRUNC)) == 300);
	NEED(rx(&d.b, recv(d.b.fd, used_buffer(), 20, 0)) == 20);
	finish(&d);
}

static void wait_all(void)
{
	struct pair p = tcp("wait-all");

	for (int i = 0; i < 3; i++)
		tx(&p.a, send(p.a.fd, message, 100, 0));
	NEED(rx(&p.b, recv(p.b.fd, buf, 300, MSG_WAITALL)) == 300);
	finish(&p);
}

/* Non-blocking, with more data than fits into the socket buffers. */
static void partial(void)
{
	struct pair p = tcp("partial");
	unsigned long left = 4 << 20;
	ssize_t n;

	memset(buf, 0, sizeof(buf));
	fcntl(p.a.fd, F_SETFL, O_NONBLOCK);
	fcntl(p.b.fd, F_SETFL, O_NONBLOCK);
	while (left) {
		n = write(p.a.fd, buf, left < sizeof(buf) ? left : sizeof(buf));
		NEED(n > 0 || errno == EAGAIN);
		if (n > 0)
			left -= tx(&p.a, n);
		while ((n = read(p.b.fd, buf, sizeof(buf))) > 0)
			rx(&p.b, n);
		NEED(errno == EAGAIN);
	}
	fcntl(p.b.fd, F_SETFL, 0);
	while (p.b.received < p.a.sent)
		rx(&p.b, read(p.b.fd, buf, sizeof(buf)));
	finish(&p);
}

static void half_closed(void)
{
	struct pair p = tcp("half-close");

	tx(&p.a, send(p.a.fd, message, 100, 0));
	shutdown(p.a.fd, SHUT_WR);
	rx(&p.b, recv(p.b.fd, buf, 4096, 0));
	NEED(!recv(p.b.fd, buf, 4096, 0)); /* the end of the stream, not a message */
	tx(&p.b, send(p.b.fd, message, 200, 0));
	rx(&p.a, recv(p.a.fd, buf, 4096, 0));
	finish(&p);
}

/* The kernel closes the connection when both ends have closed; the received data is read later. */
static void read_late(void)
{
	struct pair p = tcp("read-late");
	struct names n = names_of(&p.a, &p.b);

	tx(&p.a, send(p.a.fd, message, 100, 0));
	shutdown(p.a.fd, SHUT_WR);
	rx(&p.b, recv(p.b.fd, buf, 4096, 0));
	tx(&p.b, send(p.b.fd, message, 200, 0));
	say(&p, &p.b, &p.a);
	close(p.b.fd);
	usleep(2500000); /* at least two polling intervals of obrec */
	NEED(rx(&p.a, recv(p.a.fd, buf, 4096, 0)) == 200);
	say_as(&p, &p.a, &n);
	close(p.a.fd);
}

static void reset(void)
{
	struct pair p = tcp("reset");
	struct linger at_once = {.l_onoff = 1};

	exchange(&p);
	tx(&p.a, send(p.a.fd, message, 50, 0));
	rx(&p.b, recv(p.b.fd, buf, 4096, 0));
	say(&p, &p.a, &p.b);
	say(&p, &p.b, &p.a);
	setsockopt(p.a.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(p.a.fd);
	NEED(recv(p.b.fd, buf, 4096, 0) < 0 && errno == ECONNRESET);
	NEED(send(p.b.fd, buf, 1, MSG_NOSIGNAL) < 0);
	close(p.b.fd);
}

static void end_at_once(struct pair *p)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(p->b.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(p->b.fd);
	NEED(recv(p->a.fd, buf, 4096, 0) < 0 && errno == ECONNRESET);
}

/* One socket, two connections. */
static void connected_again(void)
{
	struct pair p = tcp("first-of-socket"),
		    next = {.name = "second-of-socket", .transport = "tcp", .a.fd = p.a.fd};
	int listener = bound(AF_INET, SOCK_STREAM, next.name, "server");

	exchange(&p);
	say(&p, &p.a, &p.b);
	say(&p, &p.b, &p.a);
	end_at_once(&p);
	NEED(!connect(next.a.fd, &(struct sockaddr){.sa_family = AF_UNSPEC},
		      sizeof(struct sockaddr)));
	NEED(!listen(listener, 1));
	join(next.a.fd, listener);
	next.b.fd = accept(listener, NULL, NULL);
	NEED(next.b.fd >= 0);
	close(listener);
	exchange(&next);
	finish(&next);
}

/* io_uring(7), of one request. */
struct uring {
	struct io_uring_params p;
	int fd;
	char *ring; /* both ends of it: IORING_FEAT_SINGLE_MMAP, 5.4 */
};

static void *map_ring(const struct uring *u, size_t sz, off_t at)
{
	void *p = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, at);

	NEED(p != MAP_FAILED);
	return p;
}

static void ask_uring(struct uring *u, int sock, void *to, size_t sz)
{
	struct io_uring_sqe *sqe = map_ring(u, sizeof(*sqe), IORING_OFF_SQES);

	u->ring = map_ring(u, u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe),
			   IORING_OFF_SQ_RING);
	*sqe = (struct io_uring_sqe){
		.opcode = IORING_OP_RECV, .fd = sock, .addr = (uintptr_t)to, .len = sz};
	*(unsigned *)(u->ring + u->p.sq_off.array) = 0;
	__atomic_store_n((unsigned *)(u->ring + u->p.sq_off.tail), 1, __ATOMIC_RELEASE);
	NEED(syscall(SYS_io_uring_enter, u->fd, 1, 0, 0, NULL, 0) == 1);
}

static int answer_of_uring(const struct uring *u)
{
	unsigned tail = __atomic_load_n((unsigned *)(u->ring + u->p.cq_off.tail), __ATOMIC_ACQUIRE);

	NEED(tail == 1);
	return ((struct io_uring_cqe *)(u->ring + u->p.cq_off.cqes))->res;
}

/* io_uring receives data while its process reads a pipe into another buffer. */
static void received_meanwhile(void)
{
	struct uring u = {0};
	struct pair p;
	char to[100];
	int turn[2];
	pid_t child;

	u.fd = syscall(SYS_io_uring_setup, 1, &u.p);
	if (u.fd < 0)
		return;
	p = tcp("io-uring");
	ask_uring(&u, p.b.fd, to, sizeof(to));
	NEED(!pipe(turn));
	child = fork();
	if (!child) {
		usleep(200000);
		NEED(send(p.a.fd, message, 100, 0) == 100);
		usleep(200000);
		_exit(write(turn[1], message, 1) != 1);
	}
	tx(&p.a, 100); /* sent by the child; nobody else sends there */
	NEED(read(turn[0], used_buffer(), 4096) == 1);
	NEED(rx(&p.b, answer_of_uring(&u)) == 100);
	NEED(waitpid(child, NULL, 0) == child);
	finish(&p);
	close(u.fd), close(turn[0]), close(turn[1]);
}

/* One after the other, so that the kernel reuses the memory of closed sockets. */
static void silent(void)
{
	for (int i = 0; i < 30; i++) {
		struct pair p = tcp("silent");

		finish(&p);
	}
}

static void vectors(void)
{
	struct pair p = tcp("vectors");
	struct iovec v[200];

	for (int i = 0; i < 200; i++)
		v[i] = (struct iovec){message + 3 * i, 3};
	NEED(tx(&p.a, writev(p.a.fd, v, 200)) == 600);
	for (int i = 0; i < 200; i++)
		v[i] = (struct iovec){buf + 4 * i, 4};
	NEED(rx(&p.b, readv(p.b.fd, v, 200)) == 600);
	finish(&p);
}

/* More buffers than obrec reads: their lengths are still counted. */
static void bytewise(void)
{
	struct pair p = tcp("bytewise");
	struct iovec v[600];

	for (int i = 0; i < 600; i++)
		v[i] = (struct iovec){message + i, 1};
	NEED(tx(&p.a, writev(p.a.fd, v, 600)) == 600);
	for (int i = 0; i < 600; i++)
		v[i] = (struct iovec){buf + i, 1};
	NEED(rx(&p.b, readv(p.b.fd, v, 600)) == 600);
	finish(&p);
}

static void from_file(void)
{
	struct pair p = tcp("sendfile");
	FILE *f = tmpfile();
	off_t at = 0;

	NEED(f && write(fileno(f), message, 3000) == 3000);
	NEED(tx(&p.a, sendfile(p.a.fd, fileno(f), &at, 3000)) == 3000);
	while (p.b.received < 3000)
		rx(&p.b, read(p.b.fd, buf, sizeof(buf)));
	fclose(f);
	finish(&p);
}

static void spliced(void)
{
	struct pair p = tcp("splice");
	int in[2], out[2];

	NEED(!pipe(in) && !pipe(out) && write(in[1], message, 3000) == 3000);
	NEED(tx(&p.a, splice(in[0], NULL, p.a.fd, NULL, 3000, 0)) == 3000);
	while (p.b.received < 3000)
		rx(&p.b, splice(p.b.fd, NULL, out[1], NULL, 3000, 0));
	finish(&p);
}

static void messages_of(struct mmsghdr *m, struct iovec *v, int cnt, char *at, size_t sz)
{
	memset(m, 0, cnt * sizeof(*m));
	for (int i = 0; i < cnt; i++) {
		v[i] = (struct iovec){at + i * sz, sz};
		m[i].msg_hdr.msg_iov = &v[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
}

/* The fourth message is too long for a datagram; the second one is empty. */
static void some_of_many(int family, const char *name)
{
	struct pair p = datagrams(name, family, true);
	struct mmsghdr m[8];
	struct iovec v[8];
	int n;

	messages_of(m, v, 5, message, 0);
	v[0].iov_len = v[2].iov_len = 100;
	v[0].iov_base = v[2].iov_base = message;
	v[3].iov_len = sizeof(message);
	n = sendmmsg(p.a.fd, m, 5, 0);
	NEED(n == 3);
	many(&p.a, m, n, true);
	messages_of(m, v, 8, buf, 4096);
	n = recvmmsg(p.b.fd, m, 8, MSG_DONTWAIT, NULL);
	NEED(n == 3);
	many(&p.b, m, n, false);
	finish(&p);
}

static void unconnected(int family, const char *name)
{
	struct pair p = datagrams(name, family, false);
	socklen_t sz = sizeof(union addr);
	struct iovec v = {buf, 4096};
	struct msghdr h = {.msg_iov = &v, .msg_iovlen = 1};
	union addr b, from;

	NEED(!getsockname(p.b.fd, &b.sa, &sz));
	for (int i = 0; i < 3; i++)
		tx(&p.a, sendto(p.a.fd, message, 100, 0, &b.sa, sz));
	tx(&p.a, sendto(p.a.fd, message, 0, 0, &b.sa, sz));
	sz = sizeof(from);
	NEED(rx(&p.b, recvfrom(p.b.fd, buf, 4096, 0, &from.sa, &sz)) == 100);
	NEED(rx(&p.b, read(p.b.fd, buf, 4096)) == 100);
	NEED(rx(&p.b, recvmsg(p.b.fd, &h, 0)) == 100);
	NEED(!rx(&p.b, recv(p.b.fd, buf, 4096, 0)));
	tx(&p.b, sendto(p.b.fd, message, 200, 0, &from.sa, sz));
	NEED(rx(&p.a, recv(p.a.fd, buf, 4096, 0)) == 200);
	finish(&p);
}

/* Both sockets transfer bytes before they are connected. */
static void connected_late(void)
{
	struct pair p = datagrams("connected-late", AF_INET, false);
	socklen_t sz = sizeof(union addr);
	union addr b;

	NEED(!getsockname(p.b.fd, &b.sa, &sz));
	tx(&p.a, sendto(p.a.fd, message, 100, 0, &b.sa, sz));
	rx(&p.b, recv(p.b.fd, buf, 4096, 0));
	join(p.a.fd, p.b.fd);
	join(p.b.fd, p.a.fd);
	exchange(&p);
	finish(&p);
}

/* The last peer counts as the socket's; both have the same port, like name servers. */
static void connected_twice(int family)
{
	struct pair p = datagrams("connected-twice", family, true);
	struct end other = {.fd = socket(family, SOCK_DGRAM, 0)};
	union addr b;
	socklen_t sz = sizeof(b);

	exchange(&p);
	say(&p, &p.b, &p.a);
	NEED(!getsockname(p.b.fd, &b.sa, &sz));
	if (family == AF_INET)
		b.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	else
		b.in6.sin6_port = 0;
	NEED(!bind(other.fd, &b.sa, sz));
	join(p.a.fd, other.fd);
	tx(&p.a, send(p.a.fd, message, 100, 0));
	rx(&other, recv(other.fd, buf, 4096, 0));
	say(&p, &p.a, &other);
	close(p.a.fd), close(p.b.fd), close(other.fd);
}

/* Sends two messages of `sz` bytes each, to `to` when it is set. */
static void send_two(struct end *e, size_t sz, union addr *to, socklen_t to_sz)
{
	struct mmsghdr m[2];
	struct iovec v[2];

	messages_of(m, v, 2, message, 0);
	for (int i = 0; i < 2; i++) {
		v[i].iov_len = sz;
		m[i].msg_hdr.msg_name = to;
		m[i].msg_hdr.msg_namelen = to_sz;
	}
	NEED(sendmmsg(e->fd, m, 2, 0) == 2);
	many(e, m, 2, true);
}

static void receive_two(struct end *e, union addr *from)
{
	struct mmsghdr m[2];
	struct iovec v[2];

	messages_of(m, v, 2, buf, 4096);
	for (int i = 0; i < 2; i++) {
		m[i].msg_hdr.msg_name = from;
		m[i].msg_hdr.msg_namelen = sizeof(*from);
	}
	NEED(recvmmsg(e->fd, m, 2, 0, NULL) == 2);
	many(e, m, 2, false);
}

/* What such a socket receives is captured at system call exit; what it sends must not be counted
 * there again. */
static void many_unconnected(void)
{
	struct pair p = datagrams("many-unconnected", AF_INET, false);
	union addr b, from;
	socklen_t sz = sizeof(b);

	NEED(!getsockname(p.b.fd, &b.sa, &sz));
	send_two(&p.a, 100, &b, sz);
	receive_two(&p.b, &from);
	send_two(&p.b, 200, &from, sz);
	receive_two(&p.a, &from);
	finish(&p);
}

int main(int argc, char **argv)
{
	struct pair old = tcp("old"), dgrams;
	bool wait = argc > 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (wait && !strcmp(argv[1], "-u"))
		bound(AF_INET, SOCK_DGRAM, "anyone's", "server");
	if (wait) {
		fprintf(stderr, "ready\n");
		NEED(read(0, buf, 1) == 1);
	}
	exchange(&old);
	families();
	mapped();
	peek();
	truncated();
	wait_all();
	partial();
	half_closed();
	read_late();
	reset();
	connected_again();
	received_meanwhile();
	silent();
	vectors();
	bytewise();
	from_file();
	spliced();
	some_of_many(AF_INET, "many-v4");
	some_of_many(AF_INET6, "many-v6");
	unconnected(AF_INET, "unconnected-v4");
	unconnected(AF_INET6, "unconnected-v6");
	unconnected(AF_UNIX, "unconnected-unix");
	usleep(500000); /* by then system call exits are hooked */
	many_unconnected();
	connected_late();
	connected_twice(AF_INET);
	connected_twice(AF_INET6);
	dgrams = datagrams("connected-udp", AF_INET6, true);
	exchange(&dgrams);
	finish(&dgrams);
	dgrams = datagrams("unix-dgram", AF_UNIX, true);
	exchange(&dgrams);
	finish(&dgrams);
	say(&old, &old.a, &old.b);
	say(&old, &old.b, &old.a);
	if (wait) /* it never closes */
		NEED(read(0, buf, 1) == 1);
	return 0;
}
