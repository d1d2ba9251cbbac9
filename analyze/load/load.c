/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chunks are decoded by several threads but passed to the loaders one at a time and in archive
 * order: the thread that decoded chunk N waits until chunk N-1 was taken. So the result does not
 * depend on timing, loaders need no locks, and memory holds one chunk per thread.
 */
#include "analyze/load/load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "format/record.h"
#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"
#include "analyze/load/event_tables.h"
#include "analyze/load/threads.h"
#include "analyze/base/progress.h"

static const struct loader *const loaders[] = {
#define LOADER(name) &load_##name##_entry,
#include "analyze/load/loaders.def"
#undef LOADER
};
#define LOADER_CNT (sizeof(loaders) / sizeof(*loaders))
#define MAX_JOBS 16 /* each holds a decoded chunk, and loaders run one at a time */
#define NSEC 1000000000ull

struct job {
	uint32_t capture, meter;
	const struct obz_member *member;
};

/* Remaining budget of one stream of one archive (load_budget.h). */
struct meter {
	uint64_t left;
	atomic_bool spent;
};

struct run {
	struct load *load;
	void *state[LOADER_CNT];
	bool active[LOADER_CNT];
	struct job *jobs;
	size_t cnt, cap;
	struct meter *meters; /* by stream and capture */
	size_t meter_cnt, meter_cap;
	atomic_size_t next;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	size_t turn; /* chunk whose turn it is */
	int err;
	struct progress progress;
};

static bool lists(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

/* Streams in the order of the loaders' lists: identity records come before records that refer to
 * them. */
static int add_jobs(struct run *r, const char *stream)
{
	for (uint32_t c = 0; c < r->load->captures->cnt; c++) {
		size_t cnt;
		const struct obz_member *m =
			obz_reader__members(r->load->captures->v[c].reader, &cnt);
		struct meter *meter;

		if (array_reserve(&r->meters, &r->meter_cap, r->meter_cnt + 1))
			return -ENOMEM;
		meter = &r->meters[r->meter_cnt++];
		*meter = (struct meter){.left = BUDGET_ROWS};
		for (size_t i = 0; i < cnt; i++) {
			if (!capture_streams(&m[i], stream))
				continue;
			if (array_reserve(&r->jobs, &r->cap, r->cnt + 1))
				return -ENOMEM;
			r->jobs[r->cnt++] = (struct job){c, r->meter_cnt - 1, &m[i]};
			meter->left += BUDGET_ROWS_PER_BYTE * obz_member_size(&m[i]);
			r->progress.total += m[i].sz;
		}
	}
	return 0;
}

static int list_jobs(struct run *r)
{
	const char *done[32];
	size_t done_cnt = 0;

	for (size_t i = 0; i < LOADER_CNT; i++)
		for (const char *const *s = loaders[i]->streams; r->active[i] && *s; s++) {
			bool again = false;

			for (size_t k = 0; k < done_cnt; k++)
				again |= !strcmp(done[k], *s);
			if (again || done_cnt == 32)
				continue;
			done[done_cnt++] = *s;
			if (add_jobs(r, *s))
				return -ENOMEM;
		}
	return 0;
}

struct taker {
	struct run *run;
	size_t job;
	bool mine;
};

static void await_turn(struct taker *t)
{
	struct run *r = t->run;

	if (t->mine)
		return;
	pthread_mutex_lock(&r->lock);
	while (r->turn != t->job)
		pthread_cond_wait(&r->turned, &r->lock);
	pthread_mutex_unlock(&r->lock);
	t->mine = true;
}

static void pass_turn(struct taker *t)
{
	struct run *r = t->run;

	progress_step(&r->progress, r->jobs[t->job].member->sz);
	pthread_mutex_lock(&r->lock);
	r->turn++;
	pthread_cond_broadcast(&r->turned);
	pthread_mutex_unlock(&r->lock);
}

/* Cost of a row, counting text and lists as additional rows. */
static uint64_t cost_of(const struct rec_info *info, const uint8_t *row)
{
	uint64_t text = 0, items = 0;

	for (unsigned i = 0; i < info->field_cnt; i++) {
		const void *field = row + info->fields[i].offset;

		if (info->fields[i].type == REC_T_str)
			text += ((const struct span *)field)->len;
		else if (info->fields[i].type == REC_T_list)
			items += ((const struct u64_span *)field)->len;
	}
	return 1 + text / BUDGET_TEXT + items / BUDGET_ITEMS;
}

/* Number of rows that the stream's budget allows. */
static size_t afford(struct meter *m, const struct rec_info *info, const uint8_t *rows, size_t cnt)
{
	size_t n = 0;

	for (; n < cnt && !m->spent; n++) {
		uint64_t cost = cost_of(info, rows + n * info->sz);

		m->spent = cost > m->left;
		if (m->spent)
			break;
		m->left -= cost;
	}
	return n;
}

static int take_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	struct taker *t = arg;
	struct run *r = t->run;
	const struct job *job = &r->jobs[t->job];
	size_t allowed;

	await_turn(t);
	allowed = afford(&r->meters[job->meter],
			 obz_reader__info(r->load->captures->v[job->capture].reader, kind), rows,
			 cnt);
	r->load->captures->v[job->capture].budget.rows_left_out += cnt - allowed;
	if (!allowed)
		return 0;
	if ((int)kind == REC_thread)
		r->err = overlap__threads(r->load->overlap, job->capture, rows, allowed);
	for (size_t i = 0; i < LOADER_CNT && !r->err; i++)
		if (r->active[i] && lists(loaders[i]->streams, job->member->stream))
			r->err = loaders[i]->rows(r->load, r->state[i], job->capture, kind, rows,
						  allowed);
	return r->err;
}

/* Only counts the rows of a chunk whose stream is over its budget. */
static void leave_out(struct run *r, const struct job *job)
{
	struct capture *c = &r->load->captures->v[job->capture];
	struct obz_chunk_info ci;

	if (!obz_reader__chunk_info(c->reader, job->member, &ci))
		c->budget.rows_left_out += ci.records;
}

static void *decode_chunks(void *arg)
{
	struct run *r = arg;

	for (;;) {
		struct taker t = {r, atomic_fetch_add(&r->next, 1), false};
		const struct job *job;
		bool spent;
		int err = 0;

		if (t.job >= r->cnt)
			return NULL;
		job = &r->jobs[t.job];
		/* A damaged chunk is counted by the reader. Rows decoded before the damage were
		 * loaded. */
		spent = r->meters[job->meter].spent;
		if (!spent)
			err = obz_reader__decode(r->load->captures->v[job->capture].reader,
						 job->member, take_rows, &t);
		await_turn(&t);
		if (err == -ENOMEM && !r->err)
			r->err = err;
		if (spent)
			leave_out(r, job);
		pass_turn(&t);
	}
}

static int decode_all(struct run *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t want = r->load->opts.jobs ? r->load->opts.jobs : cpus > 0 ? cpus : 1, started = 0;
	pthread_t threads[MAX_JOBS];

	if (want > MAX_JOBS)
		want = MAX_JOBS;
	if (want > r->cnt)
		want = r->cnt;
	while (started + 1 < want && !pthread_create(&threads[started], NULL, decode_chunks, r))
		started++;
	decode_chunks(r); /* this thread takes part */
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	progress_done(&r->progress);
	return r->err;
}

/* Selects the kinds of --kind among the known ones. */
static int choose_kinds(struct load *l, const char *list)
{
	struct strbuf known = {0};
	size_t len;

	for (const char *p = list; *p; p += len + (p[len] == ',')) {
		unsigned number;
		int index;

		len = strcspn(p, ",");
		index = sample_kinds__find(l->kinds, p, len);
		if (index < 0 && sscanf(p, "kind-%u", &number) == 1) /* a kind without a name */
			index = sample_kinds__index(l->kinds, UINT32_MAX, number);
		if (index >= 0) {
			l->opts.kinds |= 1ull << index;
			continue;
		}
		for (size_t i = 0; i < sample_kinds__cnt(l->kinds); i++)
			strbuf_addf(&known, " %s", sample_kinds__get(l->kinds, i)->name);
		message_error("--kind: '%.*s' is not a sample kind; kinds:%s", (int)len, p,
			      known.p ? known.p : "");
		strbuf_fini(&known);
		return -EINVAL;
	}
	return 0;
}

int load__init(struct load *l, struct captures *captures, struct store *store,
	       const struct load_opts *opts)
{
	int err;

	index_seed = intern_seed();
	*l = (struct load){.captures = captures, .store = store, .opts = *opts};
	err = strings__new(&l->strings);
	if (!err)
		err = binaries__new(&l->binaries, l->strings);
	if (!err)
		err = stacks__new(&l->stacks);
	if (!err)
		err = frames__new(&l->frames, l->strings, l->binaries);
	if (!err)
		err = weights__new(&l->weights);
	if (!err)
		err = sample_kinds__new(&l->kinds);
	for (size_t i = 0; i < captures->cnt && !err; i++)
		err = sample_kinds__schema(l->kinds, i, obz_reader__schema(captures->v[i].reader));
	if (!err)
		err = overlap__new(&l->overlap, captures);
	if (!err)
		err = event_tables__new(&l->events, captures, store);
	if (!err && opts->wakers && opts->kind_list_cnt) {
		message_error("--wakers shows off-CPU waits: use it without --kind");
		err = -EINVAL;
	}
	for (size_t i = 0; i < opts->kind_list_cnt && !err; i++)
		err = choose_kinds(l, opts->kind_lists[i]);
	if (err)
		load__fini(l);
	return err;
}

void load__fini(struct load *l)
{
	sample_kinds__free(l->kinds);
	event_tables__free(l->events);
	weights__free(l->weights);
	frames__free(l->frames);
	stacks__free(l->stacks);
	binaries__free(l->binaries);
	threads__free(l->threads);
	overlap__free(l->overlap);
	free(l->cuts);
	strings__free(l->strings);
	name_set_fini(&l->wanted);
	*l = (struct load){0};
}

bool load__wants(const struct load *l, const char *table)
{
	return name_set_has(&l->wanted, table);
}

static bool is_wanted(const struct load *l, const struct loader *loader)
{
	for (const char *const *t = loader->tables; *t; t++)
		if (load__wants(l, *t))
			return true;
	if (loader->wanted && loader->wanted(l))
		return true;
	return l->opts.weights && loader == &load_profile_entry;
}

/* A moment in CLOCK_REALTIME for one capture. */
static uint64_t moment_ns(const struct moment *m, const struct capture *c)
{
	time_t start = c->started_ns / NSEC;
	struct tm day;

	if (m->relative)
		return c->started_ns + m->ns;
	if (!m->of_day || !localtime_r(&start, &day))
		return m->ns;
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return (uint64_t)mktime(&day) * NSEC + m->ns;
}

void load__span(const struct load *l, size_t capture, uint64_t span[2])
{
	const struct capture *c = &l->captures->v[capture];

	span[0] = l->opts.from.set ? moment_ns(&l->opts.from, c) : 0;
	span[1] = l->opts.to.set ? moment_ns(&l->opts.to, c) : UINT64_MAX;
}

/* Adds the tables that the wanted loaders read. */
static int add_needs(struct load *l)
{
	int err = 0;

	for (size_t i = 0; i < LOADER_CNT && !err; i++)
		if (loaders[i]->needs && is_wanted(l, loaders[i]))
			err = name_set_add_all(&l->wanted, loaders[i]->needs);
	for (size_t i = 0; i < LOADER_CNT && !err; i++)
		if (loaders[i]->need && is_wanted(l, loaders[i]))
			err = loaders[i]->need(l);
	return err;
}

int load__run(struct load *l)
{
	struct run r = {
		.load = l, .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};
	int err = add_needs(l);

	progress_init(&r.progress, "loading");
	for (size_t i = 0; i < LOADER_CNT && !err; i++) {
		r.active[i] = is_wanted(l, loaders[i]);
		if (r.active[i])
			err = loaders[i]->begin(l, &r.state[i]);
	}
	if (!err)
		err = list_jobs(&r);
	if (!err)
		err = decode_all(&r);
	if (err == LOAD_ENOUGH)
		err = 0;
	for (size_t i = 0; i < LOADER_CNT && !err; i++)
		if (r.active[i])
			err = loaders[i]->finish(l, r.state[i]);
	for (size_t i = 0; i < LOADER_CNT; i++)
		if (r.active[i])
			loaders[i]->free(r.state[i]);
	free(r.jobs);
	free(r.meters);
	if (err && err != -EIO) /* the store has already reported */
		message_error("loading: %s", strerror(-err));
	return err;
}
