/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fakes of the modules that the tracker calls. They log their calls: records as lines of text,
 * published ranges by process, tables built, debuginfo wanted. Included by one test program each.
 */
#ifndef TESTS_RECORD_FAKES_H
#define TESTS_RECORD_FAKES_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"
#include "record/symbols/debuginfo.h"
#include "record/process/process.h"
#include "record/reader/readers.h"

/* ---- reader processes: real ones, of the test's own program ---- */

static struct nursery *fake_nursery;
static struct readers *fake_readers;

static inline void fake_readers_free(void)
{
	readers__free(fake_readers);
	fake_readers = NULL;
}

/* Creates new readers to replace those of a tracker that has ended, with long timeouts for busy
 * machines. The nursery already exists. */
static inline struct readers *fake_readers_new(void)
{
	fake_readers_free();
	if (readers__new(&fake_readers, fake_nursery))
		exit(1);
	readers__set_mood(fake_readers, READERS_PATIENT);
	return fake_readers;
}

#define FAKE_STORE ((struct unwind_store *)16)
#define FAKE_WRITER ((struct obz_writer *)16)
#define FAKE_DEBUGINFO ((struct debuginfo *)16)

static char *fake_line[20000];
static size_t fake_lines;

static void fake_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (fake_lines < sizeof(fake_line) / sizeof(*fake_line) &&
	    vasprintf(&fake_line[fake_lines], fmt, ap) >= 0)
		fake_lines++;
	va_end(ap);
}

/* Number of lines since `from` that contain both texts. */
static inline size_t fake_count(size_t from, const char *a, const char *b)
{
	size_t n = 0;

	for (size_t i = from; i < fake_lines; i++)
		n += strstr(fake_line[i], a) && strstr(fake_line[i], b);
	return n;
}

static inline const char *fake_find(size_t from, const char *a, const char *b)
{
	for (size_t i = from; i < fake_lines; i++)
		if (strstr(fake_line[i], a) && strstr(fake_line[i], b))
			return fake_line[i];
	return "";
}

static inline void fake_dump(size_t from)
{
	for (size_t i = from; i < fake_lines; i++)
		printf("  %s\n", fake_line[i]);
}

static inline void fake_reset(void)
{
	while (fake_lines)
		free(fake_line[--fake_lines]);
}

#define S(s) (int)(s).len, (s).p

int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	if (kind == REC_process) {
		const struct rec_process *r = rec;

		fake_log("process %u pid=%u ppid=%u ns=%u comm=%.*s exe=%.*s cmd=%.*s cgroup=%.*s "
			 "container=%.*s netns=%llu started=%llu",
			 r->id, r->pid, r->ppid, r->ns_pid, S(r->comm), S(r->exe), S(r->cmdline),
			 S(r->cgroup), S(r->container_id), (unsigned long long)r->netns,
			 (unsigned long long)r->started_ns);
	} else if (kind == REC_process_exit) {
		fake_log("exit %u at=%llu", ((const struct rec_process_exit *)rec)->process,
			 (unsigned long long)((const struct rec_process_exit *)rec)->exited_ns);
	} else if (kind == REC_thread) {
		const struct rec_thread *r = rec;

		fake_log("thread %u process=%u tid=%u comm=%.*s", r->id, r->process, r->tid,
			 S(r->comm));
	} else if (kind == REC_label) {
		const struct rec_label *r = rec;

		fake_log("label process=%u %.*s=%.*s", r->process, S(r->key), S(r->value));
	} else if (kind == REC_binary) {
		const struct rec_binary *r = rec;

		fake_log("binary %u id=%.*s path=%.*s size=%llu", r->id, S(r->build_id), S(r->path),
			 (unsigned long long)r->size);
	} else if (kind == REC_mapping) {
		const struct rec_mapping *r = rec;

		fake_log("mapping process=%u %llx-%llx+%llx binary=%u", r->process,
			 (unsigned long long)r->start, (unsigned long long)r->end,
			 (unsigned long long)r->offset, r->binary);
	} else if (kind == REC_debuginfo) {
		const struct rec_debuginfo *r = rec;

		fake_log("debuginfo %u symbols=%.*s why=%.*s", r->binary, S(r->symbols), S(r->why));
	} else if (kind == REC_symbol) {
		const struct rec_symbol *r = rec;

		fake_log("symbol binary=%u %llx+%llx %.*s", r->binary,
			 (unsigned long long)r->address, (unsigned long long)r->size, S(r->name));
	}
	return 0;
}

void debuginfo__hit(struct debuginfo *d, uint32_t binary, uint64_t addr)
{
}

int debuginfo__want(struct debuginfo *d, uint32_t binary, int fd, uint64_t file_sz, int root_fd,
		    const char *path, const char *id_hex)
{
	char magic[4] = "", self[40];
	int own;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	own = open(self, O_RDONLY | O_CLOEXEC);
	fake_log("want %u path=%s id=%s elf=%d root=%d", binary, path, id_hex,
		 file_sz > 4 && pread(own, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4),
		 root_fd >= 0);
	close(own);
	return 0;
}

/* ---- unwind data: each table has one row; page0 counts them ---- */

static unsigned fake_tables, fake_dropped;

int unwind_table__build(Elf *elf, int fd, uint64_t room, struct unwind_table *t)
{
	*t = (struct unwind_table){.row_cnt = 1, .rule_cnt = 1};
	t->rows = calloc(1, sizeof(*t->rows));
	t->rules = calloc(1, sizeof(*t->rules));
	return 0;
}

void unwind_table__fini(struct unwind_table *t)
{
	free(t->rows);
	free(t->rules);
	t->rows = NULL;
	t->rules = NULL;
}

int unwind_store__add(struct unwind_store *s, const struct unwind_table *t, struct unwind_place *at)
{
	*at = (struct unwind_place){.page0 = ++fake_tables, .cnt = 1};
	return 0;
}

void unwind_store__drop(struct unwind_store *s, const struct unwind_place *at)
{
	fake_dropped += at->cnt;
}

#define FAKE_PIDS (1u << 22)
struct fake_proc {
	uint32_t flags, jit;
	size_t cnt;
	struct range *range;
};
static struct fake_proc *fake_proc[FAKE_PIDS];

int unwind_store__remove(struct unwind_store *s, uint32_t tgid)
{
	struct fake_proc *p = fake_proc[tgid];

	if (p) {
		free(p->range);
		free(p);
	}
	fake_proc[tgid] = NULL;
	return 0;
}

int unwind_store__publish(struct unwind_store *s, uint32_t tgid, uint32_t flags,
			  uint32_t jit_binary, const struct range *ranges, size_t cnt)
{
	struct fake_proc *p = calloc(1, sizeof(*p));

	unwind_store__remove(s, tgid);
	*p = (struct fake_proc){flags, jit_binary, cnt, calloc(cnt + 1, sizeof(*ranges))};
	if (cnt)
		memcpy(p->range, ranges, cnt * sizeof(*ranges));
	for (size_t i = 1; i < cnt; i++)
		if (ranges[i].start < ranges[i - 1].end)
			fake_log("BAD ranges of %u overlap or are not sorted", tgid);
	fake_proc[tgid] = p;
	return 0;
}

static uint32_t fake_bystander; /* the kernel side has not taken it for a target */

bool unwind_store__has_target(const struct unwind_store *s, uint32_t tgid)
{
	return tgid != fake_bystander;
}

void unwind_store__reclaim(struct unwind_store *s, uint64_t now_ns)
{
}

static inline const struct range *fake_range(uint32_t tgid, uint64_t address)
{
	struct fake_proc *p = fake_proc[tgid];

	for (size_t i = 0; p && i < p->cnt; i++)
		if (p->range[i].start <= address && address < p->range[i].end)
			return &p->range[i];
	return NULL;
}

static inline void fake_loss(void *ctx, const char *source, const char *cause, uint64_t count)
{
	fake_log("loss %s: %s: %llu", source, cause, (unsigned long long)count);
}

static inline void fake_free(void)
{
	for (uint32_t i = 0; i < FAKE_PIDS; i++)
		unwind_store__remove(NULL, i);
	fake_reset();
}

#endif
