/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/sample_kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "analyze/base/index.h"
#include "format/record.h"

/* Kind number of one capture. */
struct number {
	uint32_t capture, number, index;
};

struct sample_kinds {
	struct named_kind v[SAMPLE_KIND_CNT];
	size_t cnt;
	struct number *numbers;
	size_t number_cnt, number_cap;
	struct number last; /* last one looked up */
};

enum { OTHER = SAMPLE_KIND_CNT - 1 };

int sample_kinds__find(const struct sample_kinds *k, const char *name, size_t len)
{
	for (size_t i = 0; i < k->cnt; i++)
		if (strlen(k->v[i].name) == len && !memcmp(k->v[i].name, name, len))
			return i;
	return -1;
}

static bool only(const char *s, const char *chars, size_t max)
{
	return strspn(s, chars) == strlen(s) && strlen(s) < max;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"

/* Unit and count name stay empty if they are not a word. The title defaults to the name if it is
 * not plain text. */
static void fill(struct named_kind *to, const char *name, const char *title, const char *unit,
		 const char *count_name)
{
	*to = (struct named_kind){.count_name = "samples"};
	snprintf(to->name, sizeof(to->name), "%s", name);
	if (!only(title, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -/()", sizeof(to->title)) ||
	    !*title)
		title = to->name;
	snprintf(to->title, sizeof(to->title), "%s", title);
	if (only(unit, LOWER, sizeof(to->unit)))
		snprintf(to->unit, sizeof(to->unit), "%s", unit);
	if (*count_name && only(count_name, LOWER, sizeof(to->count_name)))
		snprintf(to->count_name, sizeof(to->count_name), "%s", count_name);
}

/* Index of a name, adding it if new. */
static uint32_t index_of(struct sample_kinds *k, const char *name, const char *title,
			 const char *unit, const char *count_name)
{
	int known = sample_kinds__find(k, name, strlen(name));

	if (known >= 0)
		return known;
	if (k->cnt >= OTHER) {
		fill(&k->v[OTHER], "kind-other", "Other kinds", "", "");
		k->cnt = SAMPLE_KIND_CNT;
		return OTHER;
	}
	fill(&k->v[k->cnt], name, title, unit, count_name);
	return k->cnt++;
}

static const struct number *find_number(const struct sample_kinds *k, uint32_t capture,
					uint32_t number)
{
	for (size_t i = 0; i < k->number_cnt; i++)
		if (k->numbers[i].capture == capture && k->numbers[i].number == number)
			return &k->numbers[i];
	return NULL;
}

static int add_number(struct sample_kinds *k, uint32_t capture, uint32_t number, uint32_t index)
{
	if (array_reserve(&k->numbers, &k->number_cap, k->number_cnt + 1))
		return -ENOMEM;
	k->numbers[k->number_cnt++] = (struct number){capture, number, index};
	return 0;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : "";
}

static bool name_ok(const char *name)
{
	return *name >= 'a' && *name <= 'z' && only(name, LOWER "0123456789_-", 32);
}

/* Adds one element of "sample_kinds" in schema.json. */
static int add_named(struct sample_kinds *k, uint32_t capture, struct json_object *o)
{
	uint64_t number = json_object_get_uint64(json_object_object_get(o, "number"));
	const char *name = text_of(o, "name");

	if (!name_ok(name) || number > UINT32_MAX || find_number(k, capture, number))
		return 0;
	return add_number(k, capture, number,
			  index_of(k, name, text_of(o, "title"), text_of(o, "unit"),
				   text_of(o, "count_name")));
}

int sample_kinds__schema(struct sample_kinds *k, uint32_t capture, const char *text)
{
	struct json_object *o = text ? json_tokener_parse(text) : NULL, *list = NULL;
	int err = 0;

	if (json_object_object_get_ex(o, "sample_kinds", &list) &&
	    json_object_is_type(list, json_type_array))
		for (size_t i = 0;
		     i < json_object_array_length(list) && i < SAMPLE_KIND_CNT && !err; i++)
			if (json_object_is_type(json_object_array_get_idx(list, i),
						json_type_object))
				err = add_named(k, capture, json_object_array_get_idx(list, i));
	json_object_put(o);
	return err;
}

int sample_kinds__new(struct sample_kinds **out)
{
	struct sample_kinds *k = calloc(1, sizeof(*k));

	*out = k;
	if (!k)
		return -ENOMEM;
	k->last.index = UINT32_MAX;
	for (unsigned i = 0; i < rec_sample_kind_cnt; i++) {
		const struct rec_sample_kind *r = &rec_sample_kinds[i];

		if (r->number != SAMPLE_event) /* the archive names it */
			index_of(k, r->name, r->title, r->unit, r->count_name);
	}
	return 0;
}

void sample_kinds__free(struct sample_kinds *k)
{
	if (!k)
		return;
	free(k->numbers);
	free(k);
}

/* Index of a number that the capture's schema does not name. */
static uint32_t unnamed(struct sample_kinds *k, uint32_t capture, uint32_t number)
{
	char name[32];
	uint32_t index;

	for (unsigned i = 0; i < rec_sample_kind_cnt; i++)
		if (rec_sample_kinds[i].number == number && number != SAMPLE_event)
			return index_of(k, rec_sample_kinds[i].name, "", "", "");
	snprintf(name, sizeof(name), "kind-%u", number);
	index = index_of(k, name, "", "", "");
	if (index != OTHER) /* their number is not limited, so they are not stored */
		add_number(k, capture, number, index);
	return index;
}

uint32_t sample_kinds__index(struct sample_kinds *k, uint32_t capture, uint32_t number)
{
	const struct number *known;

	if (k->last.index != UINT32_MAX && k->last.number == number && k->last.capture == capture)
		return k->last.index;
	known = find_number(k, capture, number);
	k->last = (struct number){capture, number,
				  known ? known->index : unnamed(k, capture, number)};
	return k->last.index;
}

size_t sample_kinds__cnt(const struct sample_kinds *k)
{
	return k->cnt;
}

const struct named_kind *sample_kinds__get(const struct sample_kinds *k, uint32_t index)
{
	return &k->v[index];
}
