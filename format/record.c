/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/record.h"

#include <string.h>

#define RECORD(kind, number, stream, doc) static const struct rec_field fields_##kind[] = {
#define FIELD(kind, type, name, encoding, unit, doc)                                               \
	{#name,                                                                                    \
	 unit,                                                                                     \
	 doc,                                                                                      \
	 REC_T_##type,                                                                             \
	 REC_E_##encoding,                                                                         \
	 REC_TEXT_##type,                                                                          \
	 offsetof(struct rec_##kind, name)},
#define END(kind)                                                                                  \
	}                                                                                          \
	;
#include "format/records.def"

#define RECORD(kind, number, stream, doc)                                                          \
	{#kind,                                                                                    \
	 #stream,                                                                                  \
	 doc,                                                                                      \
	 number,                                                                                   \
	 sizeof(struct rec_##kind),                                                                \
	 fields_##kind,                                                                            \
	 sizeof(fields_##kind) / sizeof(*fields_##kind)},
#define FIELD(...)
#define END(kind)
const struct rec_info rec_infos[] = {
#include "format/records.def"
};
const unsigned rec_info_cnt = sizeof(rec_infos) / sizeof(*rec_infos);

#define RECORD(kind, number, stream, doc)                                                          \
	_Static_assert(number > 0 && number < REC_KIND_MAX, #kind " is out of range");             \
	_Static_assert(sizeof(#stream) <= REC_STREAM_NAME_MAX + 1, #stream " is too long");
#define FIELD(...)
#define END(kind)
#include "format/records.def"

const struct rec_info *rec_info(unsigned number)
{
	for (unsigned i = 0; i < rec_info_cnt; i++)
		if (rec_infos[i].number == number)
			return &rec_infos[i];
	return NULL;
}

const struct rec_sample_kind rec_sample_kinds[] = {
#define KIND(name, number, title, unit, count_name) {#name, title, unit, count_name, number},
#include "format/kinds.def"
};
const unsigned rec_sample_kind_cnt = sizeof(rec_sample_kinds) / sizeof(*rec_sample_kinds);

#define KIND(name, number, title, unit, count_name)                                                \
	_Static_assert(number > 0 && number < SAMPLE_KIND_END, #name " is out of order");
#include "format/kinds.def"

bool rec_name_ok(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return *name >= 'a' && *name <= 'z' && !name[len] && len <= REC_NAME_MAX;
}

int rec_ts_offset(const struct rec_info *info)
{
	for (unsigned i = 0; i < info->field_cnt; i++)
		if (!strcmp(info->fields[i].name, "ts_ns"))
			return info->fields[i].offset;
	return -1;
}

const char *rec_stream(unsigned index)
{
	for (unsigned i = 0; i < rec_info_cnt; i++) {
		unsigned first = 0;

		while (strcmp(rec_infos[first].stream, rec_infos[i].stream))
			first++;
		if (first == i && index-- == 0)
			return rec_infos[i].stream;
	}
	return NULL;
}

int rec_stream_index(const char *name)
{
	const char *s;

	for (unsigned i = 0; (s = rec_stream(i)); i++)
		if (!strcmp(s, name))
			return i;
	return -1;
}
