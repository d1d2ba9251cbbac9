/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "format/clock.h"
#include "record/host/child.h"
#include "record/host/features.h"
#include "record/host/uprobes.h"
#include "record/host/uprobes_serve.h"

#define MSEC 1000000ULL

/* How long obrec may wait for one request, and in total for those that take longer than SOON, while
 * it records: the rings with samples are not read meanwhile. Before, in total: the kernel may still
 * be detaching the uprobes of an earlier recording, 50 ms for each that has a link of its own. */
#define BREATH_NS (20 * (int64_t)MSEC)
#define SOON_NS (50 * MSEC)
#define ONCE_NS (1000 * MSEC)
#define ALL_NS (3000 * MSEC)
#define START_NS (20000 * MSEC)

struct uprobes {
	pid_t pid;
	int socket;
	uint32_t sets;
	unsigned pending; /* requests without an answer */
	uint64_t once_ns, left_ns;
	void (*breathe)(void *ctx);
	void *breathe_ctx;
};

bool uprobes__possible(const struct features *f, char *why, size_t why_sz)
{
	if (!access("/sys/bus/event_source/devices/uprobe", F_OK))
		return true;
	snprintf(why, why_sz, "no uprobes (CONFIG_UPROBE_EVENTS)");
	return false;
}

bool uprobes__multi_possible(const struct features *f, char *why, size_t why_sz)
{
	if (f->uprobe_multi)
		return uprobes__possible(f, why, why_sz);
	snprintf(why, why_sz, "one link cannot attach many uprobes (added in Linux 6.6)");
	return false;
}

int uprobes__new(struct uprobes **out, bool multi)
{
	struct uprobes *u = calloc(1, sizeof(*u));
	pid_t self = getpid();
	int pair[2], err;

	if (!u)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(u);
		return -errno;
	}
	u->pid = fork();
	if (!u->pid)
		uprobes_serve(pair[1], self, multi);
	err = u->pid < 0 ? -errno : 0;
	close(pair[1]);
	/* Sending fails rather than waits if the process is blocked. */
	if (!err && fcntl(pair[0], F_SETFL, O_NONBLOCK))
		err = -errno;
	u->socket = pair[0];
	u->once_ns = u->left_ns = START_NS;
	if (err) {
		close(pair[0]);
		free(u);
		return err;
	}
	*out = u;
	return 0;
}

void uprobes__breathe(struct uprobes *u, void (*fn)(void *ctx), void *ctx)
{
	if (!u)
		return;
	u->breathe = fn;
	u->breathe_ctx = ctx;
}

void uprobes__hurry(struct uprobes *u)
{
	if (!u)
		return;
	u->once_ns = ONCE_NS;
	u->left_ns = u->left_ns < ALL_NS ? u->left_ns : ALL_NS;
}

void uprobes__stop(struct uprobes *u)
{
	if (u)
		shutdown(u->socket, SHUT_RDWR);
}

bool uprobes__free(struct uprobes *u, int wait_ms)
{
	bool ended;

	if (!u)
		return true;
	close(u->socket);
	ended = !child_wait(u->pid, wait_ms);
	free(u);
	return ended;
}

pid_t uprobes__pid(const struct uprobes *u)
{
	return u ? u->pid : 0;
}

uint32_t uprobes__set(struct uprobes *u)
{
	return ++u->sets;
}

/* Whether an answer is there by then. Signals are handled at the end of the wait. */
static bool wait_until(struct uprobes *u, uint64_t end_ns)
{
	struct pollfd p = {.fd = u->socket, .events = POLLIN};
	int64_t left_ns = end_ns - clock_now_ns();

	while (left_ns > 0) {
		int64_t breath_ns = left_ns < BREATH_NS ? left_ns : BREATH_NS;

		if (u->breathe)
			u->breathe(u->breathe_ctx);
		if (poll(&p, 1, breath_ns / MSEC + 1) > 0)
			return true;
		left_ns = end_ns - clock_now_ns();
	}
	return poll(&p, 1, 0) > 0;
}

/* Waits for the next answer and receives it. -ETIMEDOUT: none yet. */
static int receive(struct uprobes *u, uint64_t wait_ns, int *rc)
{
	uint64_t from = clock_now_ns(), took;
	bool answered = wait_until(u, from + wait_ns);
	struct parcel answer;
	int err;

	took = clock_now_ns() - from;
	if (took > SOON_NS)
		u->left_ns -= took < u->left_ns ? took : u->left_ns;
	if (!answered)
		return -ETIMEDOUT;
	u->pending--;
	err = parcel_receive(&answer, u->socket, MSG_DONTWAIT);
	if (err)
		return err;
	*rc = answer.rc;
	parcel_fini(&answer);
	return 0;
}

static uint64_t patience_ns(const struct uprobes *u)
{
	uint64_t ns = u->left_ns < u->once_ns ? u->left_ns : u->once_ns;

	return ns > SOON_NS ? ns : SOON_NS;
}

static int send_places(struct uprobes *u, uint32_t set, int file_fd, const struct uprobe_places *p)
{
	struct parcel m;
	int err;

	parcel_init(&m, UPROBES_ATTACH);
	parcel_put_fd(&m, UPROBES_PROGRAM, fcntl(p->prog_fd, F_DUPFD_CLOEXEC, 3));
	parcel_put_fd(&m, UPROBES_FILE, fcntl(file_fd, F_DUPFD_CLOEXEC, 3));
	parcel_put_u64(&m, set);
	parcel_put_u64(&m, p->multi);
	parcel_put_u64(&m, p->at_return);
	parcel_put_u64(&m, p->counters != NULL);
	parcel_put_u64(&m, p->session);
	parcel_put_u64(&m, p->cnt);
	parcel_put(&m, p->offsets, p->cnt * sizeof(*p->offsets));
	if (p->multi)
		parcel_put(&m, p->cookies, p->cnt * sizeof(*p->cookies));
	if (p->counters)
		parcel_put(&m, p->counters, p->cnt * sizeof(*p->counters));
	err = parcel_send(&m, u->socket);
	parcel_fini(&m);
	u->pending += !err;
	return err;
}

int uprobes__attach(struct uprobes *u, uint32_t set, int file_fd, const struct uprobe_places *p)
{
	int err = 0, rc = 0;

	while (!err && u->pending)
		err = receive(u, 0, &rc);
	if (!err)
		err = send_places(u, set, file_fd, p);
	if (!err)
		err = receive(u, patience_ns(u), &rc);
	return err ? err : rc;
}

void uprobes__detach(struct uprobes *u, uint32_t set)
{
	struct parcel m;

	parcel_init(&m, UPROBES_DETACH);
	parcel_put_u64(&m, set);
	parcel_send(&m, u->socket);
	parcel_fini(&m);
}
