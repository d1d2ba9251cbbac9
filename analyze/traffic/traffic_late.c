/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections open before the capture of which the order of requests and responses is unknown, by
 * capture and protocol: the table `late`. */
#include "format/text.h"
#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_note.h"

int traffic_write_late(struct traffic *t)
{
	struct insert in;
	int err = insert_open(&in, t->load->store,
			      "INSERT INTO late VALUES(?,?,1,?,?) ON CONFLICT DO UPDATE SET "
			      "connections = connections + 1, calls = calls + excluded.calls, "
			      "unpaired = unpaired + excluded.unpaired");

	for (size_t i = 0; i < t->conn_cnt && !err; i++) {
		const struct conn *c = t->conns[i];

		if (!c->late_unpaired)
			continue;
		insert_int(&in, capture_id(c->capture));
		insert_text(&in, strings__get(t->strings, c->protocol));
		insert_int(&in, c->sum.seen);
		insert_int(&in, c->late_unpaired);
		err = insert_run(&in);
	}
	insert_close(&in);
	return err;
}

bool traffic_late_text(const struct analysis *a, size_t capture, struct strbuf *b)
{
	sqlite3_stmt *stmt = NULL;
	char some[24], all[24];
	uint64_t cnt = 0;

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT sum(connections), sum(unpaired), sum(calls), "
				"group_concat(protocol, ', ') FROM (SELECT * FROM late WHERE "
				"capture_id = ? ORDER BY protocol)",
				-1, &stmt, NULL) &&
	    !sqlite3_bind_int64(stmt, 1, capture_id(capture)) && sqlite3_step(stmt) == SQLITE_ROW)
		cnt = sqlite3_column_int64(stmt, 0);
	if (cnt)
		strbuf_addf(
			b,
			"%llu connection%s open before the capture, perhaps with requests "
			"outstanding "
			"(%s): %s of %s calls on %s are unpaired and without latency",
			(unsigned long long)cnt, cnt == 1 ? "" : "s", sqlite3_column_text(stmt, 3),
			format_count(some, sqlite3_column_int64(stmt, 1)),
			format_count(all, sqlite3_column_int64(stmt, 2)), cnt == 1 ? "it" : "them");
	sqlite3_finalize(stmt);
	return cnt;
}
