/* SPDX-License-Identifier: BSD-2-Clause */
/* Parser for one perf side-band record; layouts: perf_event_open(2). */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "record/process/sideband.h"

/* sample_id_all with TID|TIME|CPU ends every record: u32 pid, tid; u64 time; u32 cpu, reserved. */
#define TRAILER_SZ 24

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

/* Returns the NUL-padded text from `off` to the trailer. */
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
