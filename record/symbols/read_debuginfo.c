/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/elf/binary_image.h"
#include "record/symbols/read_debuginfo.h"

#define BLOCKED_NS 1000000000ULL
enum { LOOK_MS = 50 };

static const char *const symbol_kinds[] = {"dwarf", "symtab", "dynsym", "none"};

/* ---- in the reader ---- */

static void get_string(struct parcel *m, char *to, size_t sz)
{
	struct span s = parcel_get_span(m);

	snprintf(to, sz, "%.*s", (int)(s.len < sz ? s.len : sz - 1), s.p);
}

static void put_member(struct parcel *answer, const struct slim_member *m)
{
	parcel_put_string(answer, m->symbols);
	parcel_put_string(answer, m->why);
	parcel_put_string(answer, m->alt_id);
	parcel_put_u64(answer, m->failed);
	parcel_put_u64(answer, m->sz);
	parcel_put_u64(answer, m->raw_sz);
	parcel_put_fd(answer, 0, m->fd);
}

static void put_alternate(struct parcel *answer, const struct extract_alt *alt)
{
	struct stat st;

	parcel_put_string(answer, alt->id);
	parcel_put_u64(answer, alt->tag);
	parcel_put_u64(answer, alt->fd >= 0 && !fstat(alt->fd, &st) ? st.st_size : 0);
	if (alt->fd < 0)
		return;
	parcel_put_fd(answer, 1, reader_reopen(alt->fd, O_PATH));
	close(alt->fd);
}

/* Frees *last, the array of the previous answer: this process serves one request at a time. */
static void put_array(struct parcel *answer, void *p, size_t cnt, size_t sz, void **last)
{
	free(*last);
	*last = p;
	parcel_put_u64(answer, cnt);
	if (cnt)
		parcel_put_tail(answer, p, cnt * sz);
}

static void put_excerpt(struct parcel *answer, const struct extract_alt *alt)
{
	static void *covered, *missing;

	put_array(answer, alt->covered, alt->covered_cnt, sizeof(*alt->covered), &covered);
	put_array(answer, alt->missing, alt->missing_cnt, sizeof(*alt->missing), &missing);
}

int read_debuginfo_serve(int proc, struct parcel *request, struct parcel *answer)
{
	static const atomic_bool never;
	struct debuginfo_cache cache = {.fd = request->fd[2]};
	struct extract_job job = {.root_fd = request->fd[1], .cache = &cache, .cancel = &never};
	char id[IMAGE_ID_CAP], path[PATH_MAX];
	struct extract_alt alt;
	struct slim_member m;
	int err;

	job.mode = parcel_get_u64(request);
	job.dwarf_max = parcel_get_u64(request);
	job.mem_max = parcel_get_u64(request);
	job.tag = parcel_get_u64(request);
	job.addr_cnt = parcel_get_u64(request);
	parcel_get(request, &cache.key, sizeof(cache.key));
	get_string(request, id, sizeof(id));
	get_string(request, path, sizeof(path));
	if (job.addr_cnt)
		job.addrs = parcel_get_tail(request, job.addr_cnt, sizeof(*job.addrs));
	if (request->bad)
		return -EBADMSG;
	job.id = id;
	job.path = path;
	job.fd = request->fd[0] < 0
			 ? -1
			 : reader_reopen(request->fd[0], O_RDONLY | O_NONBLOCK | O_NOCTTY);
	err = debuginfo_extract(&job, &m, &alt);
	if (job.fd >= 0)
		close(job.fd);
	if (err)
		return err;
	put_member(answer, &m);
	put_alternate(answer, &alt);
	put_excerpt(answer, &alt);
	return 0;
}

/* ---- in obrec ---- */

static int dup_or_none(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static void ask(struct parcel *m, const struct extract_job *job)
{
	parcel_init(m, READING_debuginfo);
	parcel_put_fd(m, 0, dup_or_none(job->fd));
	parcel_put_fd(m, 1, dup_or_none(job->root_fd));
	parcel_put_fd(m, 2, dup_or_none(job->cache->fd));
	parcel_put_u64(m, job->mode);
	parcel_put_u64(m, job->dwarf_max);
	parcel_put_u64(m, job->mem_max);
	parcel_put_u64(m, job->tag);
	parcel_put_u64(m, job->addr_cnt);
	parcel_put(m, &job->cache->key, sizeof(job->cache->key));
	parcel_put_string(m, job->id);
	parcel_put_string(m, job->path);
	if (job->addr_cnt)
		parcel_put_tail(m, job->addrs, job->addr_cnt * sizeof(*job->addrs));
}

/* Takes as many entries as memory allows; missing ones are requested again. */
static void *take_array(struct parcel *answer, size_t *cnt, size_t sz)
{
	const void *p = *cnt ? parcel_get_tail(answer, *cnt, sz) : NULL;
	void *copy = p ? malloc(*cnt * sz) : NULL;

	if (!copy)
		*cnt = 0;
	return copy ? memcpy(copy, p, *cnt * sz) : NULL;
}

/* Arrays follow all other fields. */
static void take_excerpt(struct parcel *answer, struct extract_alt *alt)
{
	alt->covered_cnt = parcel_get_u64(answer);
	alt->missing_cnt = parcel_get_u64(answer);
	alt->covered = take_array(answer, &alt->covered_cnt, sizeof(*alt->covered));
	alt->missing = take_array(answer, &alt->missing_cnt, sizeof(*alt->missing));
}

static const char *known_kind(struct span s)
{
	for (size_t i = 0; i < sizeof(symbol_kinds) / sizeof(symbol_kinds[0]); i++)
		if (s.len == strlen(symbol_kinds[i]) && !memcmp(s.p, symbol_kinds[i], s.len))
			return symbol_kinds[i];
	return "none";
}

static void take(struct parcel *answer, struct slim_member *m, struct extract_alt *alt)
{
	m->symbols = known_kind(parcel_get_span(answer));
	get_string(answer, m->why, sizeof(m->why));
	get_string(answer, m->alt_id, sizeof(m->alt_id));
	m->failed = parcel_get_u64(answer);
	m->sz = parcel_get_u64(answer);
	m->raw_sz = parcel_get_u64(answer);
	get_string(answer, alt->id, sizeof(alt->id));
	alt->tag = parcel_get_u64(answer);
	alt->file_sz = parcel_get_u64(answer);
	m->fd = parcel_take_fd(answer, 0);
	alt->fd = parcel_take_fd(answer, 1);
	take_excerpt(answer, alt);
}

static void say(struct slim_member *m, const char *why)
{
	*m = (struct slim_member){.fd = -1, .symbols = "none", .failed = true};
	snprintf(m->why, sizeof(m->why), "%s", why);
}

/* Returns 0 when the reader has answered. A reader that had a CPU available but used none for a
 * while is blocked. */
static int await(struct extractor *x, const atomic_bool *cancel)
{
	struct pollfd fd = {.fd = x->reader.socket, .events = POLLIN};
	uint64_t cpu_ns = 0, blocked_ns = 0;

	while (poll(&fd, 1, LOOK_MS) <= 0) {
		struct reader_use use = reader_use(&x->reader);

		if (use.cpu_ns != cpu_ns)
			blocked_ns = use.blocked_ns;
		cpu_ns = use.cpu_ns;
		if (atomic_load(cancel)) {
			x->timed_out += use.blocked_ns > blocked_ns + BLOCKED_NS / 4;
			return -ECANCELED;
		}
		if (use.blocked_ns > blocked_ns + BLOCKED_NS)
			return -ETIMEDOUT;
	}
	return 0;
}

static int start(struct extractor *x)
{
	int err;

	if (atomic_load(&x->pid))
		return 0;
	err = reader_start(&x->reader, x->nursery);
	if (err)
		return err;
	atomic_store(&x->pid, x->reader.pid);
	extractor__set_idle(x, x->idle);
	return 0;
}

int extractor__run(struct extractor *x, const struct extract_job *job, struct slim_member *m,
		   struct extract_alt *alt)
{
	struct parcel message;
	int err = start(x);

	*alt = (struct extract_alt){.fd = -1};
	if (!err) {
		ask(&message, job);
		err = reader_send(&x->reader, &message);
		parcel_fini(&message);
	}
	if (!err)
		err = await(x, job->cancel);
	if (!err)
		err = parcel_receive(&message, x->reader.socket, 0);
	if (err) {
		extractor__end(x);
		if (err == -ECANCELED)
			return err;
		x->timed_out += err == -ETIMEDOUT;
		say(m, err == -ETIMEDOUT ? "reading the file timed out"
					 : "the reader process failed on the file");
		return 0;
	}
	*m = (struct slim_member){.fd = -1, .symbols = "none"};
	err = message.rc;
	if (err)
		say(m, strerror(-err));
	else
		take(&message, m, alt);
	parcel_fini(&message);
	return 0;
}

void extractor__end(struct extractor *x)
{
	if (atomic_exchange(&x->pid, 0))
		reader_end(&x->reader, NULL);
}

#define IOPRIO_IDLE (3 << 13)
bool extractor__set_idle(struct extractor *x, bool idle)
{
	pid_t pid = atomic_load(&x->pid);
	struct sched_param param = {0};

	x->idle = idle;
	if (!pid)
		return true;
	syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, pid, idle ? IOPRIO_IDLE : 0);
	return !sched_setscheduler(pid, idle ? SCHED_IDLE : SCHED_OTHER, &param);
}
