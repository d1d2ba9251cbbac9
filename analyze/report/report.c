/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the facts, then the sections in order. */
#include "analyze/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/report/report_impl.h"
#include "analyze/report/section_rows.h"

/* kind: its index. Writes nothing if there are no rows. */
static int put_section(const struct report *r, const struct section *s, uint32_t kind)
{
	const struct named_kind *named = sample_kinds__get(r->a->load.kinds, kind);
	struct section_rows rows;
	long err;

	if (section_is_wide(s) && !r->page->wide)
		return 0;
	err = section_rows__get(&rows, r->db, s, named, r->limit);
	if (!err)
		err = r->page->section(r->page->ctx, s, kind, rows.stmt);
	if (err < 0)
		message_error("report: %s: %s", s->name, sqlite3_errmsg(r->db));
	else if (rows.left_out)
		r->page->more(r->page->ctx, rows.left_out);
	section_rows__fini(&rows);
	return err < 0 ? (int)err : 0;
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
	return s->as != SECTION_LISTING &&
	       (section_of_samples(s) || !sample_filter_any(&l->opts.samples));
}

static int put_group(const struct report *r, const char *heading, size_t from, size_t to,
		     uint32_t kind)
{
	int err = 0;

	r->page->heading(r->page->ctx, heading);
	for (; from < to && !err; from++)
		if (is_shown(&r->a->load, &sections[from]))
			err = put_section(r, &sections[from], kind);
	return err;
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

static void put_no_samples(const struct report *r)
{
	const struct load_opts *o = &r->a->load.opts;
	bool filtered = o->kinds || o->from.set || o->to.set || sample_filter_any(&o->samples);

	if (report_number(r, "SELECT EXISTS (SELECT 1 FROM series)") ||
	    (!samples_asked_for(r) && report_number(r, "SELECT EXISTS (SELECT 1 FROM connection)")))
		return;
	r->page->note(r->page->ctx, filtered ? "No such samples." : "No samples.");
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

/* Writes a group of sections for each kind that occurs. */
static int put_kinds(const struct report *r, size_t from, size_t to)
{
	bool none = true;
	int err = 0;

	for (size_t k = 0; k < sample_kinds__cnt(r->a->load.kinds) && !err; k++) {
		const struct named_kind *kind = sample_kinds__get(r->a->load.kinds, k);

		if (!has_samples(r, kind->name))
			continue;
		none = false;
		err = put_group(r, kind->title, from, to, k);
	}
	if (none)
		put_no_samples(r);
	return err;
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

static int put_sections(const struct report *r, size_t from, size_t to)
{
	return section_of_kind(&sections[from]) ? put_kinds(r, from, to)
						: put_group(r, sections[from].heading, from, to, 0);
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

int report_write_ready(const struct analysis *a, const struct report_page *page, unsigned limit)
{
	struct report r = {a, page, store__db(a->store), limit};
	int err = 0;

	for (size_t i = 0, end; i < section_cnt && !err; i = end) {
		end = group_end(i);
		if (!is_ready(&r, i, end))
			continue;
		err = page->begin(page->ctx, i);
		if (!err)
			err = put_sections(&r, i, end);
		page->end(page->ctx);
	}
	return err;
}

int report_write(const struct analysis *a, const struct report_page *page, unsigned limit)
{
	struct report r = {a, page, store__db(a->store), limit};
	int err = 0;

	report_facts(&r);
	for (size_t i = 0, end; i < section_cnt && !err; i = end) {
		end = group_end(i);
		if (!page->written || !page->written(page->ctx, i))
			err = put_sections(&r, i, end);
	}
	return err;
}
