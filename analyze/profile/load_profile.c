/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads samples and their stacks. Stack definitions go into the model (stacks.h). Each sample
 * becomes a row of `sample`, or is aggregated in memory, or both, as the command requires.
 * profile_tables.c writes the other tables at the end.
 */
#include "analyze/load/load.h"

#include <pthread.h>

#include "format/record.h"
#include "format/text.h"
#include "analyze/store/bulk.h"
#include "analyze/base/index.h"
#include "analyze/load/stack_view.h"
#include "analyze/load/threads.h"
#include "analyze/profile/profile_tables.h"
#include "analyze/profile/tracing_frames.h"
#include "analyze/profile/waker_stacks.h"

/* stack.error of a pair that is not fully defined yet, combined with the capture number. Resolved
 * at the end. */
#define PENDING 0x80000000u

/* A stack of an archive, by (capture, id). */
struct definition {
	uint32_t capture, id, node, error;
};

/* What the samples of a definition need that have no kernel stack: a cache line for two. */
struct alone {
	uint32_t stack; /* + 1; 0: none yet */
	uint32_t hint;	/* weights.h */
	uint32_t kind;	/* + 1: of the samples to be added to that weight; 0: none */
	uint32_t unused;
	uint64_t count, value; /* of these */
};
_Static_assert(sizeof(struct alone) == 32, "");

/* Definitions of a capture by id: obrec numbers them from 1 on. */
struct numbered {
	uint32_t *v; /* number of the definition + 1; 0: not here, perhaps in the index */
	size_t cap, cnt;
};

#define MAX_DEFINITIONS (3u << 20) /* about 170 MB; further ones count as lost */

/* A sample that passed the filters. */
struct admitted {
	const struct rec_sample *row;
	uint64_t ts_ns; /* CLOCK_REALTIME */
	struct weight weight;
	struct alone *alone; /* NULL: it has a kernel stack */
	uint32_t hint;
};
enum { BATCH = 64 };

struct span_ns {
	uint64_t from, to; /* --from, --to for one capture */
};

/* One frame of a definition, counted from the root. */
struct level {
	uint64_t frame; /* as recorded */
	struct stack_step step;
	uint32_t node;
};

struct profile {
	struct span_ns *spans;
	struct numbered *numbered; /* by capture */
	size_t capture_cnt;
	struct index index; /* of definitions with other ids */
	struct definition *v;
	struct alone *alone; /* of each; aligned */
	size_t cnt, cap, alone_cap;
	/* previous definition, from the root: consecutive ones share most frames */
	struct level *last;
	size_t last_cnt, last_cap;
	uint32_t last_capture;
	bool rows; /* write rows of the sample table */
	struct bulk sample;
	struct weights *threads;     /* by kind and thread, without stacks */
	struct waker_stacks *wakers; /* NULL: not wanted */
	uint32_t hints[64];	     /* for these, by thread */
};

static uint64_t definition_hash(uint32_t capture, uint32_t id)
{
	return hash_mix((uint64_t)capture << 32 | id);
}

static bool definition_equal(const void *owner, uint32_t i, const void *key)
{
	const struct definition *d = &((const struct profile *)owner)->v[i], *k = key;

	return d->capture == k->capture && d->id == k->id;
}

static bool find_number(const struct profile *p, uint32_t capture, uint32_t id, uint32_t *i)
{
	const struct numbered *n = &p->numbered[capture];
	struct definition key = {.capture = capture, .id = id};

	if (id < n->cap && n->v[id]) {
		*i = n->v[id] - 1;
		return true;
	}
	return p->index.used &&
	       index_find(&p->index, definition_equal, p, definition_hash(capture, id), &key, i);
}

static struct definition *find_definition(const struct profile *p, uint32_t capture, uint32_t id)
{
	uint32_t i;

	return find_number(p, capture, id, &i) ? &p->v[i] : NULL;
}

static int reserve_number(struct numbered *n, uint32_t id)
{
	size_t cap = n->cap;

	if (array_reserve(&n->v, &n->cap, (size_t)id + 1))
		return -ENOMEM;
	memset(n->v + cap, 0, (n->cap - cap) * sizeof(*n->v));
	return 0;
}

/* Ids that are not dense are hostile, or of a program other than obrec. */
static int number_definition(struct profile *p, uint32_t capture, uint32_t id, uint32_t i)
{
	struct numbered *n = &p->numbered[capture];

	if (id >= n->cap && id / 2 < n->cnt + 2048 && reserve_number(n, id))
		return -ENOMEM;
	n->cnt++;
	if (id >= n->cap)
		return index_add(&p->index, definition_hash(capture, id), i);
	n->v[id] = i + 1;
	return 0;
}

static int reserve_definition(struct profile *p)
{
	struct alone *grown;

	if (array_reserve(&p->v, &p->cap, p->cnt + 1))
		return -ENOMEM;
	if (p->alone_cap >= p->cap)
		return 0;
	grown = aligned_alloc(sizeof(*grown), p->cap * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	if (p->cnt)
		memcpy(grown, p->alone, p->cnt * sizeof(*grown));
	free(p->alone);
	p->alone = grown;
	p->alone_cap = p->cap;
	return 0;
}

/* See index_ahead(). */
static void definition_ahead(const struct profile *p, uint32_t capture, const struct rec_sample *r)
{
	const struct numbered *n = &p->numbered[capture];

	if (r->user_stack < n->cap)
		__builtin_prefetch(&n->v[r->user_stack]);
	if (r->kernel_stack && r->kernel_stack < n->cap)
		__builtin_prefetch(&n->v[r->kernel_stack]);
}

static void definition_guess(const struct profile *p, uint32_t capture, const struct rec_sample *r)
{
	const struct numbered *n = &p->numbered[capture];
	uint32_t user = r->user_stack < n->cap ? n->v[r->user_stack] : 0;
	uint32_t kernel = r->kernel_stack && r->kernel_stack < n->cap ? n->v[r->kernel_stack] : 0;

	if (kernel)
		__builtin_prefetch(&p->v[kernel - 1]);
	if (user && r->kernel_stack)
		__builtin_prefetch(&p->v[user - 1]);
	else if (user)
		__builtin_prefetch(&p->alone[user - 1]);
}

/* Number of frames from the root that equal those of the previous definition. */
static size_t shared_frames(const struct profile *p, uint32_t capture, struct u64_span frames)
{
	size_t n = 0;

	if (p->last_capture != capture)
		return 0;
	while (n < frames.len && n < p->last_cnt &&
	       p->last[n].frame == frames.v[frames.len - 1 - n])
		n++;
	return n;
}

/* Node of a list of frames, which is leaf first. */
static uint32_t node_of(struct load *l, struct profile *p, uint32_t capture, struct u64_span frames)
{
	size_t shared = shared_frames(p, capture, frames);
	uint32_t node;

	if (array_reserve(&p->last, &p->last_cap, frames.len))
		return STACK_NO_NODE;
	for (size_t i = shared; i < frames.len; i++) {
		uint64_t frame = frames.v[frames.len - 1 - i];

		p->last[i].frame = frame;
		p->last[i].step = (struct stack_step){
			.address = frame_address(frame),
			.binary = binaries__find(l->binaries, capture, frame_binary(frame))};
		stacks__step(l->stacks, i ? &p->last[i - 1].step : NULL, &p->last[i].step);
	}
	node = shared ? p->last[shared - 1].node : 0;
	for (size_t i = shared; i < frames.len; i++)
		p->last[i].node = node = stacks__node(l->stacks, node, &p->last[i].step);
	p->last_cnt = frames.len;
	p->last_capture = capture;
	return node;
}

static int define_stack(struct load *l, struct profile *p, uint32_t capture,
			const struct rec_stack *r)
{
	if (!r->id || p->cnt >= MAX_DEFINITIONS || find_definition(p, capture, r->id))
		return 0;
	if (reserve_definition(p))
		return -ENOMEM;
	p->v[p->cnt] = (struct definition){capture, r->id, node_of(l, p, capture, r->frames),
					   r->error < STACK_LOST ? r->error : STACK_LOST - 1};
	p->alone[p->cnt] = (struct alone){0};
	if (number_definition(p, capture, r->id, p->cnt))
		return -ENOMEM;
	p->cnt++;
	return 0;
}

/* Stack of a sample. If a part is not defined yet: a pending stack if `hope` (the definition may
 * still follow), otherwise the part that is known. */
static struct stack combine(const struct profile *p, uint32_t capture, uint32_t user_id,
			    uint32_t kernel_id, bool hope)
{
	const struct definition *user = user_id ? find_definition(p, capture, user_id) : NULL;
	const struct definition *kernel = kernel_id ? find_definition(p, capture, kernel_id) : NULL;

	if ((user_id && !user) || (kernel_id && !kernel)) {
		if (hope)
			return (struct stack){user_id, kernel_id, PENDING | capture};
		return (struct stack){user ? user->node : 0, kernel ? kernel->node : 0, STACK_LOST};
	}
	return (struct stack){user ? user->node : 0, kernel ? kernel->node : 0,
			      user     ? user->error
			      : kernel ? kernel->error
				       : STACK_NONE};
}

static int add_row(struct bulk *in, uint32_t capture, const struct rec_sample *r, const char *kind,
		   uint64_t ts_ns, uint32_t stack)
{
	bulk_int(in, capture_id(capture));
	bulk_text(in, kind);
	bulk_int(in, ts_ns);
	bulk_int(in, capture_row(capture, r->thread));
	bulk_int(in, stack + 1);
	bulk_int(in, r->count);
	bulk_int(in, r->value);
	bulk_null(in);
	return bulk_row(in);
}

/* Most samples have only a user stack: where they are added up is remembered with it. NULL: it has
 * a kernel stack as well, or is not defined yet. */
static struct alone *alone_of(const struct profile *p, uint32_t capture, const struct rec_sample *r)
{
	uint32_t i;

	return !r->kernel_stack && find_number(p, capture, r->user_stack, &i) ? &p->alone[i] : NULL;
}

static uint32_t stack_of(struct load *l, const struct profile *p, uint32_t capture,
			 const struct rec_sample *r, struct alone *alone)
{
	uint32_t stack;

	if (alone && alone->stack)
		return alone->stack - 1;
	stack = stacks__add(l->stacks, combine(p, capture, r->user_stack, r->kernel_stack, true));
	if (alone)
		alone->stack = stack + 1;
	return stack;
}

/* See load_opts.slots. Times outside the capture belong to its first or last part. */
static uint64_t slot_of(const struct load *l, const struct profile *p, uint32_t capture,
			uint64_t ts_ns)
{
	const struct capture *c = &l->captures->v[capture];
	uint64_t from = c->started_ns, to = from + c->duration_ns;

	if (!l->opts.slots || l->opts.slots == SLOTS_TIMES)
		return l->opts.slots ? ts_ns : 0;
	from = p->spans[capture].from > from ? p->spans[capture].from : from;
	to = p->spans[capture].to < to ? p->spans[capture].to : to;
	if (ts_ns <= from || to <= from)
		return 0;
	return ts_ns >= to ? l->opts.slots - 1
			   : (unsigned __int128)(ts_ns - from) * l->opts.slots / (to - from);
}

/* A wait, whose time is that of its end, may have taken several parts of the capture: each gets an
 * equal share of it. */
static int add_parts(struct load *l, const struct profile *p, uint32_t capture,
		     const struct admitted *a, uint32_t *hint)
{
	struct weight w = a->weight;
	uint64_t left = w.value, first, cnt;
	int err = 0;

	if (!l->opts.slots || l->opts.slots == SLOTS_TIMES || w.count != 1 || w.value > a->ts_ns ||
	    strcmp(sample_kinds__get(l->kinds, w.kind)->unit, "ns"))
		return weights__add(l->weights, &w, hint);
	first = slot_of(l, p, capture, a->ts_ns - w.value);
	cnt = w.slot - first + 1;
	for (uint64_t i = 0; i < cnt && !err; i++) {
		w.slot = first + i;
		w.count = i + 1 == cnt;
		w.value = left / (cnt - i);
		left -= w.value;
		err = weights__add(l->weights, &w, hint);
	}
	return err;
}

/* Where weights are by kind and stack alone, those of a stack add up beside it, as its weight would
 * be another cache miss for each sample. add_rest() adds them to it. */
static bool adds_up(const struct load *l, const struct admitted *a)
{
	return a->alone && a->alone->kind == a->weight.kind + 1 && weights__by_stack(l->weights);
}

static int add_weight(struct load *l, const struct profile *p, uint32_t capture, struct admitted *a)
{
	struct alone *alone = a->alone;
	int err;

	if (adds_up(l, a)) {
		alone->count += a->weight.count;
		alone->value += a->weight.value;
		return 0;
	}
	err = add_parts(l, p, capture, a, alone ? &alone->hint : &a->hint);
	if (!err && alone && !alone->count && weights__by_stack(l->weights))
		alone->kind = a->weight.kind + 1;
	return err;
}

static int add_rest(struct load *l, const struct profile *p)
{
	int err = 0;

	for (size_t i = 0; i < p->cnt && !err; i++) {
		struct alone *a = &p->alone[i];
		struct weight w = {.kind = a->kind - 1,
				   .stack = a->stack - 1,
				   .count = a->count,
				   .value = a->value};

		if (a->count || a->value)
			err = weights__add(l->weights, &w, &a->hint);
	}
	return err;
}

static bool thread_wanted(const struct load *l, int64_t id)
{
	const struct thread *t;

	if (!sample_filter_by_thread(&l->opts.samples))
		return true;
	t = threads__find(l->threads, id);
	return t && t->wanted;
}

/* Applies the filters. False: the sample is skipped. */
static bool admit(struct load *l, const struct profile *p, uint32_t capture,
		  const struct rec_sample *r, struct admitted *a)
{
	uint64_t ts_ns = r->ts_ns + l->captures->v[capture].to_realtime;
	uint32_t kind = sample_kinds__index(l->kinds, capture, r->kind);

	if (l->opts.kinds && !(l->opts.kinds >> kind & 1))
		return false;
	if (!r->count && !r->value)
		return false; /* empty sample */
	if (ts_ns < p->spans[capture].from || ts_ns >= p->spans[capture].to)
		return false;
	if (!overlap__counts(l->overlap, capture, kind, r->thread, r->ts_ns, r->count))
		return false;
	l->samples_seen += r->count;
	/* The thread that a filter asks for is the one that waited. */
	if (!thread_wanted(l, capture_row(capture, r->thread)) &&
	    !(p->wakers && waker_stacks__is_waker(l, kind)))
		return false;
	l->samples_admitted += r->count;
	*a = (struct admitted){.row = r,
			       .ts_ns = ts_ns,
			       .weight = {.thread = capture_row(capture, r->thread),
					  .slot = slot_of(l, p, capture, ts_ns),
					  .kind = kind,
					  .count = r->count,
					  .value = r->value}};
	return true;
}

static uint32_t *thread_hint(struct profile *p, const struct weight *w)
{
	return &p->hints[(size_t)w->thread % (sizeof(p->hints) / sizeof(p->hints[0]))];
}

/* With a million stacks almost every look-up is a cache miss, so the look-ups of a batch are
 * overlapped: each pass prefetches what the next one reads. */
static int add_batch(struct load *l, struct profile *p, uint32_t capture, struct admitted *v,
		     size_t cnt)
{
	bool weights = l->opts.weights && !p->wakers;
	int err = 0;

	for (size_t i = 0; i < cnt; i++)
		definition_ahead(p, capture, v[i].row);
	for (size_t i = 0; i < cnt; i++)
		definition_guess(p, capture, v[i].row);
	for (size_t i = 0; i < cnt && !err; i++) {
		err = weights__add(p->threads, &v[i].weight, thread_hint(p, &v[i].weight));
		v[i].alone = alone_of(p, capture, v[i].row);
		v[i].weight.stack = stack_of(l, p, capture, v[i].row, v[i].alone);
		v[i].hint = v[i].alone ? v[i].alone->hint : 0;
		if (!err && p->wakers)
			err = waker_stacks__add(p->wakers, l, capture, v[i].ts_ns, &v[i].weight);
		if (weights && !adds_up(l, &v[i]))
			weights__ahead(l->weights, &v[i].weight, v[i].hint);
	}
	for (size_t i = 0; weights && i < cnt; i++)
		if (!adds_up(l, &v[i]))
			weights__guess(l->weights, &v[i].weight, v[i].hint);
	for (size_t i = 0; i < cnt && !err; i++) {
		if (weights)
			err = add_weight(l, p, capture, &v[i]);
		if (!err && p->rows)
			err = tracing_frames__note(l, &v[i].weight);
		if (!err && p->rows)
			err = add_row(&p->sample, capture, v[i].row,
				      sample_kinds__get(l->kinds, v[i].weight.kind)->name,
				      v[i].ts_ns, v[i].weight.stack);
	}
	return err;
}

static int add_samples(struct load *l, struct profile *p, uint32_t capture,
		       const struct rec_sample *rows, size_t cnt)
{
	struct admitted batch[BATCH];
	bool by_thread = l->opts.by_thread || sample_filter_by_thread(&l->opts.samples);
	int err = by_thread && !l->threads ? threads__new(&l->threads, l) : 0;

	for (size_t i = 0, n = 0; i < cnt && !err; i++) {
		n += admit(l, p, capture, &rows[i], &batch[n]);
		if (n == BATCH || i + 1 == cnt) {
			err = add_batch(l, p, capture, batch, n);
			n = 0;
		}
	}
	return err;
}

static int64_t stack_row(struct load *l, uint32_t capture, uint32_t user, uint32_t kernel)
{
	struct rec_sample r = {.user_stack = user, .kernel_stack = kernel};
	struct profile *p = l->stack_state;
	uint32_t stack = stack_of(l, p, capture, &r, alone_of(p, capture, &r));

	return stacks__mark(l->stacks, stack, STACK_OF_EVENT) ? 0 : (int64_t)stack + 1;
}

/* Threads of filters and groups come from tables. */
static int profile_need(struct load *l)
{
	static const char *const tables[] = {"thread", "process", NULL};

	if (l->opts.wakers || sample_filter_by_thread(&l->opts.samples) ||
	    (l->opts.weights && sample_filter_by_stack(&l->opts.samples)))
		l->opts.by_thread = true;
	return l->opts.by_thread ? name_set_add_all(&l->wanted, tables) : 0;
}

static int profile_begin(struct load *l, void **state)
{
	struct profile *p = calloc(1, sizeof(*p));

	*state = p;
	if (!p)
		return -ENOMEM;
	l->stack_state = p;
	l->stack_row = stack_row;
	p->spans = calloc(l->captures->cnt + 1, sizeof(*p->spans));
	p->capture_cnt = l->captures->cnt;
	p->numbered = calloc(p->capture_cnt + 1, sizeof(*p->numbered));
	if (!p->spans || !p->numbered)
		return -ENOMEM;
	for (size_t i = 0; i < l->captures->cnt; i++) {
		uint64_t span[2];

		load__span(l, i, span);
		p->spans[i] = (struct span_ns){span[0], span[1]};
	}
	p->rows = load__wants(l, "sample");
	if (weights__new(&p->threads) || (l->opts.wakers && waker_stacks__new(&p->wakers)))
		return -ENOMEM;
	weights__by_thread(p->threads);
	if (l->opts.by_thread)
		weights__by_thread(l->weights);
	if (l->opts.slots)
		weights__by_slot(l->weights);
	return bulk_open(&p->sample, l->store, "INSERT INTO sample VALUES(?,?,?,?,?,?,?,?)");
}

/* Captures may have different content for a build-id. */
static const char *content_of(const struct load *l, uint32_t capture, struct span build_id)
{
	char id[160];

	if (l->captures->cnt < 2)
		return "";
	snprintf(id, sizeof(id), "%.*s", (int)build_id.len, build_id.p);
	return captures__content(l->captures, capture,
				 captures__find_debug(l->captures, capture, NULL, id));
}

/* Memory of binaries, their names and symbols, which is limited only by the archive's budget. */
static size_t definitions_held(const struct load *l)
{
	return strings__held(l->strings) + binaries__cnt(l->binaries) * sizeof(struct binary);
}

static int add_definition(struct load *l, uint32_t capture, enum rec_kind kind, const void *row)
{
	struct budget *budget = &l->captures->v[capture].budget;
	size_t before = definitions_held(l);
	int err;

	if (budget_spent(budget)) {
		budget->rows_left_out++;
		return 0;
	}
	if ((int)kind == REC_binary) {
		const struct rec_binary *r = row;

		err = binaries__define(l->binaries, capture, r,
				       content_of(l, capture, r->build_id));
	} else if ((int)kind == REC_debuginfo) {
		err = binaries__debuginfo(l->binaries, capture, row);
	} else {
		err = binaries__symbol(l->binaries, capture, row);
		budget_add(budget, sizeof(struct host_symbol));
	}
	budget_add(budget, definitions_held(l) - before);
	return err;
}

static int profile_rows(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
			const void *rows, size_t cnt)
{
	const struct rec_info *info = rec_info(kind);
	int err = 0;

	for (size_t i = 0; info && i < cnt && !err; i++) {
		const void *row = (const char *)rows + i * info->sz;

		switch ((int)kind) {
		case REC_binary:
		case REC_debuginfo:
		case REC_symbol:
			err = add_definition(l, capture, kind, row);
			break;
		case REC_stack:
			err = define_stack(l, state, capture, row);
			break;
		case REC_sample:
			return add_samples(l, state, capture, rows, cnt);
		default:
			return 0;
		}
	}
	return err;
}

static void resolve_pending(struct load *l, const struct profile *p)
{
	for (uint32_t i = 0; i < stacks__cnt(l->stacks); i++) {
		struct stack s = stacks__get(l->stacks, i);

		if (s.error & PENDING) {
			s = combine(p, s.error & ~PENDING, s.user, s.kernel, false);
			if (s.user == STACK_NO_NODE || s.kernel == STACK_NO_NODE)
				s = (struct stack){.error = STACK_OVERFLOWED};
			stacks__set(l->stacks, i, s);
		}
	}
}

static int write_kinds(struct load *l)
{
	struct insert in;
	int err = insert_open(&in, l->store, "INSERT INTO sample_kind VALUES(?,?,?,?)");

	for (size_t i = 0; i < sample_kinds__cnt(l->kinds) && !err; i++) {
		const struct named_kind *k = sample_kinds__get(l->kinds, i);

		insert_text(&in, k->name);
		insert_text(&in, k->title);
		insert_text(&in, k->unit);
		insert_text(&in, k->count_name);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

/* Stacks that share outer frames follow each other, so that drawing them shares the work. */
static int sort_weights(struct load *l)
{
	uint32_t *rank;
	int err = stacks__rank(l->stacks, &rank);

	if (!err)
		err = weights__sort(l->weights, rank, stacks__cnt(l->stacks));
	free(rank);
	return err;
}

/* ---- stacks that are not shown ---- */

static bool is_shown(const void *ctx, const struct weight *w)
{
	const struct load *l = ctx;

	return !l->cuts[w->stack].drop;
}

/* Samples by thread, of the stacks that are shown. */
static int count_threads(struct load *l, struct profile *p)
{
	int err;

	weights__free(p->threads);
	err = weights__new(&p->threads);
	if (!err)
		weights__by_thread(p->threads);
	for (size_t i = 0; i < weights__cnt(l->weights) && !err; i++) {
		struct weight w = *weights__get(l->weights, i);

		w.stack = 0;
		l->samples_admitted += w.count;
		err = weights__add(p->threads, &w, thread_hint(p, &w));
	}
	return err;
}

static int drop_rows(struct load *l)
{
	struct insert in = {0};
	int err = store__exec(l->store, "CREATE TEMP TABLE dropped(stack_id INTEGER PRIMARY KEY)");

	if (!err)
		err = insert_open(&in, l->store, "INSERT INTO dropped VALUES(?)");
	for (size_t i = 0; i < stacks__cnt(l->stacks) && !err; i++) {
		if (!l->cuts[i].drop)
			continue;
		insert_int(&in, (int64_t)i + 1);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err ? err
		   : store__exec(l->store, "DELETE FROM sample WHERE stack_id IN dropped; "
					   "DROP TABLE dropped");
}

static int filter_stacks(struct load *l, struct profile *p)
{
	int err = stack_view__cut(l);

	if (!err && l->opts.weights) {
		weights__filter(l->weights, is_shown, l);
		l->samples_admitted = 0;
		err = count_threads(l, p);
	}
	return err || !p->rows ? err : drop_rows(l);
}

static void *resolve(void *arg)
{
	const struct load *l = arg;

	return (void *)(intptr_t)frames__resolve(l->frames, l->stacks, l->captures,
						 &l->opts.symbols);
}

/* Symbols need no database: beside it the indexes of the tables filled so far are made. */
static int resolve_beside(struct load *l)
{
	pthread_t thread;
	void *result;
	int err;

	if (load__threads(l) == 1 || pthread_create(&thread, NULL, resolve, l))
		return (int)(intptr_t)resolve(l);
	err = store__run_later(l->store);
	pthread_join(thread, &result);
	return err ? err : (int)(intptr_t)result;
}

static int profile_finish(struct load *l, void *state)
{
	struct profile *p = state;
	int err = bulk_flush(&p->sample);

	if (!err)
		err = write_kinds(l);

	if (err)
		return err;
	resolve_pending(l, p);
	if (l->opts.weights) {
		err = p->wakers ? waker_stacks__write(p->wakers, l) : add_rest(l, p);
		if (!err)
			err = sort_weights(l);
	}
	if (err)
		return err;
	if (weights__merged(l->weights))
		message_warn("too many stacks, threads and times: beyond the limit, threads and "
			     "times are not distinguished");
	if (l->opts.weights || sample_filter_by_stack(&l->opts.samples) ||
	    load__wants(l, "binary") || load__wants(l, "function") || load__wants(l, "frame") ||
	    load__wants(l, "stack_frame"))
		err = resolve_beside(l);
	if (!err)
		err = tracing_frames__drop(l);
	if (!err && p->wakers)
		err = waker_stacks__trim(p->wakers, l);
	if (!err && sample_filter_by_stack(&l->opts.samples))
		err = filter_stacks(l, p);
	return err ? err : profile_tables_write(l, p->threads);
}

static void profile_free(void *state)
{
	struct profile *p = state;

	if (!p)
		return;
	bulk_close(&p->sample);
	weights__free(p->threads);
	waker_stacks__free(p->wakers);
	index_fini(&p->index);
	free(p->last);
	free(p->spans);
	free(p->v);
	free(p->alone);
	for (size_t i = 0; p->numbered && i < p->capture_cnt; i++)
		free(p->numbered[i].v);
	free(p->numbered);
	free(p);
}

const struct loader load_profile_entry = {
	.streams = (const char *const[]){"identity", "profile", NULL},
	.tables = (const char *const[]){"binary", "function", "frame", "stack", "stack_frame",
					"sample", "sample_kind", NULL},
	.need = profile_need,
	.begin = profile_begin,
	.rows = profile_rows,
	.finish = profile_finish,
	.free = profile_free,
};
