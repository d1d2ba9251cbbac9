/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/base/parcel.h"

#define PACKET_SZ (32u << 10) /* below the send buffer size of any socket */
#define BODY_MAX_SZ (1ULL << 30)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)

/* Header before the body. `large`: the body is in a memfd, which is the last descriptor. */
struct head {
	uint32_t kind;
	int32_t rc;
	uint32_t fd_set, large;
	uint64_t len;
};

void parcel_init(struct parcel *m, uint32_t kind)
{
	*m = (struct parcel){.kind = kind};
	for (int i = 0; i < PARCEL_FDS; i++)
		m->fd[i] = -1;
}

void parcel_fini(struct parcel *m)
{
	for (int i = 0; i < PARCEL_FDS; i++)
		if (m->fd[i] >= 0)
			close(m->fd[i]);
	if (m->cap)
		free(m->body);
	else if (m->body)
		munmap(m->body, m->len);
	parcel_init(m, m->kind);
}

/* ---- writing ---- */

void parcel_put(struct parcel *m, const void *p, size_t len)
{
	if (m->len + len > m->cap) {
		size_t cap = m->cap ? m->cap : 256;
		char *body;

		while (cap < m->len + len)
			cap *= 2;
		body = realloc(m->body, cap);
		if (!body) {
			m->bad = true;
			return;
		}
		m->body = body;
		m->cap = cap;
	}
	if (len)
		memcpy(m->body + m->len, p, len);
	m->len += len;
}

void parcel_put_u64(struct parcel *m, uint64_t v)
{
	parcel_put(m, &v, sizeof(v));
}

void parcel_put_span(struct parcel *m, struct span s)
{
	parcel_put_u64(m, s.len);
	parcel_put(m, s.p, s.len);
}

void parcel_put_string(struct parcel *m, const char *s)
{
	parcel_put_span(m, (struct span){s, s ? strlen(s) : 0});
}

void parcel_put_fd(struct parcel *m, unsigned i, int fd)
{
	m->fd[i] = fd;
}

void parcel_put_tail(struct parcel *m, const void *p, size_t len)
{
	m->tail[m->tail_cnt].p = p;
	m->tail[m->tail_cnt++].len = len;
}

/* ---- reading ---- */

static const char *get(struct parcel *m, uint64_t len)
{
	const char *p = m->body + m->at;

	if (m->bad || len > m->len - m->at) {
		m->bad = true;
		return NULL;
	}
	m->at += len;
	return p;
}

void parcel_get(struct parcel *m, void *p, size_t len)
{
	const char *from = get(m, len);

	if (from)
		memcpy(p, from, len);
	else
		memset(p, 0, len);
}

uint64_t parcel_get_u64(struct parcel *m)
{
	uint64_t v;

	parcel_get(m, &v, sizeof(v));
	return v;
}

struct span parcel_get_span(struct parcel *m)
{
	uint64_t len = parcel_get_u64(m);
	const char *p = get(m, len);

	return p ? (struct span){p, len} : (struct span){"", 0};
}

static size_t aligned(size_t at)
{
	return (at + 7) & ~(size_t)7;
}

const void *parcel_get_tail(struct parcel *m, uint64_t cnt, size_t sz)
{
	size_t at = aligned(m->at);

	if (at > m->len || cnt > (m->len - at) / sz)
		m->bad = true;
	else
		m->at = at;
	return get(m, cnt * sz);
}

int parcel_take_fd(struct parcel *m, unsigned i)
{
	int fd = m->fd[i];

	m->fd[i] = -1;
	return fd;
}

/* ---- sending ---- */

static int write_at(int fd, const char *p, size_t len, off_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		p += n;
		len -= n;
		at += n;
	}
	return 0;
}

static size_t full_size(const struct parcel *m)
{
	size_t len = m->len;

	for (unsigned i = 0; i < m->tail_cnt; i++)
		len = aligned(len) + m->tail[i].len;
	return len;
}

/* Writes the body and its tails to a sealed memfd. Negative errno on error. */
static int seal(const struct parcel *m, size_t len)
{
	int fd = memfd_create("obrec", MFD_CLOEXEC | MFD_ALLOW_SEALING), err;
	size_t at = m->len;

	if (fd < 0)
		return -errno;
	err = ftruncate(fd, len) ? -errno : write_at(fd, m->body, m->len, 0);
	for (unsigned i = 0; i < m->tail_cnt && !err; i++) {
		at = aligned(at);
		err = write_at(fd, m->tail[i].p, m->tail[i].len, at);
		at += m->tail[i].len;
	}
	if (!err && fcntl(fd, F_ADD_SEALS, SEALS))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int send_packet(int socket, struct iovec *iov, int iov_cnt, const int *fds, unsigned fd_cnt)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * (PARCEL_FDS + 1))];
	} control = {0};
	struct msghdr h = {.msg_iov = iov, .msg_iovlen = iov_cnt};
	ssize_t n;

	if (fd_cnt) {
		struct cmsghdr *c = &control.align;

		h.msg_control = control.buf;
		h.msg_controllen = CMSG_SPACE(sizeof(int) * fd_cnt);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * fd_cnt);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * fd_cnt);
	}
	do
		n = sendmsg(socket, &h, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int parcel_send(const struct parcel *m, int socket)
{
	size_t len = full_size(m);
	struct head head = {m->kind, m->rc, 0, m->tail_cnt || len > PACKET_SZ, len};
	struct iovec iov[2] = {{&head, sizeof(head)}, {m->body, m->len}};
	int fds[PARCEL_FDS + 1], sealed = -1, err;
	unsigned cnt = 0;

	if (m->bad)
		return -ENOMEM;
	for (int i = 0; i < PARCEL_FDS; i++) {
		if (m->fd[i] < 0)
			continue;
		head.fd_set |= 1u << i;
		fds[cnt++] = m->fd[i];
	}
	if (head.large) {
		sealed = seal(m, len);
		if (sealed < 0)
			return sealed;
		fds[cnt++] = sealed;
	}
	err = send_packet(socket, iov, head.large ? 1 : 2, fds, cnt);
	if (sealed >= 0)
		close(sealed);
	return err;
}

/* ---- receiving ---- */

static int map_body(struct parcel *m, int fd, uint64_t len)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) ||
	    (uint64_t)st.st_size != len || !len || len > BODY_MAX_SZ)
		return -EBADMSG;
	p = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	m->body = p;
	m->len = len;
	return 0;
}

static int copy_body(struct parcel *m, const char *p, size_t len)
{
	if (!len)
		return 0;
	m->body = malloc(len);
	if (!m->body)
		return -ENOMEM;
	memcpy(m->body, p, len);
	m->len = m->cap = len;
	return 0;
}

/* Assigns the descriptors by fd_set; closes unexpected ones. */
static int take_fds(struct parcel *m, const struct head *head, int *fds, unsigned cnt, int *sealed)
{
	unsigned next = 0;

	for (int i = 0; i < PARCEL_FDS; i++)
		if (head->fd_set >> i & 1 && next < cnt)
			m->fd[i] = fds[next++];
	*sealed = head->large && next < cnt ? fds[next++] : -1;
	while (next < cnt)
		close(fds[next++]);
	return head->large && *sealed < 0 ? -EBADMSG : 0;
}

int parcel_receive(struct parcel *m, int socket, int flags)
{
	static __thread char buf[sizeof(struct head) + PACKET_SZ];
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int) * (PARCEL_FDS + 1))];
	} control;
	struct iovec iov = {buf, sizeof(buf)};
	struct msghdr h = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	int fds[PARCEL_FDS + 1], sealed = -1, err;
	struct head head;
	unsigned cnt = 0;
	ssize_t n;

	parcel_init(m, 0);
	do
		n = recvmsg(socket, &h, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -EPIPE;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&h); c; c = CMSG_NXTHDR(&h, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		cnt = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(fds, CMSG_DATA(c), cnt * sizeof(int));
	}
	memcpy(&head, buf, (size_t)n < sizeof(head) ? (size_t)n : sizeof(head));
	if ((size_t)n < sizeof(head) || h.msg_flags & (MSG_TRUNC | MSG_CTRUNC))
		head = (struct head){.large = 1}; /* invalid: not sent by obrec */
	m->kind = head.kind;
	m->rc = head.rc;
	err = take_fds(m, &head, fds, cnt, &sealed);
	if (!err)
		err = head.large ? map_body(m, sealed, head.len)
				 : copy_body(m, buf + sizeof(head), n - sizeof(head));
	if (sealed >= 0)
		close(sealed);
	if (err)
		parcel_fini(m);
	return err;
}
