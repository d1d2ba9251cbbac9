/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/graph/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/index.h"

struct thread_name {
	int64_t id;
	uint32_t process, thread, cgroup; /* strings */
};

/* The locations of a stack, leaf first. */
struct path {
	uint32_t *locs;
	size_t cnt, cap;
};

struct draw {
	const struct analysis *a;
	const struct load *l;
	const struct draw_opts *opts;
	const struct profile_sink *sink;
	void *state;
	uint64_t kinds; /* kinds shown */
	bool apart;	/* separate values per kind (pprof) instead of one for all */
	struct profile_type types[2 * SAMPLE_KIND_CNT];
	size_t type_cnt;
	struct thread_name *threads;
	size_t thread_cnt, thread_cap;
	struct profile_frame *frames;
	size_t frame_cap;
	struct path path, last;	    /* of this stack and of the one before, which is in frames */
	const struct weight *drawn; /* the one before */
};

static const struct named_kind *kind_of(const struct draw *d, uint32_t kind)
{
	return sample_kinds__get(d->l->kinds, kind);
}

int draw_parse_by(struct draw_opts *o, const struct option_def *def, const char *arg)
{
	static const struct {
		const char *name;
		enum draw_group group;
	} groups[] = {{"process", DRAW_BY_PROCESS},
		      {"thread", DRAW_BY_THREAD},
		      {"cgroup", DRAW_BY_CGROUP}};
	size_t cnt = 0, len;

	for (const char *p = arg; *p; p += len + (p[len] == ',')) {
		enum draw_group group = 0;

		len = strcspn(p, ",");
		for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++)
			if (strlen(groups[i].name) == len && !memcmp(groups[i].name, p, len))
				group = groups[i].group;
		if (!group && len == 8 && !memcmp(p, "endpoint", 8))
			return option_error(def, "endpoint: samples are not attributed to requests "
						 "yet");
		if (!group || cnt == DRAW_MAX_GROUPS)
			return option_error(def, "'%s' is not a list of thread, process, cgroup",
					    arg);
		o->by[cnt++] = group;
	}
	return cnt ? 0 : option_error(def, "needs thread, process or cgroup");
}

int draw_prepare(struct load *l, const struct draw_opts *o)
{
	if (name_set_add(&l->wanted, "loss"))
		return -ENOMEM;
	if (o->by[0] && (name_set_add(&l->wanted, "thread") || name_set_add(&l->wanted, "process")))
		return -ENOMEM;
	return 0;
}

/* ---- groups of a stack ---- */

static uint32_t labelled(const struct draw *d, const char *text, int64_t number)
{
	struct strbuf b = {0};
	uint32_t id;

	strbuf_addf(&b, "%s (%lld)", text && *text ? text : "[unnamed]", (long long)number);
	id = strings__add(d->l->strings, (struct span){b.p, b.len});
	strbuf_fini(&b);
	return id;
}

static int load_threads(struct draw *d)
{
	sqlite3_stmt *s;
	int rc;

	if (!d->opts->by[0])
		return 0;
	if (sqlite3_prepare_v2(store__db(d->a->store),
			       "SELECT t.id, t.comm, t.tid, p.comm, p.pid, p.cgroup FROM thread t "
			       "LEFT JOIN process p ON p.id = t.process_id ORDER BY t.id",
			       -1, &s, NULL))
		return -EIO;
	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		const char *cgroup = (const char *)sqlite3_column_text(s, 5);

		if (array_reserve(&d->threads, &d->thread_cap, d->thread_cnt + 1))
			break;
		d->threads[d->thread_cnt++] = (struct thread_name){
			.id = sqlite3_column_int64(s, 0),
			.thread = labelled(d, (const char *)sqlite3_column_text(s, 1),
					   sqlite3_column_int64(s, 2)),
			.process = labelled(d, (const char *)sqlite3_column_text(s, 3),
					    sqlite3_column_int64(s, 4)),
			.cgroup = strings__add(d->l->strings,
					       span_of(cgroup && *cgroup ? cgroup : "[no cgroup]")),
		};
	}
	sqlite3_finalize(s);
	return rc == SQLITE_DONE ? strings__failed(d->l->strings) : -ENOMEM;
}

static const struct thread_name *find_thread(const struct draw *d, int64_t id)
{
	size_t lo = 0, hi = d->thread_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->threads[mid].id == id)
			return &d->threads[mid];
		if (d->threads[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- one stack ---- */

static struct profile_frame *next_frame(struct draw *d, size_t cnt)
{
	if (array_reserve(&d->frames, &d->frame_cap, cnt + 1))
		return NULL;
	d->frames[cnt] = (struct profile_frame){0};
	return &d->frames[cnt];
}

static int add_groups(struct draw *d, const struct weight *w, size_t *cnt)
{
	const struct thread_name *t = d->opts->by[0] ? find_thread(d, w->thread) : NULL;
	struct profile_frame *f;

	if (!d->apart && d->kinds & (d->kinds - 1)) { /* several kinds in one graph */
		if (!(f = next_frame(d, *cnt)))
			return -ENOMEM;
		*f = (struct profile_frame){.name = kind_of(d, w->kind)->name,
					    .kind = PROFILE_GROUP};
		++*cnt;
	}
	for (size_t i = 0; i < DRAW_MAX_GROUPS && d->opts->by[i]; i++) {
		uint32_t name = !t				    ? 0
				: d->opts->by[i] == DRAW_BY_PROCESS ? t->process
				: d->opts->by[i] == DRAW_BY_THREAD  ? t->thread
								    : t->cgroup;

		if (!(f = next_frame(d, *cnt)))
			return -ENOMEM;
		*f = (struct profile_frame){.name = name ? strings__get(d->l->strings, name)
							 : "[several threads]",
					    .kind = PROFILE_GROUP};
		++*cnt;
	}
	return 0;
}

static void fill_frame(const struct draw *d, struct profile_frame *to, const struct frame *f)
{
	static const enum profile_kind kinds[] = {[FRAME_USER] = PROFILE_USER,
						  [FRAME_KERNEL] = PROFILE_KERNEL,
						  [FRAME_JIT] = PROFILE_JIT};
	const struct binary *b = binaries__get(d->l->binaries, f->binary);

	*to = (struct profile_frame){
		.name = strings__get(d->l->strings,
				     frames__function(d->l->frames, f->function)->name),
		.binary = strings__get(d->l->strings, b->path),
		.build_id = strings__get(d->l->strings, b->build_id),
		.file = strings__get(d->l->strings, f->file),
		.line = f->line,
		.kind = f->inlined ? PROFILE_INLINED : kinds[f->kind],
		.address = f->address,
	};
}

/* If a stack does not reach the start of its thread, the reason is shown in place of the missing
 * frames. */
static int add_note(struct draw *d, uint32_t stack, struct strbuf *note, size_t *cnt)
{
	const char *error = stack_error_text(stacks__get(d->l->stacks, stack).error);
	struct profile_frame *f;

	if (!error)
		return 0;
	strbuf_addf(note, "[incomplete: %s]", error);
	if (note->failed || !(f = next_frame(d, *cnt)))
		return -ENOMEM;
	*f = (struct profile_frame){.name = note->p, .kind = PROFILE_NOTE};
	++*cnt;
	return 0;
}

/* Number of outer locations that both stacks begin with. */
static size_t common_locations(const struct path *a, const struct path *b)
{
	size_t n = 0;

	while (n < a->cnt && n < b->cnt && a->locs[a->cnt - 1 - n] == b->locs[b->cnt - 1 - n])
		n++;
	return n;
}

/* Whether the frames before the code are the same: groups and the note. */
static bool same_head(const struct draw *d, const struct weight *w)
{
	return d->drawn && d->drawn->kind == w->kind && d->drawn->thread == w->thread &&
	       stacks__get(d->l->stacks, d->drawn->stack).error ==
		       stacks__get(d->l->stacks, w->stack).error;
}

/* The stack's code is added to the frames. Those of outer locations that it shares with the stack
 * before are still there. */
static int add_code(struct draw *d, const struct weight *w, struct profile_stack *s)
{
	const struct location *locations = stacks__locations(d->l->stacks);
	struct path *path = &d->path;
	long walked = stacks__walk(d->l->stacks, w->stack, &path->locs, &path->cap);
	size_t kept = 0;

	if (walked < 0)
		return walked;
	path->cnt = walked;
	if (same_head(d, w)) {
		kept = common_locations(path, &d->last);
		s->same = s->cnt;
	}
	for (size_t i = 0; i < path->cnt; i++) {
		const struct location *loc = &locations[path->locs[path->cnt - 1 - i]];

		if (i < kept) {
			s->cnt += loc->frame_cnt;
			s->same = s->cnt;
			continue;
		}
		for (uint32_t f = loc->frame_cnt; f-- > 0;) {
			struct profile_frame *to = next_frame(d, s->cnt);

			if (!to)
				return -ENOMEM;
			fill_frame(d, to, frames__get(d->l->frames, loc->first_frame + f));
			s->cnt++;
		}
	}
	return 0;
}

static void remember(struct draw *d, const struct weight *w)
{
	struct path last = d->last;

	d->last = d->path;
	d->path = last;
	d->drawn = w;
}

static void fill_values(const struct draw *d, const struct weight *w, uint64_t *values)
{
	size_t at = 0;

	memset(values, 0, d->type_cnt * sizeof(*values));
	if (!d->apart) {
		values[0] = d->type_cnt == 2 ? w->count : w->value;
		if (d->type_cnt == 2)
			values[1] = w->value;
		return;
	}
	for (uint32_t k = 0; k < w->kind; k++)
		at += 2 * (d->kinds >> k & 1);
	values[at] = w->count;
	values[at + 1] = w->value;
}

static int add_stack(struct draw *d, const struct weight *w)
{
	uint64_t values[2 * SAMPLE_KIND_CNT];
	struct profile_stack s = {.values = values};
	struct strbuf note = {0};
	int err;

	err = add_groups(d, w, &s.cnt);
	if (!err)
		err = add_note(d, w->stack, &note, &s.cnt);
	if (!err)
		err = add_code(d, w, &s);
	if (!err) {
		s.frames = d->frames;
		fill_values(d, w, values);
		err = d->sink->stack(d->state, &s);
		remember(d, w);
	}
	strbuf_fini(&note);
	return err;
}

/* ---- the whole graph ---- */

/* Selects the requested kinds. Default: cpu, otherwise the first kind present; for pprof all
 * kinds. */
static void choose_kinds(struct draw *d)
{
	uint64_t present = 0;

	for (size_t i = 0; i < weights__cnt(d->l->weights); i++)
		present |= 1ull << weights__get(d->l->weights, i)->kind;
	d->kinds = d->opts->kinds ? d->opts->kinds : d->l->opts.kinds;
	if (!d->kinds && d->apart)
		d->kinds = present;
	if (!d->kinds)
		d->kinds = present ? present & -present : 1;
}

/* Unit as named by pprof and speedscope. */
static const char *unit_name(const struct named_kind *k)
{
	return !strcmp(k->unit, "ns") ? "nanoseconds" : *k->unit ? k->unit : "count";
}

/* Unit of several kinds in one graph. */
static const char *common_unit(const struct draw *d)
{
	const char *unit = NULL;

	for (uint32_t k = 0; k < SAMPLE_KIND_CNT; k++)
		if (d->kinds >> k & 1) {
			if (unit && strcmp(unit, unit_name(kind_of(d, k))))
				return "count";
			unit = unit_name(kind_of(d, k));
		}
	return unit;
}

static size_t choose_types(struct draw *d)
{
	const struct named_kind *first = kind_of(d, __builtin_ctzll(d->kinds));
	bool several = d->kinds & (d->kinds - 1);

	if (several && !d->apart) {
		d->types[d->type_cnt++] = (struct profile_type){"value", common_unit(d)};
		return 0;
	}
	for (uint32_t k = 0; k < SAMPLE_KIND_CNT; k++) {
		if (!(d->kinds >> k & 1))
			continue;
		d->types[d->type_cnt++] = (struct profile_type){kind_of(d, k)->count_name, "count"};
		d->types[d->type_cnt++] =
			(struct profile_type){kind_of(d, k)->name, unit_name(kind_of(d, k))};
	}
	/* Graphs show samples if samples were measured; pprof users expect the value. */
	return d->apart || strcmp(first->count_name, "samples") ? 1 : 0;
}

static char *default_title(const struct draw *d)
{
	char *title;
	const char *what = d->kinds & (d->kinds - 1) ? "Samples by kind"
						     : kind_of(d, __builtin_ctzll(d->kinds))->title;

	return asprintf(&title, "%s%s", what, d->opts->inverted ? ", by leaf" : "") < 0 ? NULL
											: title;
}

static int feed(struct draw *d)
{
	int err = 0;

	for (size_t i = 0; i < weights__cnt(d->l->weights) && !err; i++) {
		const struct weight *w = weights__get(d->l->weights, i);

		if (d->kinds >> w->kind & 1)
			err = add_stack(d, w);
	}
	return err;
}

static void draw_fini(struct draw *d)
{
	free(d->threads);
	free(d->frames);
	free(d->path.locs);
	free(d->last.locs);
}

int draw_write(const struct analysis *a, const struct draw_opts *o, const struct profile_sink *sink,
	       FILE *out)
{
	struct draw d = {
		.a = a, .l = &a->load, .opts = o, .sink = sink, .apart = sink == &profile_pprof};
	const struct capture *first = &a->captures.v[0];
	struct profile_info info = {.types = d.types,
				    .inverted = o->inverted,
				    .full_names = a->load.opts.names == NAMES_FULL};
	char *title, *subtitle = analysis__subtitle(a);
	int err, ended;

	choose_kinds(&d);
	info.primary = choose_types(&d);
	info.type_cnt = d.type_cnt;
	info.started_ns = first->started_ns;
	info.duration_ns = first->duration_ns;
	info.period_ns = first->freq && a->captures.cnt == 1 ? 1000000000 / first->freq : 0;
	title = default_title(&d);
	info.title = o->title ? o->title : title;
	info.subtitle = subtitle;
	err = title && subtitle ? load_threads(&d) : -ENOMEM;
	if (!err)
		err = sink->begin(sink, &d.state, &info, out);
	if (!err) {
		err = feed(&d);
		ended = sink->end(d.state);
		err = err ? err : ended;
	}
	if (err)
		message_error("%s: %s", sink->name, strerror(-err));
	draw_fini(&d);
	free(title);
	free(subtitle);
	return err;
}
