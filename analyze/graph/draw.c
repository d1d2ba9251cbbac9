/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/graph/draw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/load/stack_view.h"
#include "analyze/load/threads.h"

/* By default, samples of several programs are drawn by process, or if there are more processes than
 * these, by program. */
enum { DEFAULT_PROCESSES = 32 };

struct draw {
	const struct analysis *a;
	const struct load *l;
	const struct draw_opts *opts;
	enum draw_group by[DRAW_MAX_GROUPS + 1]; /* 0-terminated */
	const struct profile_sink *sink;
	void *state;
	uint64_t kinds; /* kinds shown */
	bool apart;	/* PROFILE_KINDS */
	struct profile_type types[2 * SAMPLE_KIND_CNT];
	size_t type_cnt, primary;
	uint32_t groups[DRAW_MAX_GROUPS]; /* strings, of the thread of the stack before */
	struct profile_frame *frames;
	size_t frame_cap;
	struct stack_view view;
	const struct weight *drawn; /* the stack before, which is in frames */
	bool root_cut;		    /* of the stack before */
};

static const struct named_kind *kind_of(const struct draw *d, uint32_t kind)
{
	return sample_kinds__get(d->l->kinds, kind);
}

#define DRAW_GROUPS(GROUP)                                                                         \
	GROUP(PROGRAM, "program")                                                                  \
	GROUP(PROCESS, "process")                                                                  \
	GROUP(THREAD, "thread")                                                                    \
	GROUP(CGROUP, "cgroup")                                                                    \
	GROUP(NONE, "none")

#define GROUP(name, word) [DRAW_BY_##name] = word,
static const char *const group_words[] = {DRAW_GROUPS(GROUP)};
#undef GROUP
#define GROUP(name, word) word ", "
const char draw_by_values[] = DRAW_GROUPS(GROUP);
#undef GROUP

const char draw_by_help[] =
	"split stacks by program, process, thread, cgroup, outermost first; or none (default: by "
	"process if there are several programs, by program if there are many processes)";

int draw_parse_by(struct draw_opts *o, const struct option_def *def, const char *arg)
{
	size_t cnt = 0, len;

	for (const char *p = arg; *p; p += len + (p[len] == ',')) {
		enum draw_group group = 0;

		len = strcspn(p, ",");
		for (size_t i = DRAW_BY_PROGRAM; i <= DRAW_BY_NONE; i++)
			if (strlen(group_words[i]) == len && !memcmp(group_words[i], p, len))
				group = i;
		if (!group && len == 8 && !memcmp(p, "endpoint", 8))
			return option_error(def, "endpoint: samples are not attributed to requests "
						 "yet");
		if (!group || cnt == DRAW_MAX_GROUPS)
			return option_error(def,
					    "'%s' is not a list of program, process, thread, "
					    "cgroup, or none",
					    arg);
		o->by[cnt++] = group;
	}
	return cnt ? 0 : option_error(def, "needs program, process, thread, cgroup or none");
}

int draw_prepare(struct load *l, const struct draw_opts *o, const struct profile_sink *sink)
{
	if (name_set_add(&l->wanted, "loss"))
		return -ENOMEM;
	l->opts.weights = true;
	l->opts.by_thread |= o->by[0] != DRAW_BY_NONE || sink->wants & PROFILE_LABELS;
	if (sink->wants & PROFILE_TIMES)
		l->opts.slots = SLOTS_TIMES;
	else if (sink->wants & PROFILE_PARTS)
		l->opts.slots = PROFILE_PART_CNT;
	return 0;
}

/* ---- groups of a stack ---- */

static const struct thread *thread_of(const struct draw *d, const struct weight *w)
{
	return d->l->threads ? threads__find(d->l->threads, w->thread) : NULL;
}

static uint32_t group_name(const struct draw *d, enum draw_group by, const struct weight *w)
{
	static const struct thread lost = {0};
	const struct thread *t = thread_of(d, w);
	struct strbuf b = {0};
	const char *name;
	uint32_t id;

	if (!w->thread)
		return strings__add(d->l->strings, span_of("[several threads]"));
	name = !t ? "[lost]"
		  : strings__get(d->l->strings, by == DRAW_BY_THREAD   ? t->comm
						: by == DRAW_BY_CGROUP ? t->cgroup
								       : t->process);
	if (!name || !*name)
		name = by == DRAW_BY_CGROUP ? "[no cgroup]" : "[unnamed]";
	t = t ? t : &lost;
	if (d->a->captures.cnt > 1)
		strbuf_addf(&b, "%s: ", d->a->captures.v[w->thread >> 32].host);
	strbuf_addf(&b, "%s", name);
	if (by == DRAW_BY_PROCESS || by == DRAW_BY_THREAD)
		strbuf_addf(&b, " (%u)", by == DRAW_BY_PROCESS ? t->pid : t->tid);
	id = strings__add(d->l->strings, (struct span){b.p, b.len});
	strbuf_fini(&b);
	return id;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static size_t count_distinct(uint64_t *v, size_t cnt)
{
	size_t distinct = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), compare_ids);
	for (size_t i = 0; i < cnt; i++)
		distinct += !i || v[i] != v[i - 1];
	return distinct;
}

/* Programs are processes of the same name. */
static int choose_groups(struct draw *d)
{
	uint64_t *programs = NULL, *processes = NULL;
	size_t cnt = 0, program_cap = 0, process_cap = 0;
	int64_t last = 0;
	int err = 0;

	for (size_t i = 0; i < DRAW_MAX_GROUPS && d->opts->by[i] != DRAW_BY_NONE; i++)
		d->by[i] = d->opts->by[i];
	if (d->opts->by[0] || d->sink->wants & PROFILE_LABELS)
		return 0;
	for (size_t i = 0; i < weights__cnt(d->l->weights) && !err; i++) {
		const struct weight *w = weights__get(d->l->weights, i);
		const struct thread *t = thread_of(d, w);

		if (!(d->kinds >> w->kind & 1) || !t || w->thread == last)
			continue;
		err = array_reserve(&programs, &program_cap, cnt + 1);
		if (!err)
			err = array_reserve(&processes, &process_cap, cnt + 1);
		if (err)
			break;
		programs[cnt] = t->process;
		processes[cnt++] = (uint64_t)w->thread >> 32 << 32 | t->pid;
		last = w->thread;
	}
	if (!err && count_distinct(programs, cnt) > 1)
		d->by[0] = count_distinct(processes, cnt) > DEFAULT_PROCESSES ? DRAW_BY_PROGRAM
									      : DRAW_BY_PROCESS;
	free(programs);
	free(processes);
	return err;
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
	struct profile_frame *f;

	if (!d->apart && d->kinds & (d->kinds - 1)) { /* several kinds in one graph */
		if (!(f = next_frame(d, *cnt)))
			return -ENOMEM;
		*f = (struct profile_frame){.name = kind_of(d, w->kind)->name,
					    .kind = PROFILE_GROUP};
		++*cnt;
	}
	for (size_t i = 0; d->by[i]; i++) {
		if (!d->drawn || d->drawn->thread != w->thread)
			d->groups[i] = group_name(d, d->by[i], w);
		if (!d->groups[i] || !(f = next_frame(d, *cnt)))
			return -ENOMEM;
		*f = (struct profile_frame){.name = strings__get(d->l->strings, d->groups[i]),
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
		.system_name = strings__get(d->l->strings,
					    frames__function(d->l->frames, f->function)->linkage),
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

	if (!error || d->view.outer)
		return 0;
	strbuf_addf(note, "[incomplete: %s]", error);
	if (note->failed || !(f = next_frame(d, *cnt)))
		return -ENOMEM;
	*f = (struct profile_frame){.name = note->p, .kind = PROFILE_NOTE};
	++*cnt;
	return 0;
}

/* Whether the frames before the code are the same: groups and the note. */
static bool same_head(const struct draw *d, const struct weight *w)
{
	return d->drawn && d->drawn->kind == w->kind && d->drawn->thread == w->thread &&
	       d->root_cut == !!d->view.outer &&
	       stacks__get(d->l->stacks, d->drawn->stack).error ==
		       stacks__get(d->l->stacks, w->stack).error;
}

/* The stack's code is added to the frames. The outer frames that it shares with the stack before
 * are still there. */
static int add_code(struct draw *d, const struct weight *w, struct profile_stack *s)
{
	const struct stack_view *v = &d->view;
	size_t kept = same_head(d, w) ? v->same : 0;

	s->same = same_head(d, w) ? s->cnt + kept : 0;
	for (size_t i = 0; i < v->cnt; i++, s->cnt++) {
		struct profile_frame *to;

		if (i < kept)
			continue;
		to = next_frame(d, s->cnt);
		if (!to)
			return -ENOMEM;
		fill_frame(d, to, frames__get(d->l->frames, v->frames[i]));
	}
	return 0;
}

static void remember(struct draw *d, const struct weight *w)
{
	d->root_cut = d->view.outer;
	d->drawn = w;
}

/* Returns the index of the stack's primary value. */
static size_t fill_values(const struct draw *d, const struct weight *w, uint64_t *values)
{
	size_t at = 0;

	memset(values, 0, d->type_cnt * sizeof(*values));
	if (!d->apart) {
		values[0] = d->type_cnt == 2 ? w->count : w->value;
		if (d->type_cnt == 2)
			values[1] = w->value;
		return d->primary;
	}
	for (uint32_t k = 0; k < w->kind; k++)
		at += 2 * (d->kinds >> k & 1);
	values[at] = w->count;
	values[at + 1] = w->value;
	return at + 1;
}

enum { LABELS = 7 };

static size_t fill_labels(const struct draw *d, const struct weight *w,
			  struct profile_label labels[LABELS])
{
	const struct thread *t = thread_of(d, w);
	const char *host = d->a->captures.cnt > 1 ? d->a->captures.v[w->thread >> 32].host : NULL;
	const struct profile_label all[LABELS] = {
		{.key = "process", .str = t ? strings__get(d->l->strings, t->process) : NULL},
		{.key = "pid", .num = t ? t->pid : 0},
		{.key = "thread", .str = t ? strings__get(d->l->strings, t->comm) : NULL},
		{.key = "tid", .num = t ? t->tid : 0},
		{.key = "cgroup", .str = t ? strings__get(d->l->strings, t->cgroup) : NULL},
		{.key = "container", .str = t ? strings__get(d->l->strings, t->container) : NULL},
		{.key = "host", .str = w->thread ? host : NULL},
	};
	size_t cnt = 0;

	for (size_t i = 0; i < LABELS; i++)
		if ((all[i].str && *all[i].str) || all[i].num)
			labels[cnt++] = all[i];
	return cnt;
}

static int add_stack(struct draw *d, const struct weight *w)
{
	uint64_t values[2 * SAMPLE_KIND_CNT];
	struct profile_label labels[LABELS];
	struct profile_stack s = {.values = values, .labels = labels};
	struct strbuf note = {0};
	int err;

	err = stack_view__read(&d->view, d->l, w->stack);
	if (!err)
		err = add_groups(d, w, &s.cnt);
	if (!err)
		err = add_note(d, w->stack, &note, &s.cnt);
	if (!err)
		err = add_code(d, w, &s);
	if (!err) {
		s.frames = d->frames;
		s.primary = fill_values(d, w, values);
		if (d->sink->wants & PROFILE_PARTS)
			s.part = w->slot;
		if (d->sink->wants & PROFILE_LABELS)
			s.label_cnt = fill_labels(d, w, labels);
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

/* The tree of callers begins at the function, with its callers below. */
static bool only_callers(const struct load *l)
{
	return l->opts.samples.callers && !l->opts.samples.callees;
}

static char *default_title(const struct draw *d)
{
	const struct sample_filter *f = &d->l->opts.samples;
	bool several = d->kinds & (d->kinds - 1);
	struct strbuf b = {0};

	strbuf_addf(&b, "%s",
		    several ? "Samples by kind" : kind_of(d, __builtin_ctzll(d->kinds))->title);
	for (size_t i = 0; d->by[i]; i++)
		strbuf_addf(&b, "%s%s", i || several ? ", " : ", by ", group_words[d->by[i]]);
	if (d->opts->inverted && !only_callers(d->l))
		strbuf_addf(&b, ", by leaf");
	if (f->callees)
		strbuf_addf(&b, ", callees of %s", f->callees);
	if (f->callers)
		strbuf_addf(&b, ", callers of %s", f->callers);
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

/* What was recorded, and what is shown of it. */
static char *subtitle_of(const struct draw *d)
{
	char *about = analysis__subtitle(d->a, "samples");
	struct strbuf b = {0};

	strbuf_addf(&b, "%s, only ", about ? about : "");
	if (!sample_filter_any(&d->l->opts.samples)) {
		strbuf_fini(&b);
		return about;
	}
	free(about);
	sample_filter_text(&d->l->opts.samples, &b);
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

static int feed(struct draw *d)
{
	int err = 0;

	for (size_t i = 0; i < weights__cnt(d->l->weights) && !err; i++) {
		const struct weight *w = weights__get(d->l->weights, i);

		stack_view__ahead(d->l, i);
		if (d->kinds >> w->kind & 1)
			err = add_stack(d, w);
	}
	return err;
}

int draw_choose_groups(const struct analysis *a, struct draw_opts *o,
		       const struct profile_sink *sink)
{
	struct draw d = {.a = a, .l = &a->load, .opts = o, .sink = sink};
	int err;

	choose_kinds(&d);
	err = choose_groups(&d);
	memcpy(o->by, d.by, sizeof(o->by));
	if (!o->by[0])
		o->by[0] = DRAW_BY_NONE;
	return err;
}

static void draw_fini(struct draw *d)
{
	free(d->frames);
	stack_view__fini(&d->view);
}

int draw_write(const struct analysis *a, const struct draw_opts *o, const struct profile_sink *sink,
	       FILE *out)
{
	struct draw d = {.a = a,
			 .l = &a->load,
			 .opts = o,
			 .sink = sink,
			 .apart = sink->wants & PROFILE_KINDS};
	const struct capture *first = &a->captures.v[0];
	struct profile_info info = {.types = d.types,
				    .inverted = o->inverted || only_callers(&a->load),
				    .full_names = a->load.opts.names == NAMES_FULL};
	char *title = NULL, *subtitle;
	int err, ended;

	choose_kinds(&d);
	err = choose_groups(&d);
	subtitle = subtitle_of(&d);
	info.primary = d.primary = choose_types(&d);
	info.type_cnt = d.type_cnt;
	info.started_ns = first->started_ns;
	info.duration_ns = first->duration_ns;
	info.period_ns = first->freq && a->captures.cnt == 1 ? 1000000000 / first->freq : 0;
	title = default_title(&d);
	info.title = o->title ? o->title : title;
	info.subtitle = subtitle;
	if (!err && (!title || !subtitle))
		err = -ENOMEM;
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
