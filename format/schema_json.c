/* SPDX-License-Identifier: BSD-2-Clause */
/* schema.json: written from records.def, and read as the mapping from an archive's columns to the
 * fields of this build. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/json.h"
#include "format/record.h"

/* In the order of enum rec_type and enum rec_encoding. */
static const char *const type_names[] = {"u32", "u64", "str", "list"};
static const char *const encoding_names[] = {"PLAIN", "DELTA", "DICT", "RAW", "SUFFIX"};

enum { COLUMN_CNT_MAX = 256 };

static int name_index(const char *const *names, size_t cnt, const char *name)
{
	for (size_t i = 0; i < cnt; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static void add_string(struct json_object *o, const char *key, const char *s)
{
	json_object_object_add(o, key, json_object_new_string(s));
}

static struct json_object *sample_kinds_json(const struct rec_sample_kind *event)
{
	struct json_object *kinds = json_object_new_array();

	for (unsigned i = 0; i < rec_sample_kind_cnt; i++) {
		const struct rec_sample_kind *k = &rec_sample_kinds[i];
		struct json_object *kind;

		k = k->number == SAMPLE_event ? event : k;
		if (!k)
			continue;
		kind = json_object_new_object();
		add_string(kind, "name", k->name);
		json_object_object_add(kind, "number", json_object_new_int(k->number));
		add_string(kind, "title", k->title);
		add_string(kind, "unit", k->unit);
		add_string(kind, "count_name", k->count_name);
		json_object_array_add(kinds, kind);
	}
	return kinds;
}

char *schema_text(const struct rec_sample_kind *event)
{
	struct json_object *o = json_object_new_object(), *kinds = json_object_new_array();
	char *text;

	for (unsigned i = 0; i < rec_info_cnt; i++) {
		const struct rec_info *info = &rec_infos[i];
		struct json_object *kind = json_object_new_object(),
				   *fields = json_object_new_array();

		add_string(kind, "kind", info->name);
		json_object_object_add(kind, "number", json_object_new_int(info->number));
		add_string(kind, "stream", info->stream);
		for (unsigned j = 0; j < info->field_cnt; j++) {
			const struct rec_field *f = &info->fields[j];
			struct json_object *field = json_object_new_object();

			add_string(field, "name", f->name);
			add_string(field, "type", type_names[f->type]);
			add_string(field, "encoding", encoding_names[f->encoding]);
			if (*f->unit)
				add_string(field, "unit", f->unit);
			json_object_array_add(fields, field);
		}
		json_object_object_add(kind, "fields", fields);
		json_object_array_add(kinds, kind);
	}
	json_object_object_add(o, "records", kinds);
	json_object_object_add(o, "sample_kinds", sample_kinds_json(event));
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return text;
}

/* Whether this build can decode the column; others are skipped. */
static bool readable(enum rec_type type, enum rec_encoding e)
{
	switch (type) {
	case REC_T_u32:
	case REC_T_u64:
		return e == REC_E_PLAIN || e == REC_E_DELTA || e == REC_E_DICT;
	case REC_T_str:
		return e == REC_E_DICT || e == REC_E_RAW;
	case REC_T_list:
		return e == REC_E_SUFFIX;
	}
	return false;
}

static const struct rec_field *field_named(const struct rec_info *info, const char *name)
{
	for (unsigned i = 0; info && i < info->field_cnt; i++)
		if (!strcmp(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

static bool same_class(enum rec_type a, enum rec_type b)
{
	return a == b || (a <= REC_T_u64 && b <= REC_T_u64);
}

static struct schema_column column_of(const struct rec_info *info, struct json_object *field)
{
	int type = name_index(type_names, 4, json_string(field, "type"));
	int encoding = name_index(encoding_names, 5, json_string(field, "encoding"));
	const struct rec_field *ours = field_named(info, json_string(field, "name"));

	if (type < 0 || encoding < 0 || !ours || !same_class(type, ours->type) ||
	    !readable(type, encoding))
		return (struct schema_column){0};
	return (struct schema_column){ours, type, encoding};
}

/* Whether the field has a column already. Two columns with the same name would write a field twice
 * and leak the lists of the first one. */
static bool already(const struct schema_kind *k, const struct rec_field *f)
{
	for (unsigned i = 0; i < k->column_cnt; i++)
		if (f && k->columns[i].field == f)
			return true;
	return false;
}

/* ---- kinds of events, laid out as the archive's schema says ---- */

/* Lists have no column; invalid names are skipped. */
static bool is_event_field(struct json_object *field)
{
	int type = name_index(type_names, 4, json_string(field, "type"));

	return type >= 0 && type != REC_T_list && rec_name_ok(json_string(field, "name"));
}

static void own_free(struct rec_info *own)
{
	for (unsigned i = 0; own && i < own->field_cnt; i++) {
		free((char *)own->fields[i].name);
		free((char *)own->fields[i].unit);
	}
	if (own) {
		free((struct rec_field *)own->fields);
		free((char *)own->name);
	}
	free(own);
}

static int own_add(struct rec_info *own, struct rec_field *to, const struct rec_field *f)
{
	size_t sz = f->type == REC_T_u32 ? 4 : f->type == REC_T_str ? sizeof(struct span) : 8;
	size_t align = sz == 4 ? 4 : 8;

	*to = *f;
	to->name = strdup(f->name);
	to->unit = strdup(f->unit);
	to->doc = "";
	to->offset = (own->sz + align - 1) / align * align;
	own->sz = to->offset + sz;
	own->field_cnt++;
	return to->name && to->unit ? 0 : -ENOMEM;
}

/* First the fields of this build, at their offsets, then the archive's additional ones. */
static int own_fill(struct rec_info *own, const struct rec_info *ours, struct json_object *fields)
{
	struct rec_field *to = (struct rec_field *)own->fields;
	int err = 0;

	for (unsigned i = 0; ours && i < ours->field_cnt && !err; i++)
		err = own_add(own, &to[own->field_cnt], &ours->fields[i]);
	for (size_t i = 0; i < json_object_array_length(fields) && !err; i++) {
		struct json_object *field = json_object_array_get_idx(fields, i);
		const char *unit = json_string(field, "unit");

		if (own->field_cnt == REC_EVENT_FIELDS_MAX || !is_event_field(field) ||
		    field_named(own, json_string(field, "name")))
			continue;
		err = own_add(own, &to[own->field_cnt],
			      &(struct rec_field){
				      .name = json_string(field, "name"),
				      .unit = rec_name_ok(unit) ? unit : "",
				      .type = name_index(type_names, 4, json_string(field, "type")),
			      });
	}
	own->sz = (own->sz + 7) / 8 * 8;
	return err;
}

/* *own stays NULL when the kind is not an event. */
static int own_new(struct rec_info **own, const struct rec_info *ours, struct json_object *kind,
		   struct json_object *fields)
{
	struct rec_info *o;
	int err = -ENOMEM;

	if (strcmp(json_string(kind, "stream"), REC_EVENT_STREAM) ||
	    !rec_name_ok(json_string(kind, "kind")))
		return 0;
	*own = o = calloc(1, sizeof(*o));
	if (!o)
		return err;
	o->fields = calloc(REC_EVENT_FIELDS_MAX, sizeof(*o->fields));
	o->name = strdup(json_string(kind, "kind"));
	o->stream = REC_EVENT_STREAM;
	o->doc = "";
	o->number = json_u64(kind, "number");
	if (o->fields && o->name)
		err = own_fill(o, ours, fields);
	return err;
}

static int load_kind(struct schema *s, struct json_object *kind)
{
	struct json_object *fields = json_get(kind, "fields", json_type_array);
	uint64_t number = json_u64(kind, "number");
	size_t cnt = fields ? json_object_array_length(fields) : 0;
	const struct rec_info *info;
	struct schema_kind *k;
	int err;

	if (!fields || cnt > COLUMN_CNT_MAX || number == 0)
		return -EBADMSG;
	info = rec_info(number);
	if (info && strcmp(info->name, json_string(kind, "kind")))
		info = NULL;
	if (number >= REC_KIND_MAX)
		return 0;
	k = &s->kinds[number];
	if (k->info)
		return -EBADMSG;
	err = own_new(&k->own, info, kind, fields);
	if (err)
		return err;
	if (k->own)
		info = k->own;
	if (!info)
		return 0; /* unknown: chunks contain its length, which suffices for skipping */
	k->columns = calloc(cnt + 1, sizeof(*k->columns));
	if (!k->columns)
		return -ENOMEM;
	k->info = info;
	for (size_t i = 0; i < cnt; i++) {
		struct schema_column c = column_of(info, json_object_array_get_idx(fields, i));

		if (already(k, c.field))
			return -EBADMSG;
		k->columns[k->column_cnt++] = c;
	}
	return 0;
}

static int read_kinds(struct schema *s, struct json_object *o)
{
	struct json_object *kinds = json_get(o, "records", json_type_array);
	int err = kinds ? 0 : -EBADMSG;

	for (size_t i = 0; !err && i < json_object_array_length(kinds); i++)
		err = load_kind(s, json_object_array_get_idx(kinds, i));
	if (err)
		schema_fini(s);
	return err;
}

int schema_load(struct schema *s, const char *text, size_t len)
{
	char *own = text ? NULL : schema_text(NULL);
	struct json_object *o = own    ? json_parse(own, strlen(own))
				: text ? json_parse(text, len)
				       : NULL;
	int err = o ? -EBADMSG : text ? -EBADMSG : -ENOMEM;

	*s = (struct schema){0};
	if (o)
		err = read_kinds(s, o);
	json_object_put(o);
	free(own);
	return err;
}

void schema_fini(struct schema *s)
{
	for (unsigned i = 0; i < REC_KIND_MAX; i++) {
		free(s->kinds[i].columns);
		own_free(s->kinds[i].own);
	}
	*s = (struct schema){0};
}
