/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decoded chunks are passed to the loaders in turns, see chunks.h. A loader may take one of its
 * streams apart, beside those of the others: it then writes no table meanwhile, because the
 * database is used by one thread at a time.
 */
#include "analyze/load/load.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "format/record.h"
#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"
#include "analyze/load/chunks.h"
#include "analyze/load/event_tables.h"
#include "analyze/load/threads.h"
#include "analyze/base/progress.h"

static const struct loader *const loaders[] = {
#define LOADER(name) &load_##name##_entry,
#include "analyze/load/loaders.def"
#undef LOADER
};
#define LOADER_CNT (sizeof(loaders) / sizeof(*loaders))
#define NSEC 1000000000ull

/* Remaining budget of one stream of one archive (load_budget.h). */
struct meter {
	uint64_t left;
	atomic_bool spent;
};

struct run {
	struct load *load;
	struct chunks *chunks;
	void *state[LOADER_CNT];
	bool active[LOADER_CNT], finished[LOADER_CNT];
	const struct loader *apart; /* NULL: none */
	struct meter *meters;	    /* by stream and capture */
	size_t meter_cnt, meter_cap;
	int err[LANE_CNT];
	struct progress progress;
};

static bool lists(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (!strcmp(*names, name))
			return true;
	return false;
}

static int add_stream(struct run *r, const char *stream, enum lane lane)
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
			const struct chunk chunk = {c, r->meter_cnt - 1, &m[i]};

			if (!capture_streams(&m[i], stream))
				continue;
			if (chunks__add(r->chunks, lane, &chunk))
				return -ENOMEM;
			meter->left += BUDGET_ROWS_PER_BYTE * obz_member_size(&m[i]);
			r->progress.total += m[i].sz;
		}
	}
	return 0;
}

static bool is_apart(const struct run *r, const char *stream)
{
	return r->apart && !strcmp(r->apart->apart, stream);
}

/* Adds the streams of one loader that are not in the list of those added. */
static int add_loader(struct run *r, const struct loader *l, const char *done[32], size_t *done_cnt)
{
	int err = 0;

	for (const char *const *s = l->streams; *s && !err; s++) {
		bool again = is_apart(r, *s) || *done_cnt == 32;

		for (size_t k = 0; k < *done_cnt; k++)
			again |= !strcmp(done[k], *s);
		if (again)
			continue;
		done[(*done_cnt)++] = *s;
		err = add_stream(r, *s, LANE_MAIN);
	}
	return err;
}

/* Streams in the order of the loaders' lists: identity records come before records that refer to
 * them. Those of a loader that takes one apart come right after identity. */
static int list_chunks(struct run *r)
{
	const char *done[32];
	size_t done_cnt = 0;
	int err = r->active[0] ? add_loader(r, loaders[0], done, &done_cnt) : 0;

	if (!err && r->apart)
		err = add_loader(r, r->apart, done, &done_cnt);
	chunks__start_apart(r->chunks);
	for (size_t i = 1; i < LOADER_CNT && !err; i++)
		if (r->active[i])
			err = add_loader(r, loaders[i], done, &done_cnt);
	if (!err && r->apart)
		err = add_stream(r, r->apart->apart, LANE_APART);
	return err;
}

/* Offsets of a record's fields of one type. Returns their number. */
static unsigned fields_of(const struct rec_info *info, enum rec_type type,
			  size_t at[REC_EVENT_FIELDS_MAX])
{
	unsigned cnt = 0;

	for (unsigned i = 0; i < info->field_cnt && cnt < REC_EVENT_FIELDS_MAX; i++)
		if (info->fields[i].type == type)
			at[cnt++] = info->fields[i].offset;
	return cnt;
}

/* Number of rows that the stream's budget allows, counting text and lists as additional rows. */
static size_t afford(struct meter *m, const struct rec_info *info, const uint8_t *rows, size_t cnt)
{
	size_t texts[REC_EVENT_FIELDS_MAX], lists[REC_EVENT_FIELDS_MAX], n = 0;
	unsigned text_cnt = fields_of(info, REC_T_str, texts);
	unsigned list_cnt = fields_of(info, REC_T_list, lists);

	for (; n < cnt && !m->spent; n++) {
		const uint8_t *row = rows + n * info->sz;
		uint64_t text = 0, items = 0, cost;

		for (unsigned i = 0; i < text_cnt; i++)
			text += ((const struct span *)(row + texts[i]))->len;
		for (unsigned i = 0; i < list_cnt; i++)
			items += ((const struct u64_span *)(row + lists[i]))->len;
		cost = 1 + text / BUDGET_TEXT + items / BUDGET_ITEMS;

		m->spent = cost > m->left;
		if (m->spent)
			break;
		m->left -= cost;
	}
	return n;
}

struct taker {
	struct run *run;
	struct turn *turn;
};

/* What one loader takes apart counts in a budget of its own: the lanes share nothing. */
static struct budget *budget_of(const struct run *r, const struct turn *t)
{
	struct capture *c = &r->load->captures->v[t->chunk->capture];

	return t->lane == LANE_APART ? &c->traffic_budget : &c->budget;
}

static bool takes(const struct run *r, size_t loader, const struct turn *t)
{
	return r->active[loader] && lists(loaders[loader]->streams, t->chunk->member->stream) &&
	       (t->lane == LANE_MAIN || loaders[loader] == r->apart);
}

static int take_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct taker *taker = arg;
	struct turn *t = taker->turn;
	struct run *r = taker->run;
	uint32_t capture = t->chunk->capture;
	int *err = &r->err[t->lane];
	size_t allowed;

	turn_await(t);
	allowed = afford(&r->meters[t->chunk->meter],
			 obz_reader__info(r->load->captures->v[capture].reader, kind), rows, cnt);
	budget_of(r, t)->rows_left_out += cnt - allowed;
	if (!allowed)
		return 0;
	if ((int)kind == REC_thread)
		*err = overlap__threads(r->load->overlap, capture, rows, allowed);
	for (size_t i = 0; i < LOADER_CNT && !*err; i++)
		if (takes(r, i, t))
			*err = loaders[i]->rows(r->load, r->state[i], capture, kind, rows, allowed);
	return *err;
}

/* Only counts the rows of a chunk whose stream is over its budget. */
static void leave_out(struct run *r, const struct turn *t)
{
	struct obz_reader *reader = r->load->captures->v[t->chunk->capture].reader;
	struct obz_chunk_info ci;

	if (!obz_reader__chunk_info(reader, t->chunk->member, &ci))
		budget_of(r, t)->rows_left_out += ci.records;
}

static void take_chunk(void *ctx, struct turn *t)
{
	struct run *r = ctx;
	bool spent = r->meters[t->chunk->meter].spent;
	int err = 0;

	/* A damaged chunk is counted by the reader. Rows decoded before the damage were loaded. */
	if (!spent)
		err = obz_reader__decode(r->load->captures->v[t->chunk->capture].reader,
					 t->chunk->member, take_rows, &(struct taker){r, t});
	turn_await(t);
	if (err == -ENOMEM && !r->err[t->lane])
		r->err[t->lane] = err;
	if (spent)
		leave_out(r, t);
	chunks__lock(r->chunks);
	progress_step(&r->progress, t->chunk->member->sz);
	chunks__unlock(r->chunks);
}

static void begin_apart(void *ctx)
{
	struct run *r = ctx;

	for (size_t i = 0; i < LOADER_CNT; i++)
		if (loaders[i] == r->apart && !r->err[LANE_MAIN])
			r->err[LANE_MAIN] = r->apart->begin_apart(r->load, r->state[i]);
}

size_t load__threads(const struct load *l)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return l->opts.jobs ? l->opts.jobs : cpus > 0 ? cpus : 1;
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

bool load__is_filled(const struct load *l, const char *table)
{
	const struct run *r = l->run;

	for (size_t i = 0; i < LOADER_CNT && r; i++)
		if (r->active[i] && !r->finished[i] && !loaders[i]->filled_at_begin &&
		    lists(loaders[i]->tables, table))
			return false;
	return true;
}

/* Finishes loaders in order; only_main: up to the one that takes a stream apart. */
static int finish(struct run *r, bool only_main)
{
	int err = 0;

	for (size_t i = 0; i < LOADER_CNT && !err && (!only_main || loaders[i] != r->apart); i++) {
		if (r->active[i] && !r->finished[i])
			err = loaders[i]->finish(r->load, r->state[i]);
		r->finished[i] = true;
	}
	return err ? err : store__run_later(r->load->store);
}

static int begin(struct run *r)
{
	struct load *l = r->load;
	int err = 0;

	for (size_t i = 0; i < LOADER_CNT && !err; i++) {
		r->active[i] = is_wanted(l, loaders[i]);
		if (!r->active[i])
			continue;
		err = loaders[i]->begin(l, &r->state[i]);
		if (loaders[i]->apart && loaders[i]->can_be_apart(l))
			r->apart = loaders[i];
	}
	return err;
}

static int run_error(const struct run *r)
{
	int err = r->err[LANE_MAIN] ? r->err[LANE_MAIN] : r->err[LANE_APART];

	return err == LOAD_ENOUGH ? 0 : err;
}

static int run_all(struct run *r, int (*meanwhile)(void *ctx), void *ctx)
{
	int err = 0;

	chunks__start(r->chunks, load__threads(r->load));
	chunks__run_main(r->chunks);
	if (meanwhile && r->apart && !r->err[LANE_MAIN]) {
		err = finish(r, true);
		err = err ? err : meanwhile(ctx);
	}
	chunks__join(r->chunks);
	progress_done(&r->progress);
	err = err ? err : run_error(r);
	return err ? err : finish(r, false);
}

int load__run_beside(struct load *l, int (*meanwhile)(void *ctx), void *ctx)
{
	struct run r = {.load = l};
	const struct chunks_ops ops = {take_chunk, begin_apart, &r};
	int err = add_needs(l);

	l->run = &r;
	progress_init(&r.progress, "loading");
	if (!err)
		err = begin(&r);
	if (!err)
		err = chunks__new(&r.chunks, &ops);
	if (!err)
		err = list_chunks(&r);
	if (!err)
		err = run_all(&r, meanwhile, ctx);
	for (size_t i = 0; i < LOADER_CNT; i++)
		if (r.active[i])
			loaders[i]->free(r.state[i]);
	l->run = NULL;
	chunks__free(r.chunks);
	free(r.meters);
	if (err && err != -EIO) /* the store has already reported */
		message_error("loading: %s", strerror(-err));
	return err;
}

int load__run(struct load *l)
{
	return load__run_beside(l, NULL, NULL);
}
