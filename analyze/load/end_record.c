/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/end_record.h"
#include "analyze/load/sample_kinds.h"

#include <inttypes.h>

#include "format/json.h"
#include "format/record.h"
#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"

/* Stacks by id, to find the error of each. */
struct known_stack {
	uint32_t id, error;
};

struct program_cost {
	uint64_t runs, run_ns;
};

enum { ERRORS = 32 };
#define MAX_STACKS (3u << 20) /* about 50 MB; errors of later stacks are unknown */
enum { NAME_MAX_SZ = 200 };
#define MAX_NAMES (1u << 16) /* of losses and of programs; further ones share one entry */

struct tally {
	uint64_t records[REC_KIND_MAX];
	struct known_stack *stacks;
	size_t stack_cnt, stack_cap;
	struct index by_id;
	struct sample_kinds *kinds;
	uint64_t samples[SAMPLE_KIND_CNT][ERRORS], unknown[SAMPLE_KIND_CNT];
	struct intern *losses; /* "source\0cause" */
	uint64_t *loss_counts;
	size_t loss_cap;
	struct intern *programs;
	struct program_cost *costs;
	size_t cost_cap;
	struct intern *streams;
	uint64_t *sizes;
	size_t size_cap;
	uint64_t last_ns;
};

static bool equal_stack(const void *owner, uint32_t entry, const void *key)
{
	return ((const struct tally *)owner)->stacks[entry].id == *(const uint32_t *)key;
}

int tally__new(struct tally **out)
{
	struct tally *t = calloc(1, sizeof(*t));

	*out = t;
	if (t && !sample_kinds__new(&t->kinds) && !intern__new(&t->losses) &&
	    !intern__new(&t->programs) && !intern__new(&t->streams))
		return 0;
	tally__free(t);
	*out = NULL;
	return -ENOMEM;
}

void tally__free(struct tally *t)
{
	if (!t)
		return;
	free(t->stacks);
	sample_kinds__free(t->kinds);
	index_fini(&t->by_id);
	intern__free(t->losses);
	intern__free(t->programs);
	intern__free(t->streams);
	free(t->loss_counts);
	free(t->costs);
	free(t->sizes);
	free(t);
}

/* Array element for a string; zero-initialized if new. */
#define slot_of(t, strings, array, cap, text)                                                      \
	({                                                                                         \
		size_t before_ = (t)->cap;                                                         \
		uint32_t id_ = intern__add((t)->strings, text);                                    \
		bool ok_ =                                                                         \
			id_ != INTERN_FAILED && !array_reserve(&(t)->array, &(t)->cap, id_ + 1);   \
		if (ok_)                                                                           \
			memset((t)->array + before_, 0,                                            \
			       ((t)->cap - before_) * sizeof(*(t)->array));                        \
		ok_ ? &(t)->array[id_] : NULL;                                                     \
	})

/* Truncates a name to its displayed length. Returns `others` if there are too many names. */
static struct span bounded(const struct intern *names, struct span name, size_t max,
			   struct span others)
{
	name.len = name.len < max ? name.len : max;
	return intern__count(names) < MAX_NAMES || intern__find(names, name) != INTERN_FAILED
		       ? name
		       : others;
}

static int add_stacks(struct tally *t, const struct rec_stack *s, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint32_t entry;
		int err;

		if (index_find(&t->by_id, equal_stack, t, hash_mix(s[i].id), &s[i].id, &entry))
			continue;
		if (t->stack_cnt == MAX_STACKS)
			return 0;
		err = array_reserve(&t->stacks, &t->stack_cap, t->stack_cnt + 1);
		if (err)
			return err;
		t->stacks[t->stack_cnt] = (struct known_stack){s[i].id, s[i].error};
		err = index_add(&t->by_id, hash_mix(s[i].id), t->stack_cnt++);
		if (err)
			return err;
	}
	return 0;
}

static void add_samples(struct tally *t, const struct rec_sample *s, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		uint32_t kind = sample_kinds__index(t->kinds, 0, s[i].kind);
		uint32_t entry;

		if (!s[i].user_stack) /* kernel threads have none */
			continue;
		if (index_find(&t->by_id, equal_stack, t, hash_mix(s[i].user_stack),
			       &s[i].user_stack, &entry) &&
		    t->stacks[entry].error < ERRORS)
			t->samples[kind][t->stacks[entry].error] += s[i].count;
		else
			t->unknown[kind] += s[i].count;
	}
}

static void add_name(struct strbuf *b, struct span s)
{
	strbuf_add(b, s.p, s.len < NAME_MAX_SZ ? s.len : NAME_MAX_SZ);
}

static int add_losses(struct tally *t, const struct rec_loss *l, size_t cnt)
{
	struct strbuf key = {0};
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		uint64_t *sum;

		key.len = 0;
		add_name(&key, l[i].source);
		strbuf_add(&key, "", 1);
		add_name(&key, l[i].cause);
		sum = key.failed
			      ? NULL
			      : slot_of(t, losses, loss_counts, loss_cap,
					bounded(t->losses, (struct span){key.p, key.len},
						2 * NAME_MAX_SZ + 1, (struct span){"[others]", 9}));
		if (sum)
			*sum += l[i].count;
		else
			err = -ENOMEM;
	}
	strbuf_fini(&key);
	return err;
}

static int add_programs(struct tally *t, const struct rec_program *p, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		struct program_cost *c =
			slot_of(t, programs, costs, cost_cap,
				bounded(t->programs, p[i].name, NAME_MAX_SZ, span_of("[others]")));

		if (!c)
			return -ENOMEM;
		*c = (struct program_cost){p[i].runs,
					   p[i].run_ns}; /* cumulative: the last row is the total */
	}
	return 0;
}

static int add_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	struct tally *t = arg;

	t->records[kind] += cnt;
	switch (kind) {
	case REC_stack:
		return add_stacks(t, rows, cnt);
	case REC_sample:
		add_samples(t, rows, cnt);
		return 0;
	case REC_loss:
		return add_losses(t, rows, cnt);
	case REC_program:
		return add_programs(t, rows, cnt);
	default:
		return 0;
	}
}

int tally__add(struct tally *t, struct obz_reader *r, const struct obz_member *m)
{
	struct obz_chunk_info ci;
	uint64_t *size;
	int err = 0;

	if (m->type == OBZ_CHUNK) {
		if (!t->last_ns)
			err = sample_kinds__schema(t->kinds, 0, obz_reader__schema(r));
		if (!err)
			err = obz_reader__decode(r, m, add_rows, t);
		if (!err)
			err = obz_reader__chunk_info(r, m, &ci);
		if (err)
			return err;
		t->last_ns = ci.last_ns > t->last_ns ? ci.last_ns : t->last_ns;
	} else if (m->type != OBZ_DEBUG)
		return 0;
	size = slot_of(t, streams, sizes, size_cap,
		       span_of(m->type == OBZ_CHUNK ? m->stream : "debuginfo"));
	if (!size)
		return -ENOMEM;
	*size += obz_member_size(m);
	return 0;
}

/* ---- as JSON ---- */

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

/* Converts untrusted bytes to valid JSON text of limited length. */
static void add_span(struct json_object *o, const char *key, struct span s)
{
	struct strbuf b = {0};

	if (s.len > NAME_MAX_SZ)
		s.len = NAME_MAX_SZ;
	strbuf_escape(&b, ESCAPE_TERMINAL, s);
	json_object_object_add(o, key, json_object_new_string(b.p ? b.p : ""));
	strbuf_fini(&b);
}

static struct json_object *stacks_json(const struct tally *t)
{
	static const char *const errors[ERRORS] = {
#define X(name, number, text) [number] = text,
		STACK_ERRORS(X)
#undef X
	};
	struct json_object *all = json_object_new_object();

	for (size_t k = 0; k < sample_kinds__cnt(t->kinds); k++) {
		struct json_object *o = json_object_new_object();
		uint64_t total = t->unknown[k];

		for (unsigned e = 0; e < ERRORS; e++)
			total += t->samples[k][e];
		add_u64(o, "total", total);
		for (unsigned e = 0; e < ERRORS; e++)
			if (t->samples[k][e] || e == STACK_NONE)
				add_u64(o, errors[e] ? errors[e] : "unknown cause",
					t->samples[k][e]);
		if (t->unknown[k])
			add_u64(o, "definition lost", t->unknown[k]);
		if (total)
			json_object_object_add(all, sample_kinds__get(t->kinds, k)->name, o);
		else
			json_object_put(o);
	}
	return all;
}

static struct json_object *losses_json(const struct tally *t)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t i = 0; i < intern__count(t->losses); i++) {
		struct span key = intern__get(t->losses, i);
		size_t source = strnlen(key.p, key.len);
		struct json_object *o = json_object_new_object();

		add_span(o, "source", (struct span){key.p, source});
		add_span(o, "cause", (struct span){key.p + source + 1, key.len - source - 1});
		add_u64(o, "count", t->loss_counts[i]);
		json_object_array_add(all, o);
	}
	return all;
}

static struct json_object *programs_json(const struct tally *t)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t i = 0; i < intern__count(t->programs); i++) {
		struct json_object *o = json_object_new_object();

		add_span(o, "name", intern__get(t->programs, i));
		add_u64(o, "runs", t->costs[i].runs);
		add_u64(o, "run_ns", t->costs[i].run_ns);
		json_object_array_add(all, o);
	}
	return all;
}

struct json_object *tally__json(const struct tally *t, struct obz_reader *r)
{
	struct json_object *o = json_object_new_object(), *counts = json_object_new_object();
	struct json_object *sizes = json_object_new_object(), *header = NULL;
	const char *text = obz_reader__header(r);
	uint64_t start;

	header = text ? json_parse(text, strlen(text)) : NULL;
	start = json_u64(json_get(header, "clock", json_type_object), "monotonic_ns");
	add_u64(o, "duration_ns", start && t->last_ns > start ? t->last_ns - start : 0);
	json_object_put(header);
	for (unsigned i = 0; i < rec_info_cnt; i++)
		if (t->records[rec_infos[i].number])
			add_u64(counts, rec_infos[i].name, t->records[rec_infos[i].number]);
	for (uint32_t i = 0; i < intern__count(t->streams); i++)
		add_u64(sizes, intern__get(t->streams, i).p, t->sizes[i]);
	json_object_object_add(o, "losses", losses_json(t));
	json_object_object_add(o, "records", counts);
	json_object_object_add(o, "stacks", stacks_json(t));
	json_object_object_add(o, "programs", programs_json(t));
	json_object_object_add(o, "sizes", sizes);
	return o;
}
