/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.def as data: what a kind's fields are called, how they are encoded and where they lie in
 * its struct; and the schema of an archive, which may be of an older or newer records.def.
 */
#ifndef FORMAT_RECORD_H
#define FORMAT_RECORD_H

#include <stdbool.h>

#include "format/records.h"

enum rec_type { REC_T_u32, REC_T_u64, REC_T_str, REC_T_list };
enum rec_encoding { REC_E_PLAIN, REC_E_DELTA, REC_E_DICT, REC_E_RAW, REC_E_SUFFIX };

struct rec_field {
	const char *name, *unit, *doc;
	enum rec_type type;
	enum rec_encoding encoding;
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

/* NULL for a number that records.def does not have. */
const struct rec_info *rec_info(unsigned number);

/* Where ts_ns lies, the row's time; -1 when the kind has none. */
int rec_ts_offset(const struct rec_info *info);

/* Streams in order of first appearance. */
enum { REC_STREAM_MAX = 16, REC_STREAM_NAME_MAX = 23 };
const char *rec_stream(unsigned index); /* NULL beyond the last */
int rec_stream_index(const char *name); /* -1: none of ours */

/* Kinds of samples, in the order of kinds.def. */
struct rec_sample_kind {
	const char *name, *title, *unit, *count_name;
	uint32_t number;
};
extern const struct rec_sample_kind rec_sample_kinds[];
extern const unsigned rec_sample_kind_cnt;

/* ---- an archive's schema ---- */

/* The stream whose kinds need not be ours: their rows are laid out as the archive's schema says. */
#define REC_EVENT_STREAM "event"
enum { REC_EVENT_FIELDS_MAX = 64, REC_NAME_MAX = 47 };

/* A word that can name a table or column: a-z, then a-z 0-9 _, at most REC_NAME_MAX. */
bool rec_name_ok(const char *name);

/* One column as the archive has it; field NULL: not ours, or of another type: skipped. */
struct schema_column {
	const struct rec_field *field;
	enum rec_type type;
	enum rec_encoding encoding;
};

struct schema_kind {
	const struct rec_info *info; /* NULL: unknown to us, skipped */
	struct rec_info *own;	     /* it, when it was made from the archive's schema */
	unsigned column_cnt;
	struct schema_column *columns;
};

struct schema {
	struct schema_kind kinds[REC_KIND_MAX];
};

/* schema.json without its seal; malloc'ed. */
char *schema_text(void);

/* NULL text: our own. -EBADMSG: not a schema; -ENOMEM. */
int schema_load(struct schema *s, const char *text, size_t len);
void schema_fini(struct schema *s);

#endif
