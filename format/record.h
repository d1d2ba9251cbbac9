/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.def as data: name, encoding and struct offset of each field of a kind; and the schema of
 * an archive, which may be from an older or newer records.def.
 */
#ifndef FORMAT_RECORD_H
#define FORMAT_RECORD_H

#include <stdbool.h>

#include "format/records.h"

enum rec_type {
	REC_T_u32,
	REC_T_u64,
	REC_T_str,
	REC_T_list,
	REC_T_command = REC_T_str,
	REC_T_settings = REC_T_str,
	REC_T_address = REC_T_str,
};
/* How the text of an event's field is made from what the kernel side sends (event_text.h). */
enum rec_text {
	REC_TEXT_u32,
	REC_TEXT_u64 = REC_TEXT_u32,
	REC_TEXT_list = REC_TEXT_u32,
	REC_TEXT_str = REC_TEXT_u32, /* as it is */
	REC_TEXT_command,
	REC_TEXT_settings,
	REC_TEXT_address, /* of a struct sockaddr: without the port */
};
enum rec_encoding { REC_E_PLAIN, REC_E_DELTA, REC_E_DICT, REC_E_RAW, REC_E_SUFFIX };

struct rec_field {
	const char *name, *unit, *doc;
	enum rec_type type;
	enum rec_encoding encoding;
	enum rec_text text;
	unsigned offset; /* in the kind's struct */
};

struct rec_info {
	const char *name, *stream, *doc;
	unsigned number;
	size_t sz; /* of the struct */
	const struct rec_field *fields;
	unsigned field_cnt;
};

extern const struct rec_info rec_infos[]; /* in the order of records.def */
extern const unsigned rec_info_cnt;

/* NULL for a number that is not in records.def. */
const struct rec_info *rec_info(unsigned number);

/* Offset of ts_ns, the row's time; -1 when the kind has none. */
int rec_ts_offset(const struct rec_info *info);

/* Streams in order of first appearance. */
enum { REC_STREAM_MAX = 16, REC_STREAM_NAME_MAX = 23 };
const char *rec_stream(unsigned index); /* NULL beyond the last */
int rec_stream_index(const char *name); /* -1: unknown */

/* Kinds of samples, in the order of kinds.def. */
struct rec_sample_kind {
	const char *name, *title, *unit, *count_name;
	uint32_t number;
};
extern const struct rec_sample_kind rec_sample_kinds[];
extern const unsigned rec_sample_kind_cnt;

/* ---- an archive's schema ---- */

/* The stream that may contain kinds unknown to this build; their rows have the layout of the
 * archive's schema. */
#define REC_EVENT_STREAM "event"
enum { REC_EVENT_FIELDS_MAX = 64, REC_NAME_MAX = 47 };

/* Whether the name is valid for a table or column: a-z, then a-z 0-9 _, at most REC_NAME_MAX. */
bool rec_name_ok(const char *name);

/* One column of the archive; field NULL: unknown, or of another type; skipped. */
struct schema_column {
	const struct rec_field *field;
	enum rec_type type;
	enum rec_encoding encoding;
};

struct schema_kind {
	const struct rec_info *info; /* NULL: unknown, skipped */
	struct rec_info *own;	     /* same as info, when created from the archive's schema */
	unsigned column_cnt;
	struct schema_column *columns;
};

struct schema {
	struct schema_kind kinds[REC_KIND_MAX];
};

/* schema.json without its seal; malloc'ed. `event`: in place of the kind event; NULL: none. */
char *schema_text(const struct rec_sample_kind *event);

/* text NULL: this build's schema. -EBADMSG: not a schema; -ENOMEM. */
int schema_load(struct schema *s, const char *text, size_t len);
void schema_fini(struct schema *s);

#endif
