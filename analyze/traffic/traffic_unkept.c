/* SPDX-License-Identifier: BSD-2-Clause */
/* What was missed because payload was not captured, by capture and protocol: the table `unkept`. */
#include <errno.h>

#include "format/text.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_note.h"

enum { MOST = 65535 }; /* maximum of --payload */

int traffic_add_unkept(struct traffic *t, const struct conn *c)
{
	struct l7_stats st = l7_conn__stats(c->l7);
	struct unkept *u = NULL;

	if (!st.unkept_places)
		return 0;
	for (size_t i = 0; i < t->unkept_cnt && !u; i++)
		if (t->unkept[i].capture == c->capture && t->unkept[i].protocol == c->protocol)
			u = &t->unkept[i];
	if (!u) {
		if (array_reserve(&t->unkept, &t->unkept_cap, t->unkept_cnt + 1))
			return -ENOMEM;
		u = &t->unkept[t->unkept_cnt++];
		*u = (struct unkept){.capture = c->capture, .protocol = c->protocol};
	}
	u->places += st.unkept_places;
	u->bytes += st.unkept_bytes;
	u->missing += st.missing;
	u->unpaired += c->unkept_unpaired;
	u->no_ends += c->no_ends;
	u->partials += c->partials;
	if (st.unkept_call > u->longest)
		u->longest = st.unkept_call;
	return 0;
}

int traffic_write_unkept(struct traffic *t)
{
	struct insert in;
	int err = insert_open(&in, t->load->store, "INSERT INTO unkept VALUES(?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < t->unkept_cnt && !err; i++) {
		const struct unkept *u = &t->unkept[i];

		insert_int(&in, capture_id(u->capture));
		insert_text(&in, strings__get(t->strings, u->protocol));
		insert_int(&in, u->places);
		insert_int(&in, u->bytes);
		insert_int(&in, u->longest);
		insert_int(&in, u->missing);
		insert_int(&in, u->unpaired);
		insert_int(&in, u->no_ends);
		insert_int(&in, u->partials);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

static void add_amount(struct strbuf *b, const char *before, uint64_t n, const char *one,
		       const char *many)
{
	char buf[24];

	if (n)
		strbuf_addf(b, "%s%s %s", before, format_count(buf, n), n == 1 ? one : many);
}

/* Adds the option that would have captured the payload. */
static void add_advice(struct strbuf *b, const struct capture *c, uint64_t longest)
{
	uint64_t enough = (longest + 1023) / 1024 * 1024;

	if (enough <= MOST)
		strbuf_addf(b, "; capture them with --payload %llu", (unsigned long long)enough);
	else if (c->payload < MOST)
		strbuf_addf(b, "; --payload %u, the maximum, captures more", MOST);
}

bool traffic_unkept_text(const struct analysis *a, size_t capture, struct strbuf *b)
{
	const struct capture *c = &a->captures.v[capture];
	sqlite3_stmt *stmt = NULL;
	uint64_t v[7] = {0};
	char buf[24];

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT sum(bytes), sum(places), sum(missing), sum(unpaired), "
				"max(longest), sum(no_ends), sum(partials) FROM unkept WHERE "
				"capture_id = ?",
				-1, &stmt, NULL)) {
		sqlite3_bind_int64(stmt, 1, capture_id(capture));
		if (sqlite3_step(stmt) == SQLITE_ROW)
			for (int i = 0; i < 7; i++)
				v[i] = sqlite3_column_int64(stmt, i);
	}
	sqlite3_finalize(stmt);
	if (!v[2] && !v[3] && !v[5] && !v[6])
		return false;
	strbuf_addf(b, "%s of payload", format_bytes(buf, v[0]));
	add_amount(b, " in ", v[1], "call", "calls");
	strbuf_addf(b, " not captured (--payload ");
	if (c->payload_many)
		strbuf_addf(b, "head):");
	else
		strbuf_addf(b, "%llu):", (unsigned long long)c->payload);
	add_amount(b, " at least ", v[2], "request or response is missing",
		   "requests or responses are missing");
	add_amount(b, v[2] ? ", " : " ", v[3], "is unpaired", "are unpaired");
	add_amount(b, v[2] || v[3] ? ", " : " ", v[5], "response took longer than shown",
		   "responses took longer than shown");
	add_amount(b, v[2] || v[3] || v[5] ? ", " : " ", v[6],
		   "request or response has more bytes than shown",
		   "requests or responses have more bytes than shown");
	add_advice(b, c, v[4]);
	return true;
}

bool traffic_unnamed_text(const struct analysis *a, size_t capture, struct strbuf *b)
{
	const struct capture *c = &a->captures.v[capture];
	char buf[24];

	if (!c->unnamed_calls)
		return false;
	strbuf_addf(b, "%s", format_bytes(buf, c->unnamed_bytes));
	add_amount(b, " in ", c->unnamed_calls, "call", "calls");
	strbuf_addf(b, " of unrecognized protocols not written (see --payload-unknown)");
	return true;
}
