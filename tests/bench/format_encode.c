/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speed and compression of the chunk encoder and decoder, for rows and stacks like those of a
 * profile (a call tree of about 36 levels, few hot leaves). Raw bytes are the size of the records
 * in memory: structs, strings and lists. Prints one line per shape; argument: seconds each (default
 * 1).
 */
#include <stdio.h>
#include <time.h>

#include "format/chunk.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* The lowest of three random numbers: few values are frequent. */
static size_t skewed(size_t n)
{
	size_t a = next() % n, b = next() % n, c = next() % n;

	a = a < b ? a : b;
	return a < c ? a : c;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

enum { FUNCS = 110, PATHS = 60, LEAVES = 14, PCS = 6, DEPTH = 36, STACKS = 715, SAMPLES = 1977 };

static uint64_t frames[STACKS][DEPTH];
static struct rec_stack stacks[STACKS];
static struct rec_sample samples[SAMPLES];

static void make_stacks(void)
{
	uint64_t sites[FUNCS * 4], paths[PATHS][DEPTH], leaves[LEAVES][PCS];

	for (size_t i = 0; i < FUNCS * 4; i++)
		sites[i] = frame_pack(1 + (i % FUNCS > 80),
				      0x401000 + (i % FUNCS) * 0x5a0 + next() % 0x5a0);
	for (size_t l = 0; l < LEAVES; l++)
		for (size_t p = 0; p < PCS; p++)
			leaves[l][p] = frame_pack(1, 0x430000 + l * 0x800 + next() % 400);
	/* a path branches off an earlier one */
	for (size_t p = 0; p < PATHS; p++)
		for (size_t d = DEPTH, from = p ? next() % p : 0, at = 6 + next() % 28; d-- > 0;)
			paths[p][d] = p && DEPTH - 1 - d < at ? paths[from][d]
							      : sites[next() % (FUNCS * 4)];
	for (size_t s = 0; s < STACKS; s++) {
		memcpy(frames[s], paths[skewed(PATHS)], sizeof(frames[s]));
		frames[s][0] = leaves[skewed(LEAVES)][skewed(PCS)];
		stacks[s] = (struct rec_stack){.id = s + 1, .frames = {frames[s], DEPTH}};
	}
}

static void make_samples(void)
{
	uint64_t t = 1000000000000000;
	size_t sent = 0;

	for (size_t i = 0; i < SAMPLES; i++) {
		/* a third of the samples have a new stack */
		if (sent < STACKS && (i == 0 || next() % SAMPLES < STACKS * 11 / 10))
			sent++;
		samples[i] = (struct rec_sample){
			.kind = SAMPLE_cpu,
			.ts_ns = t + i / 2 * 10101010 + i % 2 * 4000000 + next() % 30000,
			.thread = 1 + next() % 4,
			.user_stack = next() % 3 ? 1 + skewed(sent) : sent,
			.count = 1,
			.value = 10101010,
		};
	}
}

struct shape {
	const char *name;
	struct chunk_table tables[2];
	size_t cnt;
};

static size_t memory(const struct chunk_table *t)
{
	size_t sum = t->cnt * t->info->sz;

	for (size_t i = 0; i < t->cnt; i++)
		for (unsigned f = 0; f < t->info->field_cnt; f++) {
			const char *p =
				(const char *)t->rows + i * t->info->sz + t->info->fields[f].offset;

			if (t->info->fields[f].type == REC_T_str)
				sum += ((const struct span *)p)->len;
			else if (t->info->fields[f].type == REC_T_list)
				sum += ((const struct u64_span *)p)->len * 8;
		}
	return sum;
}

static int run(const struct shape *s, double seconds)
{
	struct chunk_encoder *e = chunk_encoder_new(1);
	struct chunk_decoder *d = chunk_decoder_new();
	struct chunk_header h;
	struct bytes out = {0};
	struct schema own;
	size_t raw = 0, rows = 0, n = 0, m = 0;
	double start, encode, decode;

	if (!e || !d || schema_load(&own, NULL, 0))
		return 1;
	for (size_t i = 0; i < s->cnt; i++) {
		raw += memory(&s->tables[i]);
		rows += s->tables[i].cnt;
	}
	for (start = now(); (encode = now() - start) < seconds; n++) {
		out.len = 0;
		h = (struct chunk_header){.stream = "profile"};
		if (chunk_encode(e, s->tables, s->cnt, &h, &out))
			return 1;
	}
	for (start = now(); (decode = now() - start) < seconds; m++)
		if (chunk_header_get(&h, out.p, out.len) ||
		    chunk_decode(d, &own, &h, out.p + h.header_sz, NULL, NULL))
			return 1;
	printf("%-24s encode %7.0f MB/s  decode %7.0f MB/s  raw %7.1f B/row  columns %6.2f B/row  "
	       "stored %6.2f B/row\n",
	       s->name, raw * n / encode / 1e6, raw * m / decode / 1e6, (double)raw / rows,
	       (double)h.info.raw_sz / rows, (double)out.len / rows);
	chunk_encoder_free(e);
	chunk_decoder_free(d);
	schema_fini(&own);
	bytes_fini(&out);
	return 0;
}

/* Size of ten chunks of one second each, including tar; with their stacks, or with all stacks sent
 * before. */
static int by_second(bool stacks_too)
{
	struct chunk_encoder *e = chunk_encoder_new(1);
	size_t sum = 0, sent = 0;

	for (size_t from = 0; e && from < SAMPLES; from += 198) {
		size_t to = from + 198 < SAMPLES ? from + 198 : SAMPLES, most = sent;
		struct chunk_header h = {.stream = "profile"};
		struct chunk_table t[2] = {{rec_info(REC_sample), samples + from, to - from}};
		struct bytes out = {0};

		for (size_t i = from; i < to && stacks_too; i++)
			most = samples[i].user_stack > most ? samples[i].user_stack : most;
		if (most > sent)
			t[1] = (struct chunk_table){rec_info(REC_stack), stacks + sent,
						    most - sent};
		if (chunk_encode(e, t, 1 + (most > sent), &h, &out))
			return 1;
		sent = most;
		sum += 512 + (out.len + 511) / 512 * 512;
		bytes_fini(&out);
	}
	chunk_encoder_free(e);
	printf("a chunk a second: %6.2f B/sample over 10 s, %zu new stacks of %d frames among "
	       "them\n",
	       (double)sum / SAMPLES, sent, DEPTH);
	return 0;
}

int main(int argc, char **argv)
{
	static struct rec_sample many[16000];
	static struct rec_symbol symbols[4000];
	static char names[4000][40];
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	int err = 0;

	make_stacks();
	make_samples();
	for (size_t i = 0; i < 16000; i++) {
		many[i] = samples[i % SAMPLES];
		many[i].ts_ns += i / SAMPLES * 10000000000 + next() % 30000;
		many[i].thread = 1 + next() % 4;
		many[i].user_stack = 1 + skewed(STACKS);
	}
	for (size_t i = 0; i < 4000; i++) {
		snprintf(names[i], sizeof(names[i]), "do_%s_some_%zx", i % 3 ? "read" : "write",
			 (size_t)next() % 65536);
		symbols[i] =
			(struct rec_symbol){.binary = FRAME_BINARY_KERNEL,
					    .address = 0xffffffff81000000 + i * 700 + next() % 500,
					    .size = next() % 700,
					    .name = {names[i], strlen(names[i])}};
	}
	struct shape shapes[] = {
		{"10 s of a profile",
		 {{rec_info(REC_sample), samples, SAMPLES}, {rec_info(REC_stack), stacks, STACKS}},
		 2},
		{"samples", {{rec_info(REC_sample), many, 16000}}, 1},
		{"stacks", {{rec_info(REC_stack), stacks, STACKS}}, 1},
		{"symbols", {{rec_info(REC_symbol), symbols, 4000}}, 1},
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		err |= run(&shapes[i], seconds);
	return err | by_second(true) | by_second(false);
}
