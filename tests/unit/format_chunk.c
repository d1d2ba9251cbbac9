/* SPDX-License-Identifier: BSD-2-Clause */
/* Every kind with extreme values through the encoder and back; older and newer schemas; hostile
 * columns. */
#include <errno.h>
#include <string.h>

#include "format/chunk.h"
#include "format/json.h"
#include "format/writer.h"
#include "check.h"
#include "format_random.h"

struct expect {
	const struct chunk_table *tables;
	size_t cnt, seen;
	bool same;
};

static int compare(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	struct expect *e = arg;
	const struct chunk_table *t = &e->tables[e->seen++];
	const struct rec_info *info = rec_info(kind);

	if (info != t->info || cnt != t->cnt)
		return e->same = false, 0;
	for (size_t i = 0; i < cnt; i++)
		if (!same_row(info, (const char *)rows + i * info->sz,
			      (const char *)t->rows + i * info->sz)) {
			printf("%s row %zu of %zu differs\n", info->name, i, cnt);
			e->same = false;
			break;
		}
	return 0;
}

static struct chunk_encoder *encoder;
static struct chunk_decoder *decoder;
static struct schema own;

static void round_trip(const struct chunk_table *tables, size_t cnt)
{
	struct chunk_header h = {.stream = "test", .seq = 7, .info.lost_before = 3}, got;
	struct expect e = {tables, cnt, 0, true};
	struct bytes out = {0};
	int err = chunk_encode(encoder, tables, cnt, &h, &out);

	CHECK(!err, "%d", err);
	CHECK(!chunk_header_get(&got, out.p, out.len));
	CHECK(got.seq == 7 && got.info.lost_before == 3 && !strcmp(got.stream, "test"));
	CHECK(got.header_sz + got.frame_sz == out.len);
	err = chunk_decode(decoder, &own, &got, out.p + got.header_sz, compare, &e);
	CHECK(!err && e.same && e.seen == cnt, "err %d, %zu of %zu tables", err, e.seen, cnt);
	bytes_fini(&out);
}

/* Any number of rows: one, few (plain dictionaries), many. Sizes are held to the bounds the writer
 * keeps. */
static void test_random(void)
{
	static const size_t counts[] = {1, 2, 9, 100, 700};

	for (size_t round = 0; round < 12 * 5; round++) {
		struct chunk_table tables[REC_KIND_MAX];
		size_t cnt = counts[round % 5], bound = 0, n = 0;

		for (unsigned k = 0; k < rec_info_cnt; k++) {
			const struct rec_info *info = &rec_infos[k];
			char *rows = calloc(cnt, info->sz);
			size_t used = 0;

			for (; used < cnt; used++) {
				random_row(info, rows + used * info->sz, used);
				bound += chunk_row_bound(info, rows + used * info->sz);
				if (bound > CHUNK_RAW_MAX / 2)
					break;
			}
			tables[n] = (struct chunk_table){info, rows, used};
			n += used > 0;
			if (!used)
				free(rows);
		}
		round_trip(tables, n);
		for (size_t i = 0; i < n; i++)
			free((void *)tables[i].rows);
	}
}

static void test_spans(void)
{
	for (unsigned k = 0; k < rec_info_cnt; k++) {
		unsigned cnt = 0;

		for (unsigned f = 0; f < rec_infos[k].field_cnt; f++)
			cnt += rec_infos[k].fields[f].type == REC_T_str ||
			       rec_infos[k].fields[f].type == REC_T_list;
		CHECK(cnt <= QUEUE_SPANS_MAX);
	}
}

/* A row's bound is never passed, whatever the value. */
static void test_bound(void)
{
	for (int round = 0; round < 2000; round++) {
		const struct rec_info *info = &rec_infos[random_u64() % rec_info_cnt];
		char rows[4][256];
		struct chunk_table t = {info, rows, 1 + random_u64() % 2};
		struct chunk_header h = {0};
		struct bytes out = {0};
		size_t bound = CHUNK_TABLE_BOUND;

		for (size_t i = 0; i < t.cnt; i++) {
			random_row(info, rows[0] + i * info->sz, i);
			bound += chunk_row_bound(info, rows[0] + i * info->sz);
		}
		CHECK(!chunk_encode(encoder, &t, 1, &h, &out) && h.info.raw_sz <= bound,
		      "%s: %u of %zu", info->name, (unsigned)h.info.raw_sz, bound);
		bytes_fini(&out);
	}
}

static void test_times(void)
{
	struct rec_loss rows[3] = {{.ts_ns = 500}, {.ts_ns = 100}, {.ts_ns = 900}};
	struct chunk_table t = {rec_info(REC_loss), rows, 3};
	struct chunk_header h = {0};
	struct bytes out = {0};

	CHECK(!chunk_encode(encoder, &t, 1, &h, &out));
	CHECK(h.info.first_ns == 100 && h.info.last_ns == 900 && h.info.records == 3);
	bytes_fini(&out);
}

/* ---- schemas of other versions ---- */

static struct json_object *field(const char *name, const char *type, const char *encoding)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "type", json_object_new_string(type));
	json_object_object_add(o, "encoding", json_object_new_string(encoding));
	return o;
}

static struct json_object *kind(const char *name, int number, struct json_object *fields)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "kind", json_object_new_string(name));
	json_object_object_add(o, "number", json_object_new_int(number));
	json_object_object_add(o, "stream", json_object_new_string("x"));
	json_object_object_add(o, "fields", fields);
	return o;
}

static int load(struct schema *s, struct json_object *kinds)
{
	struct json_object *o = json_object_new_object();
	const char *text;
	int err;

	json_object_object_add(o, "records", kinds);
	text = json_object_to_json_string(o);
	err = schema_load(s, text, strlen(text));
	json_object_put(o);
	return err;
}

/* Columns are given as varints of one byte each, so a column of n rows is n bytes. */
static int rows_of(const struct schema *s, const char *raw, size_t len, obz_rows_fn fn, void *arg)
{
	return chunk_decode_tables(s, (const uint8_t *)raw, len, CHUNK_ANY_ROWS, fn, arg);
}
#define RAW(...) ((const char[]){__VA_ARGS__}), sizeof((const char[]){__VA_ARGS__})

static struct rec_loss last;
static char first; /* of its source; spans end with the call */
static size_t calls;

static int keep(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	calls++;
	if (kind == REC_loss)
		last = ((const struct rec_loss *)rows)[cnt - 1];
	first = last.source.len ? *last.source.p : 0;
	return 0;
}

static void test_schemas(void)
{
	struct json_object *fields = json_object_new_array(), *kinds = json_object_new_array();
	struct schema s;

	/* a newer writer: another kind, a field appended in an encoding of its own, one of another
	 * type */
	json_object_array_add(fields, field("ts_ns", "u32", "PLAIN"));
	json_object_array_add(fields, field("source", "list", "SUFFIX"));
	json_object_array_add(fields, field("novel", "matrix", "HILBERT"));
	json_object_array_add(fields, field("count", "u64", "DELTA"));
	json_object_array_add(kinds, kind("hologram", 63, json_object_new_array()));
	json_object_array_add(kinds, kind("loss", 32, fields));
	json_object_array_add(kinds, kind("hologram2", 4000, json_object_new_array()));
	CHECK(!load(&s, kinds));
	calls = 0;
	CHECK(!rows_of(&s,
		       RAW(2, 63, 9, 1, 3, 1, 2, 3, /**/ 32, 2, 4, 2, 5, 6, 1, 0, 1, 99, 2, 8, 2),
		       keep, NULL));
	CHECK(calls == 1 && last.ts_ns == 6 && last.count == 5 && last.source.len == 0 &&
	      last.cause.len == 0);
	schema_fini(&s);

	/* another encoding than ours */
	kinds = json_object_new_array();
	fields = json_object_new_array();
	json_object_array_add(fields, field("source", "str", "RAW"));
	json_object_array_add(kinds, kind("loss", 32, fields));
	CHECK(!load(&s, kinds));
	CHECK(!rows_of(&s, RAW(1, 32, 2, 1, 4, 1, 1, 'a', 'b'), keep, NULL));
	CHECK(last.source.len == 1 && first == 'b');
	schema_fini(&s);

	/* an older writer: fewer fields than ours */
	kinds = json_object_new_array();
	fields = json_object_new_array();
	json_object_array_add(fields, field("ts_ns", "u64", "DELTA"));
	json_object_array_add(kinds, kind("loss", 32, fields));
	CHECK(!load(&s, kinds));
	memset(&last, 0xff, sizeof(last));
	CHECK(!rows_of(&s, RAW(1, 32, 1, 1, 1, 4), keep, NULL));
	CHECK(last.ts_ns == 2 && last.count == 0 && last.source.len == 0);
	/* a kind this schema does not have is skipped */
	calls = 0;
	CHECK(!rows_of(&s, RAW(1, 33, 1, 1, 1, 4), keep, NULL) && calls == 0);
	schema_fini(&s);
}

static void test_bad_schemas(void)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"{\"records\":{}}",
		"{\"records\":[1]}",
		"{\"records\":[{\"kind\":\"loss\",\"number\":32}]}",
		"{\"records\":[{\"kind\":\"loss\",\"number\":-1,\"fields\":[]}]}",
		"{\"records\":[{\"kind\":\"loss\",\"number\":32,\"fields\":[]},{\"kind\":\"loss\","
		"\"number\":32,\"fields\":[]}]}",
		"{\"records\":[{\"kind\":\"stack\",\"number\":16,\"fields\":["
		"{\"name\":\"frames\",\"type\":\"list\",\"encoding\":\"SUFFIX\"},"
		"{\"name\":\"frames\",\"type\":\"list\",\"encoding\":\"SUFFIX\"}]}]}",
		"{\"records\":[]} x",
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
	};
	struct schema s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(schema_load(&s, bad[i], strlen(bad[i])) == -EBADMSG, "%s", bad[i]);
}

static void test_hostile(void)
{
	struct schema *s = &own;
	struct expect none = {NULL, 0, 0, true};

	/* loss: ts_ns DELTA, source DICT, cause DICT, count PLAIN */
	CHECK(!rows_of(s, RAW(1, 32, 1, 4, 1, 2, 4, 1, 1, 'a', 0, 4, 1, 1, 'b', 0, 1, 9), keep,
		       NULL));
	CHECK(last.ts_ns == 1 && last.source.len == 1 && first == 'a' && last.count == 9);
	const struct {
		const char *why, *raw;
		size_t len;
	} cases[] = {
		{"empty", "", 0},
		{"trailing bytes", RAW(0, 0)},
		{"more rows than bytes",
		 RAW(1, 32, (char)0xff, (char)0xff, (char)0xff, 1, 1, 1, 2)},
		{"2^64 rows", RAW(1, 32, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 2)},
		{"varint above 64 bits",
		 RAW(1, 32, 1, 1, 10, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2)},
		{"varint without end", RAW(1, 32, 1, 1, 1, (char)0x80)},
		{"no rows", RAW(1, 32, 0, 1, 0)},
		{"column longer than the chunk", RAW(1, 32, 1, 1, 9, 2)},
		{"bytes left in a column", RAW(1, 32, 1, 1, 2, 2, 2)},
		{"dictionary index", RAW(1, 32, 1, 2, 1, 2, 4, 1, 1, 'a', 1)},
		{"dictionary larger than its column", RAW(1, 32, 1, 2, 1, 2, 4, 100, 1, 'a', 0)},
		{"string past its column", RAW(1, 32, 1, 2, 1, 2, 4, 1, 2, 'a', 0)},
		{"string above the bound", RAW(1, 32, 1, 2, 1, 2, 5, 1, -1, -1, 4, 'a')},
		{"kind twice", RAW(2, 32, 1, 1, 1, 2, 32, 1, 1, 1, 2)},
		{"u32 overflow", RAW(1, 16, 1, 1, 5, -1, -1, -1, -1, 127)},
		/* stack: id DELTA, frames SUFFIX, error DICT */
		{"list: row before the first", RAW(1, 16, 1, 2, 1, 2, 6, 1, 5, 1, 0, 1, 0)},
		{"list: shares with itself", RAW(1, 16, 1, 2, 1, 2, 6, 1, 5, 0, 1, 1, 0)},
		{"list: shares too much", RAW(1, 16, 2, 2, 2, 2, 2, 9, 1, 5, 0, 1, 0, 2, 1, 0, 0)},
		{"list: index", RAW(1, 16, 1, 2, 1, 2, 6, 1, 5, 0, 0, 1, 1)},
		{"list: fewer indexes than promised", RAW(1, 16, 1, 2, 1, 2, 6, 1, 5, 0, 0, 2, 0)},
		{"list: longer than 65535", RAW(1, 16, 1, 2, 1, 2, 8, 1, 5, 0, 0, -1, -1, 4, 0)},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int err = rows_of(s, cases[i].raw, cases[i].len, compare, &none);

		CHECK(err == -EBADMSG && none.seen == 0, "%s: %d", cases[i].why, err);
	}
}

/* Few bytes that would unfold to billions of elements: each row shares all of the one before. */
static void test_bomb(void)
{
	struct bytes raw = {0}, column = {0};
	size_t rows = 3000, len = 60000;

	bytes_varint(&column, 1);
	bytes_varint(&column, 5);
	for (size_t i = 0; i < rows; i++)
		bytes_varint(&column, i > 0);
	for (size_t i = 0; i < rows; i++)
		bytes_varint(&column, i ? len : 0);
	for (size_t i = 0; i < rows; i++)
		bytes_varint(&column, i ? 0 : len);
	for (size_t i = 0; i < len; i++)
		bytes_varint(&column, 0);
	bytes_add(&raw, "\1\20", 2);
	bytes_varint(&raw, rows);
	bytes_varint(&raw, 2);
	bytes_varint(&raw, rows);
	for (size_t i = 0; i < rows; i++)
		bytes_varint(&raw, 2);
	bytes_varint(&raw, column.len);
	bytes_add(&raw, column.p, column.len);
	CHECK(rows_of(&own, (char *)raw.p, raw.len, NULL, NULL) == -EBADMSG);
	bytes_fini(&raw);
	bytes_fini(&column);
}

/* Each single flipped bit of a chunk is noticed. */
static void test_flips(void)
{
	struct rec_loss rows[] = {{1, {"perf", 4}, {"full", 4}, 9},
				  {2, {"perf", 4}, {"throttled", 9}, 1}};
	struct chunk_table t = {rec_info(REC_loss), rows, 2};
	struct chunk_header h = {.stream = "health"}, got;
	struct bytes out = {0};
	size_t missed = 0;

	CHECK(!chunk_encode(encoder, &t, 1, &h, &out));
	for (size_t bit = 0; bit < out.len * 8; bit++) {
		out.p[bit / 8] ^= 1 << bit % 8;
		if (!chunk_header_get(&got, out.p, out.len) &&
		    got.header_sz + got.frame_sz == out.len &&
		    !chunk_decode(decoder, &own, &got, out.p + got.header_sz, NULL, NULL)) {
			printf("bit %zu of byte %zu\n", bit % 8, bit / 8);
			missed++;
		}
		out.p[bit / 8] ^= 1 << bit % 8;
	}
	CHECK(missed == 0, "%zu flips unnoticed", missed);
	bytes_fini(&out);
}

int main(void)
{
	random_seed(7);
	encoder = chunk_encoder_new(1);
	decoder = chunk_decoder_new();
	CHECK(!schema_load(&own, NULL, 0));
	test_spans();
	test_random();
	test_bound();
	test_times();
	test_schemas();
	test_bad_schemas();
	test_hostile();
	test_bomb();
	test_flips();
	chunk_encoder_free(encoder);
	chunk_decoder_free(decoder);
	schema_fini(&own);
	return failed;
}
