/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/loss_effects.h"
#include "analyze/traffic/traffic_note.h"

#include <string.h>

static uint64_t lost_with(const struct analysis *a, const char *effect)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t v = 0;

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT sum(count) FROM loss WHERE affects = ?", -1, &stmt, NULL) &&
	    !sqlite3_bind_text(stmt, 1, effect, -1, SQLITE_STATIC) &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		v = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return v;
}

static void put_losses(const struct analysis *a, FILE *out)
{
	for (const char *const *e = loss_effects; *e; e++) {
		uint64_t lost = strcmp(loss_effect_on(*e), "traffic") ? 0 : lost_with(a, *e);
		struct strbuf text = {0};

		if (!lost)
			continue;
		loss_text(&text, *e, lost);
		fprintf(out, "Losses    %s\n", text.p ? text.p : "");
		strbuf_fini(&text);
	}
}

static void put_note(const struct analysis *a, size_t capture, const char *title,
		     bool (*text)(const struct analysis *a, size_t capture, struct strbuf *b),
		     FILE *out)
{
	struct strbuf b = {0};

	if (text(a, capture, &b)) {
		if (a->captures.cnt > 1) {
			strbuf_addf(&b, ", on ");
			strbuf_escape(&b, ESCAPE_TERMINAL, span_of(a->captures.v[capture].host));
		}
		fprintf(out, "%-9s %s\n", title, b.p ? b.p : "");
	}
	strbuf_fini(&b);
}

void traffic_note(const struct analysis *a, FILE *out)
{
	for (size_t i = 0; i < a->captures.cnt; i++) {
		put_note(a, i, "Sampled", traffic_scaled_text, out);
		put_note(a, i, "Payload", traffic_unkept_text, out);
		put_note(a, i, "Payload", traffic_unnamed_text, out);
		put_note(a, i, "Pairing", traffic_late_text, out);
		put_note(a, i, "Twice", traffic_twice_text, out);
	}
	put_losses(a, out);
}

double traffic_seconds(const struct load *l)
{
	uint64_t longest = 1;

	for (size_t i = 0; i < l->captures->cnt; i++) {
		const struct capture *c = &l->captures->v[i];
		uint64_t span[2], end = c->started_ns + c->duration_ns;

		load__span(l, i, span);
		if (span[0] < c->started_ns)
			span[0] = c->started_ns;
		if (span[1] > end)
			span[1] = end;
		if (span[1] > span[0] && span[1] - span[0] > longest)
			longest = span[1] - span[0];
	}
	return longest / 1e9;
}

uint64_t traffic_start_ns(const struct captures *c)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < c->cnt; i++)
		if (c->v[i].started_ns < first)
			first = c->v[i].started_ns;
	return first;
}
