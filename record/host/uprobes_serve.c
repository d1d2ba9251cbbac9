/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/base/links.h"
#include "record/host/child.h"
#include "record/host/priority.h"
#include "record/host/privilege.h"
#include "record/host/seccomp.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes_serve.h"

/* Of a uprobe's config: bits 32 to 63 (PERF_UPROBE_REF_CTR_OFFSET_SHIFT). */
enum { PATH_SZ = 32, COUNTER_BIT = 32 };

struct set {
	uint64_t number;
	struct links links;
	struct set *next;
};

struct attacher {
	struct set *sets;
	uint32_t type;	/* of perf events that are uprobes */
	int return_bit; /* of their config */
};

/* ---- one perf event per uprobe: before Linux 6.6 */

static int number_in(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	int n = 0;

	if (!f)
		return 0;
	if (fscanf(f, format, &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* Not a BPF link: before 5.15 there is none for perf events. */
static int attach_one(const struct attacher *a, int prog_fd, const char *path, uint64_t offset,
		      uint64_t counter, bool at_return)
{
	struct perf_event_attr attr = {
		.type = a->type,
		.size = sizeof(attr),
		.config = (at_return ? 1ULL << a->return_bit : 0) | counter << COUNTER_BIT,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) && !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* ---- requests */

static struct set *set_of(struct attacher *a, uint64_t number)
{
	struct set *s = a->sets;

	while (s && s->number != number)
		s = s->next;
	if (s || !(s = calloc(1, sizeof(*s))))
		return s;
	s->number = number;
	s->next = a->sets;
	a->sets = s;
	return s;
}

static int attach_places(const struct attacher *a, struct parcel *m, struct links *links)
{
	bool multi = parcel_get_u64(m), at_return = parcel_get_u64(m);
	bool counted = parcel_get_u64(m), session = parcel_get_u64(m);
	uint64_t cnt = parcel_get_u64(m);
	const uint64_t *offsets = parcel_get_tail(m, cnt, sizeof(*offsets));
	const uint64_t *cookies = multi ? parcel_get_tail(m, cnt, sizeof(*cookies)) : NULL;
	const uint64_t *counters = counted ? parcel_get_tail(m, cnt, sizeof(*counters)) : NULL;
	char path[PATH_SZ];
	int err = m->bad || m->fd[UPROBES_PROGRAM] < 0 || m->fd[UPROBES_FILE] < 0 ? -EBADF : 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", m->fd[UPROBES_FILE]);
	if (!err && multi)
		return links__keep_fd(links,
				      uprobe_multi__attach(m->fd[UPROBES_PROGRAM], path, offsets,
							   cookies, counters, cnt,
							   session     ? UPROBE_MULTI_SESSION
							   : at_return ? UPROBE_MULTI_RETURN
								       : UPROBE_MULTI_ENTRY));
	for (uint64_t i = 0; i < cnt && !err; i++)
		err = links__keep_fd(links, attach_one(a, m->fd[UPROBES_PROGRAM], path, offsets[i],
						       counters ? counters[i] : 0, at_return));
	return err;
}

static int attach(struct attacher *a, struct parcel *m)
{
	struct set *s = set_of(a, parcel_get_u64(m));

	return s ? attach_places(a, m, &s->links) : -ENOMEM;
}

static void detach(struct attacher *a, uint64_t number)
{
	for (struct set **at = &a->sets, *s; (s = *at); at = &s->next) {
		if (s->number != number)
			continue;
		*at = s->next;
		links__let_go(&s->links); /* in another thread: it takes long */
		free(s);
		return;
	}
}

static void detach_all(struct attacher *a)
{
	struct links all = {0};

	for (struct set *s = a->sets; s; s = s->next)
		links__take(&all, &s->links);
	links__fini(&all);
}

/* For perf events kernels of Debian and Ubuntu know levels above 2, where CAP_PERFMON does not
 * suffice; nor does it on kernels (seen: 6.18) where they are not needed, unless asked for. */
static bool needs_admin(bool multi)
{
	return !multi && (number_in("/proc/sys/kernel/perf_event_paranoid", "%d") > 2 ||
			  uprobe_multi__possible(UPROBE_MULTI_ENTRY));
}

static int answer(int socket, int rc)
{
	struct parcel m;

	parcel_init(&m, UPROBES_ATTACH);
	m.rc = rc;
	return parcel_send(&m, socket);
}

static int serve(struct attacher *a, struct parcel *m, int socket)
{
	if (m->kind == UPROBES_ATTACH)
		return answer(socket, attach(a, m));
	detach(a, parcel_get_u64(m));
	return 0;
}

void uprobes_serve(int socket, pid_t parent, bool multi)
{
	struct attacher a = {
		.type = number_in("/sys/bus/event_source/devices/uprobe/type", "%d"),
		.return_bit = number_in("/sys/bus/event_source/devices/uprobe/format/retprobe",
					"config:%d"),
	};
	struct parcel m;
	int err = 0;

	prctl(PR_SET_NAME, "obrec-uprobes");
	child_ignore_signals();
	child_close_all_but(socket, -1);
	priority_raise(0); /* short-lived programs wait for nobody */
	privilege_drop_attacher(needs_admin(multi));
#ifndef __SANITIZE_ADDRESS__
	seccomp_restrict(SECCOMP_ATTACHER);
#endif
	child_end_with(parent);
	while (!err && !parcel_receive(&m, socket, 0)) {
		err = serve(&a, &m, socket);
		parcel_fini(&m);
	}
	detach_all(&a);
	_exit(0);
}
