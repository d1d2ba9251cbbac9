/* SPDX-License-Identifier: BSD-2-Clause */
/* Accuracy of scaled statistics: stored when they are loaded, printed when they are shown. */
#include <math.h>

#include "analyze/traffic/traffic.h"
#include "analyze/traffic/traffic_note.h"

/* Sums of the messages of a capture. */
struct scaled {
	uint64_t connections, seen;
	double calls, variance;
};

static int write_capture(struct insert *in, const struct traffic *t, uint32_t capture)
{
	const struct scale *s = &t->scales[capture];
	uint64_t least_per_64k = 65536 * t->load->captures->v[capture].sample;
	struct scaled sum = {0};

	for (size_t i = 0; i < s->cnt; i++)
		if (s->steps[i].kept_per_64k < least_per_64k)
			least_per_64k = s->steps[i].kept_per_64k;
	if (least_per_64k >= 65536)
		return 0;
	for (size_t i = 0; i < t->conn_cnt; i++) {
		const struct conn *c = t->conns[i];

		if (c->capture != capture || !c->sum.seen)
			continue;
		sum.connections++;
		sum.seen += c->sum.seen;
		sum.calls += c->sum.weight;
		sum.variance += scale_variance(&c->sum);
	}
	insert_int(in, capture_id(capture));
	insert_int(in, least_per_64k);
	insert_int(in, s->cnt);
	insert_int(in, sum.connections);
	insert_int(in, sum.seen);
	insert_int(in, llround(sum.calls));
	insert_int(in, llround(2 * sqrt(sum.variance)));
	return insert_run(in);
}

int traffic_write_scaling(struct traffic *t)
{
	struct insert in;
	int err = insert_open(&in, t->load->store,
			      "INSERT INTO scaling VALUES(?,? / 65536.0,?,?,?,?,?)");

	for (size_t i = 0; i < t->load->captures->cnt && !err; i++)
		err = write_capture(&in, t, i);
	insert_close(&in);
	return err;
}

static void add_text(struct strbuf *b, const struct capture *c, sqlite3_stmt *row)
{
	double least = sqlite3_column_double(row, 0);
	sqlite3_int64 steps = sqlite3_column_int64(row, 1),
		      connections = sqlite3_column_int64(row, 2),
		      calls = sqlite3_column_int64(row, 3), error = sqlite3_column_int64(row, 4);

	strbuf_addf(b, "payload of %.3g%% of connections was captured", 100 * c->sample);
	if (steps)
		strbuf_addf(b, ", down to %.3g%% for --cpu-budget (%lld %s)", 100 * least,
			    (long long)steps, steps == 1 ? "step" : "steps");
	if (!connections) {
		strbuf_addf(b, ", none with requests: their number is unknown");
		return;
	}
	strbuf_addf(b, ": requests, errors and their bytes are scaled up from %lld %s",
		    (long long)connections, connections == 1 ? "connection" : "connections");
	if (calls)
		strbuf_addf(b, ", 95 %% confidence interval +- %.*f %%", error * 10 < calls,
			    100.0 * error / calls);
}

bool traffic_scaled_text(const struct analysis *a, size_t capture, struct strbuf *b)
{
	sqlite3_stmt *stmt = NULL;
	bool scaled = false;

	if (!sqlite3_prepare_v2(store__db(a->store),
				"SELECT least, steps, connections, calls, calls_error FROM scaling "
				"WHERE capture_id = ?",
				-1, &stmt, NULL)) {
		sqlite3_bind_int64(stmt, 1, capture_id(capture));
		scaled = sqlite3_step(stmt) == SQLITE_ROW;
		if (scaled)
			add_text(b, &a->captures.v[capture], stmt);
	}
	sqlite3_finalize(stmt);
	return scaled;
}
