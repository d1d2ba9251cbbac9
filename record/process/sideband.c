/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event of type "dummy" counts nothing but reports mmap, comm, fork and exit. It must be
 * opened on each CPU, each with its own ring, so the records of one process may be in several
 * rings. They are merged by time stamp:
 *
 *     now = clock; copy all rings to the queue; sort it; return records not newer than `now`
 *
 * A record with a time stamp before `now` was in its ring when the copy began (the kernel stamps
 * and writes it with preemption disabled), so no older record can arrive later. Newer records wait
 * for the next round. Record layouts: perf_event_open(2).
 */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/features.h"
#include "record/process/sideband.h"
#include "record/process/sideband_queue.h"

#define RINGS_SZ (16u << 20) /* limit for all CPUs together */
#define RING_MAX_SZ (512u << 10)
#define RING_MIN_SZ (32u << 10)

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t data_sz, map_sz;
};

struct sideband {
	struct ring *ring;
	unsigned ring_cnt;
	int epoll_fd;
	void *ptr;
	uint64_t horizon;
	struct sideband_queue queue;
	struct sideband_lost lost;
	bool asleep;
	char name[PATH_MAX]; /* of the record returned last */
};

/* ---- opening ---- */

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int map_ring(struct ring *r, size_t data_sz)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (; data_sz >= RING_MIN_SZ && data_sz >= page; data_sz /= 2) {
		void *p = mmap(NULL, page + data_sz, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);

		if (p != MAP_FAILED) {
			r->page = p;
			r->data_sz = data_sz;
			r->map_sz = page + data_sz;
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM) /* EPERM: above perf_event_mlock_kb */
			break;
	}
	return -errno;
}

static int report(int err)
{
	char why[256] = "the kernel has no perf events (CONFIG_PERF_EVENTS)";

	if (err != -ENOSYS && err != -ENOENT && err != -EOPNOTSUPP)
		features_explain_perf(err, why, sizeof(why));
	message_error("cannot follow processes: %s", why);
	return err == -EACCES ? -EPERM : err == -ENOSYS || err == -ENOENT ? -EOPNOTSUPP : err;
}

static int add_cpu(struct sideband *sb, int cpu, size_t data_sz)
{
	struct ring *r = &sb->ring[sb->ring_cnt];
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = sb->ptr};
	int err;

	r->fd = open_event(cpu);
	if (r->fd < 0)
		return r->fd;
	err = map_ring(r, data_sz);
	if (!err && sb->epoll_fd >= 0 && epoll_ctl(sb->epoll_fd, EPOLL_CTL_ADD, r->fd, &ev))
		err = -errno;
	if (err) {
		if (r->page)
			munmap(r->page, r->map_sz);
		close(r->fd);
		*r = (struct ring){0};
		return err;
	}
	sb->ring_cnt++;
	return 0;
}

int sideband__open(struct sideband **out, int epoll_fd, void *ptr)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sideband *sb = calloc(1, sizeof(*sb));
	size_t data_sz = RING_MAX_SZ;
	int err = 0;

	if (sb)
		sb->ring = calloc(cpus, sizeof(*sb->ring));
	if (!sb || !sb->ring) {
		free(sb);
		return -ENOMEM;
	}
	sb->epoll_fd = epoll_fd;
	sb->ptr = ptr;
	while (data_sz > RING_MIN_SZ && data_sz * cpus > RINGS_SZ)
		data_sz /= 2;
	for (int cpu = 0; cpu < cpus; cpu++) {
		err = add_cpu(sb, cpu, data_sz);
		if (err && err != -ENODEV && err != -ENXIO) /* these mean that the CPU is offline */
			break;
		err = 0;
	}
	if (!err && !sb->ring_cnt)
		err = -EOPNOTSUPP;
	if (err) {
		sideband__close(sb);
		return report(err);
	}
	*out = sb;
	return 0;
}

void sideband__close(struct sideband *sb)
{
	if (!sb)
		return;
	for (unsigned i = 0; i < sb->ring_cnt; i++) {
		munmap(sb->ring[i].page, sb->ring[i].map_sz);
		close(sb->ring[i].fd);
	}
	free(sb->ring);
	sideband_queue_fini(&sb->queue);
	free(sb);
}

void sideband__wake(struct sideband *sb, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = sb->ptr};

	if (sb->asleep == !on || sb->epoll_fd < 0)
		return;
	sb->asleep = !on;
	/* Remove the descriptors instead of clearing their events: perf wakes all waiters in any
	 * case, and epoll_wait(2) would check and sleep again for each record. */
	for (unsigned i = 0; i < sb->ring_cnt; i++)
		epoll_ctl(sb->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, sb->ring[i].fd, &ev);
}

/* ---- reading ---- */

static void copy_out(const struct ring *r, uint64_t at, char *to, size_t len)
{
	const char *data = (const char *)r->page + r->map_sz - r->data_sz;
	size_t off = at & (r->data_sz - 1), first = r->data_sz - off;

	if (first > len)
		first = len;
	memcpy(to, data + off, first);
	memcpy(to + first, data, len - first);
}

/* Queues one complete record at ring position `at`. */
static void enqueue(struct sideband *sb, const struct ring *ring, uint64_t at, size_t len)
{
	struct sideband_record r;
	char *to = sideband_queue_room(&sb->queue);
	int rc;

	if (!to) {
		sb->lost.queue_full++;
		return;
	}
	copy_out(ring, at, to, len);
	rc = sideband_parse(to, len, &r, &sb->lost.ring_full);
	if (rc < 0)
		sb->lost.malformed++;
	if (rc > 0)
		sideband_queue_add(&sb->queue, r.ts_ns, len);
}

static void read_ring(struct sideband *sb, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
		 tail = ring->page->data_tail;

	if (head - tail > ring->data_sz) { /* should not happen; prevents reading out of bounds */
		sb->lost.malformed++;
		tail = head;
	}
	while (tail != head) {
		struct perf_event_header h;

		if (head - tail >= sizeof(h))
			copy_out(ring, tail, (char *)&h, sizeof(h));
		if (head - tail < sizeof(h) || h.size < sizeof(h) || h.size > head - tail) {
			sb->lost.malformed++;
			tail = head;
			break;
		}
		enqueue(sb, ring, tail, h.size);
		tail += h.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

void sideband__read(struct sideband *sb)
{
	uint64_t now = clock_now_ns();

	sideband_queue_compact(&sb->queue);
	for (unsigned i = 0; i < sb->ring_cnt; i++)
		read_ring(sb, &sb->ring[i]);
	sb->horizon = now;
	sideband_queue_sort(&sb->queue);
}

bool sideband__next(struct sideband *sb, struct sideband_record *r)
{
	uint64_t unused = 0;
	size_t len;
	const char *rec = sideband_queue_next(&sb->queue, sb->horizon, &len);

	if (!rec || sideband_parse(rec, len, r, &unused) != 1)
		return false;
	/* The next read moves the queue. */
	if (r->name.len > sizeof(sb->name))
		r->name.len = sizeof(sb->name);
	if (r->name.len)
		memcpy(sb->name, r->name.p, r->name.len);
	r->name.p = sb->name;
	return true;
}

uint64_t sideband__horizon(const struct sideband *sb)
{
	return sb->horizon;
}

struct sideband_lost sideband__lost(struct sideband *sb)
{
	struct sideband_lost lost = sb->lost;

	sb->lost = (struct sideband_lost){0};
	return lost;
}
