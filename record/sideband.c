/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event of type "dummy" counts nothing but reports mmap, comm, fork and exit. It must be
 * opened on each CPU, and each has its own ring, so the records of one process may lie in several.
 * They are merged by their time stamp:
 *
 *     now = clock; copy all rings to the queue; sort it; hand out what is not younger than `now`
 *
 * A record stamped before `now` was in its ring when the copy began (the kernel stamps and writes
 * it with preemption off), so nothing older can turn up later; what is younger waits for the next
 * round. Record layouts: perf_event_open(2).
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../format/clock.h"
#include "../format/text.h"
#include "sideband.h"

#define RINGS_SZ (16u << 20) /* all CPUs together, at most */
#define RING_MAX_SZ (512u << 10)
#define RING_MIN_SZ (32u << 10)
#define QUEUE_MAX_SZ (64u << 20)
/* sample_id_all with TID|TIME|CPU ends every record: u32 pid, tid; u64 time; u32 cpu, reserved. */
#define TRAILER_SZ 24

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t data_sz, map_sz;
};

struct entry {
	uint64_t ts_ns;
	uint64_t seq; /* keeps the order of equal times */
	size_t off;   /* in the queue's bytes */
	uint32_t len;
};

struct sideband {
	struct ring *ring;
	unsigned ring_cnt;
	int epoll_fd;
	void *ptr;
	uint64_t horizon, seq;
	char *bytes;
	size_t bytes_len, bytes_cap;
	struct entry *entry;
	size_t entry_cnt, entry_cap, next;
	struct sideband_lost lost;
	bool asleep;
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
		if (errno != EPERM && errno != ENOMEM) /* EPERM: beyond perf_event_mlock_kb */
			break;
	}
	return -errno;
}

static int report(int err)
{
	if (err == -EACCES || err == -EPERM)
		message_error(
			"cannot follow processes: perf events of the whole system need CAP_PERFMON "
			"(or root, or sysctl kernel.perf_event_paranoid <= 0)");
	else if (err == -ENOSYS || err == -ENOENT || err == -EOPNOTSUPP)
		message_error("cannot follow processes: the kernel has no perf events "
			      "(CONFIG_PERF_EVENTS)");
	else
		message_error("cannot follow processes: perf event: %s", strerror(-err));
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
		if (err && err != -ENODEV && err != -ENXIO) /* those: the CPU is offline */
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
	free(sb->bytes);
	free(sb->entry);
	free(sb);
}

void sideband__wake(struct sideband *sb, bool on)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = sb->ptr};

	if (sb->asleep == !on || sb->epoll_fd < 0)
		return;
	sb->asleep = !on;
	/* Taken out, not only asked for no events: perf wakes whoever waits, whatever for, and
	 * epoll_wait(2) would look and sleep again for each record. */
	for (unsigned i = 0; i < sb->ring_cnt; i++)
		epoll_ctl(sb->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, sb->ring[i].fd, &ev);
}

/* ---- parsing ---- */

static uint32_t u32_at(const char *p, size_t off)
{
	uint32_t v;

	memcpy(&v, p + off, sizeof(v));
	return v;
}

static uint64_t u64_at(const char *p, size_t off)
{
	uint64_t v;

	memcpy(&v, p + off, sizeof(v));
	return v;
}

/* The NUL-padded text from `off` to the trailer. */
static struct span text_at(const char *p, size_t off, size_t end)
{
	return (struct span){p + off, strnlen(p + off, end - off)};
}

static int parse_mmap2(const char *p, size_t end, struct sideband_record *r)
{
	uint64_t len;

	if (end < 72)
		return -EBADMSG;
	r->pid = u32_at(p, 8);
	r->tid = u32_at(p, 12);
	r->start = u64_at(p, 16);
	len = u64_at(p, 24);
	if (!len || r->start + len < r->start)
		return -EBADMSG;
	r->end = r->start + len;
	r->offset = u64_at(p, 32);
	r->major = u32_at(p, 40);
	r->minor = u32_at(p, 44);
	r->inode = u64_at(p, 48);
	r->generation = u64_at(p, 56);
	r->name = text_at(p, 72, end);
	r->type = SIDEBAND_MMAP;
	return 1;
}

int sideband_parse(const void *rec, size_t len, struct sideband_record *r, uint64_t *lost)
{
	const struct perf_event_header *h = rec; /* aligned to 8, as the kernel writes them */
	const char *p = rec;
	size_t end = len - TRAILER_SZ;

	*r = (struct sideband_record){0};
	if (len < sizeof(*h) + TRAILER_SZ || h->size != len)
		return -EBADMSG;
	r->ts_ns = u64_at(p, end + 8);
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID ? -EBADMSG : parse_mmap2(p, end, r);
	case PERF_RECORD_COMM:
		if (end < 16)
			return -EBADMSG;
		r->type = SIDEBAND_COMM;
		r->pid = u32_at(p, 8);
		r->tid = u32_at(p, 12);
		r->exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;
		r->name = text_at(p, 16, end);
		return 1;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (end < 32)
			return -EBADMSG;
		r->type = h->type == PERF_RECORD_FORK ? SIDEBAND_FORK : SIDEBAND_EXIT;
		r->pid = u32_at(p, 8);
		r->ppid = u32_at(p, 12);
		r->tid = u32_at(p, 16);
		r->ptid = u32_at(p, 20);
		r->ts_ns = u64_at(p, 24);
		return 1;
	case PERF_RECORD_LOST:
		if (end < 24)
			return -EBADMSG;
		*lost += u64_at(p, 16);
		return 0;
	default:
		return 0;
	}
}

/* ---- the queue ---- */

static bool make_room(struct sideband *sb, size_t len)
{
	if (sb->bytes_len + len > QUEUE_MAX_SZ)
		return false;
	if (sb->bytes_len + len > sb->bytes_cap) {
		size_t cap = sb->bytes_cap ? sb->bytes_cap * 2 : 65536;
		char *p = realloc(sb->bytes, cap);

		if (!p)
			return false;
		sb->bytes = p;
		sb->bytes_cap = cap;
	}
	if (sb->entry_cnt == sb->entry_cap) {
		size_t cap = sb->entry_cap ? sb->entry_cap * 2 : 512;
		struct entry *e = realloc(sb->entry, cap * sizeof(*e));

		if (!e)
			return false;
		sb->entry = e;
		sb->entry_cap = cap;
	}
	return true;
}

static void copy_out(const struct ring *r, uint64_t at, char *to, size_t len)
{
	const char *data = (const char *)r->page + r->map_sz - r->data_sz;
	size_t off = at & (r->data_sz - 1), first = r->data_sz - off;

	if (first > len)
		first = len;
	memcpy(to, data + off, first);
	memcpy(to + first, data, len - first);
}

/* Queues one whole record that begins at ring position `at`. */
static void enqueue(struct sideband *sb, const struct ring *ring, uint64_t at, size_t len)
{
	struct sideband_record r;
	char *to;
	int rc;

	if (!make_room(sb, 65536)) { /* the most a record can be */
		sb->lost.queue_full++;
		return;
	}
	/* Aligned, for the header is read in place. */
	sb->bytes_len = (sb->bytes_len + 7) & ~(size_t)7;
	to = sb->bytes + sb->bytes_len;
	copy_out(ring, at, to, len);
	rc = sideband_parse(to, len, &r, &sb->lost.ring_full);
	if (rc < 0)
		sb->lost.malformed++;
	if (rc <= 0)
		return;
	sb->entry[sb->entry_cnt++] = (struct entry){r.ts_ns, sb->seq++, sb->bytes_len, len};
	sb->bytes_len += len;
}

static void read_ring(struct sideband *sb, struct ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE),
		 tail = ring->page->data_tail;

	if (head - tail > ring->data_sz) { /* cannot be; but it would run wild here */
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

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->ts_ns != y->ts_ns)
		return x->ts_ns < y->ts_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Drops what was handed out once it is most of the queue: under steady load the queue is never
 * quite empty. */
static void compact(struct sideband *sb)
{
	size_t left = sb->entry_cnt - sb->next, len = 0, cap = 65536;
	char *fresh;

	if (sb->bytes_len < (1u << 20) || left > sb->next)
		return;
	for (size_t i = sb->next; i < sb->entry_cnt; i++)
		len += (sb->entry[i].len + 7) & ~7u;
	while (cap < len)
		cap *= 2;
	fresh = malloc(cap);
	if (!fresh)
		return;
	len = 0;
	for (size_t i = 0; i < left; i++) {
		struct entry e = sb->entry[sb->next + i];

		memcpy(fresh + len, sb->bytes + e.off, e.len);
		e.off = len;
		len += (e.len + 7) & ~7u;
		sb->entry[i] = e;
	}
	free(sb->bytes);
	sb->bytes = fresh;
	sb->bytes_cap = cap;
	sb->bytes_len = len;
	sb->entry_cnt = left;
	sb->next = 0;
}

void sideband__read(struct sideband *sb)
{
	size_t before;
	uint64_t now = clock_now_ns();

	compact(sb);
	before = sb->entry_cnt;
	for (unsigned i = 0; i < sb->ring_cnt; i++)
		read_ring(sb, &sb->ring[i]);
	sb->horizon = now;
	if (sb->entry_cnt != before)
		qsort(sb->entry + sb->next, sb->entry_cnt - sb->next, sizeof(*sb->entry), by_time);
}

bool sideband__next(struct sideband *sb, struct sideband_record *r)
{
	uint64_t unused = 0;
	const struct entry *e;

	if (sb->next == sb->entry_cnt) { /* all handed out: start over at the front */
		sb->next = sb->entry_cnt = sb->bytes_len = 0;
		return false;
	}
	e = &sb->entry[sb->next];
	if (e->ts_ns > sb->horizon)
		return false;
	sb->next++;
	return sideband_parse(sb->bytes + e->off, e->len, r, &unused) == 1;
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
