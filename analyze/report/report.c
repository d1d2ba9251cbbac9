/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the facts, then the sections in order. */
#include "analyze/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/report/report_impl.h"
#include "analyze/report/section_ahead.h"
#include "analyze/report/section_rows.h"

/* What to write, in order: a heading, a note, or a section. */
struct step {
	size_t group; /* the first of the sections with its heading */
	const char *heading, *note;
	struct section_of of;
	uint32_t kind; /* index of the section's kind */
};

struct plan {
	struct step *v;
	size_t cnt, cap;
	bool failed;
};

static void add_step(struct plan *p, struct step step)
{
	if (array_reserve(&p->v, &p->cap, p->cnt + 1)) {
		p->failed = true;
		return;
	}
	p->v[p->cnt++] = step;
}

/* End of the sections with the same heading. */
static size_t group_end(size_t first)
{
	size_t end = first + 1;

	while (end < section_cnt && !strcmp(sections[end].heading, sections[first].heading))
		end++;
	return end;
}

/* A filter of samples is a question about these: other sections do not know its answer. */
static bool is_shown(const struct load *l, const struct section *s)
{
	return s->as != SECTION_LISTING && !section_is_absent(s, l->captures) &&
	       (section_of_samples(s) || !sample_filter_any(&l->opts.samples));
}

static void plan_group(const struct report *r, struct plan *p, const char *heading, size_t from,
		       size_t to, uint32_t kind)
{
	const struct load *l = &r->a->load;
	size_t group = from;

	add_step(p, (struct step){group, .heading = heading});
	for (; from < to; from++)
		if (is_shown(l, &sections[from]) &&
		    (r->page->wide || !section_is_wide(&sections[from])))
			add_step(p,
				 (struct step){
					 group,
					 .of = {&sections[from], sample_kinds__get(l->kinds, kind)},
					 .kind = kind,
				 });
}

/* ---- sample kinds ---- */

/* Whether samples were requested: a capture of traffic only has none, and that is not worth a
 * note. */
static bool samples_asked_for(const struct report *r)
{
	const struct captures *c = &r->a->captures;

	for (size_t i = 0; i < c->cnt; i++) {
		if (!*c->v[i].probes)
			return true;
		for (size_t k = 0; k < sample_kinds__cnt(r->a->load.kinds); k++)
			if (list_has(c->v[i].probes, sample_kinds__get(r->a->load.kinds, k)->name))
				return true;
	}
	return r->a->load.opts.kinds;
}

static const char *no_samples(const struct report *r)
{
	const struct load_opts *o = &r->a->load.opts;
	bool filtered = o->kinds || o->from.set || o->to.set || sample_filter_any(&o->samples);

	if (report_number(r, "SELECT EXISTS (SELECT 1 FROM series)") ||
	    (!samples_asked_for(r) && report_number(r, "SELECT EXISTS (SELECT 1 FROM connection)")))
		return NULL;
	return filtered ? "No such samples." : "No samples.";
}

static bool has_samples(const struct report *r, const char *kind)
{
	sqlite3_stmt *stmt = NULL;
	bool found = !sqlite3_prepare_v2(r->db, "SELECT 1 FROM kind_total WHERE kind = ?", -1,
					 &stmt, NULL) &&
		     !sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC) &&
		     sqlite3_step(stmt) == SQLITE_ROW;

	sqlite3_finalize(stmt);
	return found;
}

/* A group of sections for each kind that occurs. */
static void plan_kinds(const struct report *r, struct plan *p, size_t from, size_t to)
{
	bool none = true;

	for (size_t k = 0; k < sample_kinds__cnt(r->a->load.kinds); k++) {
		const struct named_kind *kind = sample_kinds__get(r->a->load.kinds, k);

		if (!has_samples(r, kind->name))
			continue;
		none = false;
		plan_group(r, p, kind->title, from, to, k);
	}
	if (none)
		add_step(p, (struct step){from, .note = no_samples(r)});
}

/* ---- the whole report ---- */

int report_prepare(struct load *l, bool page)
{
	int err = report_facts_prepare(l);

	for (size_t i = 0; i < section_cnt && !err; i++)
		if (is_shown(l, &sections[i]) && (page || !section_is_wide(&sections[i])))
			err = section_prepare(&sections[i], l, 0);
	if (err)
		message_error("report: %s", sqlite3_errmsg(store__db(l->store)));
	return err;
}

int report_prepare_all(struct load *l)
{
	return store__tables(l->store, &l->wanted);
}

static void plan_sections(const struct report *r, struct plan *p, size_t from, size_t to)
{
	if (section_of_kind(&sections[from]))
		plan_kinds(r, p, from, to);
	else
		plan_group(r, p, sections[from].heading, from, to, 0);
}

/* Whether the tables that the sections read are filled. */
static bool is_ready(const struct report *r, size_t from, size_t to)
{
	bool ready = true;

	/* Whether samples should be there is told by connections. */
	if (section_of_kind(&sections[from]))
		ready = report_number(r, "SELECT EXISTS (SELECT 1 FROM kind_total)");
	for (; from < to && ready; from++) {
		struct name_set tables = {0};

		if (!is_shown(&r->a->load, &sections[from]))
			continue;
		ready = !section_tables(&sections[from], &r->a->load, 0, &tables);
		for (size_t i = 0; i < tables.cnt && ready; i++)
			ready = load__is_filled(&r->a->load, tables.v[i]);
		name_set_fini(&tables);
	}
	return ready;
}

/* Starts with all sections of the plan; they are put in *of, to be freed. */
static struct section_ahead *start_ahead(const struct report *r, const struct plan *p,
					 struct section_of **of)
{
	size_t cnt = 0;

	*of = load__threads(&r->a->load) > 1 ? malloc(p->cnt * sizeof(**of)) : NULL;
	for (size_t i = 0; *of && i < p->cnt; i++)
		if (p->v[i].of.section)
			(*of)[cnt++] = p->v[i].of;
	return cnt ? section_ahead__new(r->a->store, *of, cnt, r->limit) : NULL;
}

/* reader: a connection that may have the rows, or NULL. */
static int rows_of(const struct report *r, const struct section_of *of, sqlite3 *reader,
		   struct section_rows *rows)
{
	if (reader && section_rows__find(rows, reader, of->section, of->kind) == 1)
		return 0;
	return section_rows__get(rows, r->db, of->section, of->kind, r->limit);
}

/* Writes nothing if there are no rows. */
static int put_section(const struct report *r, const struct step *step, sqlite3 *reader)
{
	const struct section *s = step->of.section;
	struct section_rows rows;
	long err = rows_of(r, &step->of, reader, &rows);

	if (!err)
		err = r->page->section(r->page->ctx, s, step->kind, rows.stmt);
	if (err < 0)
		message_error("report: %s: %s", s->name, sqlite3_errmsg(r->db));
	else if (rows.left_out)
		r->page->more(r->page->ctx, rows.left_out);
	section_rows__fini(&rows);
	return err < 0 ? (int)err : 0;
}

/* Steps of one group. at: of the first section among all of the plan. */
static int put_group(const struct report *r, const struct step *v, size_t cnt,
		     struct section_ahead *ahead, size_t at)
{
	sqlite3 *reader = store__reader(r->a->store);
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		if (v[i].heading)
			r->page->heading(r->page->ctx, v[i].heading);
		if (v[i].note)
			r->page->note(r->page->ctx, v[i].note);
		if (!v[i].of.section)
			continue;
		err = put_section(r, &v[i],
				  !ahead || section_ahead__ended(ahead, at) ? reader : NULL);
		at++;
	}
	return err;
}

/* hold: what is written is held back. */
static int put_plan(const struct report *r, const struct plan *p, bool hold)
{
	const struct report_page *page = r->page;
	struct section_of *of = NULL;
	struct section_ahead *ahead = p->failed ? NULL : start_ahead(r, p, &of);
	int err = p->failed ? -ENOMEM : 0;
	size_t at = 0;

	for (size_t i = 0, end; i < p->cnt && !err; i = end) {
		size_t group = p->v[i].group, here = at;

		for (end = i; end < p->cnt && p->v[end].group == group; end++)
			at += p->v[end].of.section != NULL;
		if (!hold && page->written && page->written(page->ctx, group))
			continue;
		if (hold)
			err = page->begin(page->ctx, group);
		if (!err)
			err = put_group(r, &p->v[i], end - i, ahead, here);
		if (hold)
			page->end(page->ctx);
	}
	section_ahead__free(ahead);
	free(of);
	return err;
}

static int write_plan(const struct report *r, struct plan *p, bool hold)
{
	int err = put_plan(r, p, hold);

	free(p->v);
	return err;
}

int report_write_ready(const struct analysis *a, const struct report_page *page, unsigned limit)
{
	struct report r = {a, page, store__db(a->store), limit};
	struct plan plan = {0};

	for (size_t i = 0, end; i < section_cnt; i = end) {
		end = group_end(i);
		if (is_ready(&r, i, end))
			plan_sections(&r, &plan, i, end);
	}
	return write_plan(&r, &plan, true);
}

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit)
{
	struct report r = {a, page, store__db(a->store), limit};
	struct plan plan = {0};

	report_facts(&r);
	for (size_t i = 0, end; i < section_cnt; i = end) {
		end = group_end(i);
		plan_sections(&r, &plan, i, end);
	}
	return write_plan(&r, &plan, false);
}
