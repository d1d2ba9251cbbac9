/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/analysis.h"

#include <errno.h>
#include <string.h>

#include "analyze/load/common_opts.h"
#include "analyze/load/loss_effects.h"
#include "format/text.h"

int analysis__open(struct analysis *a, const struct common_opts *opts, char *const *paths,
		   size_t cnt, const char *sqlite_path)
{
	struct load_opts load = opts->load;
	int err;

	*a = (struct analysis){0};
	err = captures__open(&a->captures, paths, cnt);
	if (!err)
		err = store__open(&a->store, sqlite_path);
	if (!err)
		err = load__init(&a->load, &a->captures, a->store, &load);
	if (err)
		analysis__close(a, err);
	return err;
}

int analysis__close(struct analysis *a, int err)
{
	int code = err ? exit_code(err) : captures_damaged(&a->captures) ? EXIT_PARTIAL : EXIT_OK;

	load__fini(&a->load);
	store__close(a->store);
	captures__close(&a->captures);
	a->store = NULL;
	return code;
}

void analysis__warn(const struct analysis *a)
{
	char what[256];

	for (size_t i = 0; i < a->captures.cnt; i++)
		if (capture_damaged(&a->captures.v[i], what, sizeof(what)))
			message_warn("%s: %s; showing what is readable", a->captures.v[i].path,
				     what);
}

static uint64_t count_lost(const struct analysis *a, const char *affects)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t sum = 0;

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT sum(count) FROM loss WHERE affects = ?", -1, &stmt, NULL) &&
	    !sqlite3_bind_text(stmt, 1, affects, -1, SQLITE_STATIC) &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		sum = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return sum;
}

static void add_lost(struct strbuf *b, const struct analysis *a, const char *affects,
		     const char *what)
{
	uint64_t lost = count_lost(a, affects);

	if (!lost)
		return;
	strbuf_addf(b, ", ");
	loss_name(b, affects, lost);
	strbuf_addf(b, " %s", what);
}

char *analysis__subtitle(const struct analysis *a, const char *affects)
{
	struct strbuf b = {0};
	char buf[24], damage[256];

	for (size_t i = 0; i < a->captures.cnt; i++) {
		const struct capture *c = &a->captures.v[i];

		if (i == 4) {
			strbuf_addf(&b, ", and %zu more", a->captures.cnt - i);
			break;
		}
		strbuf_addf(&b, "%s%s, %s", i ? "; " : "", *c->host ? c->host : "unknown host",
			    format_duration(buf, c->duration_ns));
		if (capture_damaged(c, damage, sizeof(damage)))
			strbuf_addf(&b, ", %s", damage);
	}
	if (affects) {
		add_lost(&b, a, affects, "lost");
		add_lost(&b, a, "all", "of any kind of data");
	}
	if (b.failed)
		strbuf_fini(&b);
	return b.p;
}

int exit_code(int err)
{
	return err >= 0 ? EXIT_OK : err == -EINVAL ? EXIT_USAGE : EXIT_FAIL;
}
