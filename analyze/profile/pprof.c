/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof's profile.proto (github.com/google/pprof/blob/main/proto/profile.proto), gzipped.
 *
 * Only two of protobuf's wire types are needed, varint and length-delimited, and fields may come in
 * any order. So samples are written as they arrive, and the tables they refer to at the end.
 * Functions, locations and mappings are interned as their encoded bodies. Their id, the position in
 * the table, is prepended when the table is written.
 */
#include "analyze/profile/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "format/text.h"
#include "analyze/base/intern.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM, LABEL_NUM_UNIT };
enum {
	MAPPING_START = 2,
	MAPPING_LIMIT,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_INLINE = 10
};
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { ID = 1 }; /* field number in every table message */

struct pprof {
	FILE *file;
	z_stream z;
	size_t type_cnt;
	struct intern *strings, *mappings, *functions, *locations;
	uint64_t *limits; /* end of addresses, by mapping */
	uint32_t limit_cap;
	struct strbuf out, sample, part, body, line; /* encoding buffers, reused */
	int err;				     /* sticky */
};

/* ---- wire format ---- */

static void put_varint(struct strbuf *b, uint64_t v)
{
	char bytes[10];
	size_t len = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[len++] = v | 0x80;
	bytes[len++] = v;
	strbuf_add(b, bytes, len);
}

/* Zero is the default and is omitted. */
static void put_number(struct strbuf *b, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes(struct strbuf *b, unsigned field, const char *p, size_t len)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, len);
	strbuf_add(b, p, len);
}

/* ---- output ---- */

static void deflate_out(struct pprof *p, const char *bytes, size_t len, int flush)
{
	unsigned char buf[16384];

	p->z.next_in = (unsigned char *)bytes;
	p->z.avail_in = len;
	do {
		size_t n;

		p->z.next_out = buf;
		p->z.avail_out = sizeof(buf);
		deflate(&p->z, flush);
		n = sizeof(buf) - p->z.avail_out;
		if (!p->err && fwrite(buf, 1, n, p->file) != n)
			p->err = errno ? -errno : -EIO;
	} while (!p->z.avail_out);
}

/* Writes `b` and empties it. */
static void write_out(struct pprof *p, struct strbuf *b)
{
	if (b->failed)
		p->err = p->err ? p->err : -ENOMEM;
	else
		deflate_out(p, b->p, b->len, Z_NO_FLUSH);
	b->len = 0;
}

/* ---- tables ---- */

static uint32_t intern(struct pprof *p, struct intern *table, struct span bytes)
{
	uint32_t id = intern__add(table, bytes);

	if (id == INTERN_FAILED) {
		p->err = p->err ? p->err : -ENOMEM;
		return 0;
	}
	return id;
}

/* Message ids start at 1. */
static uint32_t intern_body(struct pprof *p, struct intern *table)
{
	if (p->body.failed)
		p->err = -ENOMEM;
	return p->err ? 0 : intern(p, table, (struct span){p->body.p, p->body.len}) + 1;
}

static uint32_t string_id(struct pprof *p, const char *s)
{
	return s && *s ? intern(p, p->strings, span_of(s)) : 0;
}

static uint32_t function_id(struct pprof *p, const struct profile_frame *f)
{
	p->body.len = 0;
	put_number(&p->body, FUNCTION_NAME, string_id(p, f->name));
	put_number(&p->body, FUNCTION_SYSTEM_NAME,
		   string_id(p, f->system_name ? f->system_name : f->name));
	put_number(&p->body, FUNCTION_FILE, string_id(p, f->file));
	return intern_body(p, p->functions);
}

static uint32_t mapping_id(struct pprof *p, const struct profile_frame *f)
{
	uint32_t id;

	if (!f->binary)
		return 0;
	p->body.len = 0;
	put_number(&p->body, MAPPING_FILE, string_id(p, f->binary));
	put_number(&p->body, MAPPING_BUILD_ID, string_id(p, f->build_id));
	id = intern_body(p, p->mappings);
	if (id >= p->limit_cap) {
		uint32_t cap = p->limit_cap ? p->limit_cap * 2 : 64;
		uint64_t *limits = realloc(p->limits, cap * sizeof(*limits));

		if (!limits) {
			p->err = -ENOMEM;
			return 0;
		}
		memset(limits + p->limit_cap, 0, (cap - p->limit_cap) * sizeof(*limits));
		p->limits = limits;
		p->limit_cap = cap;
	}
	if (f->address >= p->limits[id])
		p->limits[id] = f->address == UINT64_MAX ? f->address : f->address + 1;
	return id;
}

/*
 * Location of frames[*i] and the frames it was inlined into, which share its address: one location
 * with one line per frame, innermost first. *i is set to the outermost of them.
 */
static uint32_t location_id(struct pprof *p, const struct profile_frame *frames, size_t *i)
{
	const struct profile_frame *inner = &frames[*i];
	struct strbuf *lines = &p->part;
	uint32_t mapping = mapping_id(p, inner);

	lines->len = 0;
	for (;; (*i)--) {
		p->line.len = 0;
		put_number(&p->line, LINE_FUNCTION, function_id(p, &frames[*i]));
		put_number(&p->line, LINE_LINE, frames[*i].line);
		put_bytes(lines, LOCATION_LINE, p->line.p, p->line.len);
		if (!*i || frames[*i].kind != PROFILE_INLINED ||
		    frames[*i - 1].address != inner->address)
			break;
	}
	p->body.len = 0;
	put_number(&p->body, LOCATION_MAPPING, mapping);
	put_number(&p->body, LOCATION_ADDRESS, inner->address);
	strbuf_add(&p->body, lines->p, lines->len);
	p->body.failed |= p->line.failed | lines->failed;
	return intern_body(p, p->locations);
}

static void write_table(struct pprof *p, unsigned field, const struct intern *table)
{
	for (uint32_t i = 0; i < intern__count(table); i++) {
		struct span body = intern__get(table, i);

		p->part.len = p->out.len = 0;
		put_number(&p->part, ID, i + 1);
		strbuf_add(&p->part, body.p, body.len);
		if (field == PROFILE_MAPPING) {
			put_number(&p->part, MAPPING_LIMIT, p->limits[i + 1]);
			for (unsigned has = MAPPING_HAS_FUNCTIONS; has <= MAPPING_HAS_INLINE; has++)
				put_number(&p->part, has, 1); /* else pprof looks for the binary */
		}
		put_bytes(&p->out, field, p->part.p, p->part.len);
		write_out(p, &p->out);
	}
}

/* Protobuf strings must be UTF-8; other bytes are escaped. */
static void write_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < intern__count(p->strings); i++) {
		p->part.len = p->out.len = 0;
		strbuf_escape(&p->part, ESCAPE_TERMINAL, intern__get(p->strings, i));
		put_bytes(&p->out, PROFILE_STRING, p->part.len ? p->part.p : "", p->part.len);
		write_out(p, &p->out);
	}
}

/* ---- the sink ---- */

static void pprof_free(struct pprof *p)
{
	deflateEnd(&p->z);
	intern__free(p->strings);
	intern__free(p->mappings);
	intern__free(p->functions);
	intern__free(p->locations);
	free(p->limits);
	strbuf_fini(&p->out);
	strbuf_fini(&p->sample);
	strbuf_fini(&p->part);
	strbuf_fini(&p->body);
	strbuf_fini(&p->line);
	free(p);
}

static void put_type(struct pprof *p, unsigned field, const char *type, const char *unit)
{
	p->part.len = 0;
	put_number(&p->part, TYPE_TYPE, string_id(p, type));
	put_number(&p->part, TYPE_UNIT, string_id(p, unit));
	put_bytes(&p->out, field, p->part.p, p->part.len);
}

static void write_info(struct pprof *p, const struct profile_info *info)
{
	struct strbuf *b = &p->out;

	for (size_t i = 0; i < info->type_cnt; i++)
		put_type(p, PROFILE_SAMPLE_TYPE, info->types[i].name, info->types[i].unit);
	put_number(b, PROFILE_TIME, info->started_ns);
	put_number(b, PROFILE_DURATION, info->duration_ns);
	if (info->period_ns) {
		put_type(p, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
		put_number(b, PROFILE_PERIOD, info->period_ns);
	}
	put_number(b, PROFILE_COMMENT, string_id(p, info->title));
	put_number(b, PROFILE_COMMENT, string_id(p, info->subtitle));
	put_number(b, PROFILE_DEFAULT_TYPE, string_id(p, info->types[info->primary].name));
	write_out(p, b);
}

static int pprof_begin(const struct profile_sink *self, void **state,
		       const struct profile_info *info, FILE *out)
{
	struct pprof *p = calloc(1, sizeof(*p));

	*state = NULL;
	if (!p)
		return -ENOMEM;
	p->file = out;
	p->type_cnt = info->type_cnt;
	/* 16: gzip header. Its time stays 0, so that equal profiles give identical files. */
	if (deflateInit2(&p->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    intern__new(&p->strings) || intern__new(&p->mappings) || intern__new(&p->functions) ||
	    intern__new(&p->locations)) {
		pprof_free(p);
		return -ENOMEM;
	}
	intern(p, p->strings, span_of("")); /* string 0 is empty */
	write_info(p, info);
	*state = p;
	return 0;
}

static void put_label(struct pprof *p, const struct profile_label *l)
{
	p->part.len = 0;
	put_number(&p->part, LABEL_KEY, string_id(p, l->key));
	if (l->str)
		put_number(&p->part, LABEL_STR, string_id(p, l->str));
	else {
		put_number(&p->part, LABEL_NUM, l->num);
		put_number(&p->part, LABEL_NUM_UNIT, string_id(p, l->num_unit));
	}
	put_bytes(&p->sample, SAMPLE_LABEL, p->part.p, p->part.len);
}

static int pprof_stack(void *state, const struct profile_stack *s)
{
	struct pprof *p = state;
	struct strbuf *ids = &p->out; /* unused until the sample is complete */

	p->sample.len = ids->len = 0;
	for (size_t i = s->cnt; i-- > 0;)
		put_varint(ids, location_id(p, s->frames, &i));
	if (ids->len)
		put_bytes(&p->sample, SAMPLE_LOCATIONS, ids->p, ids->len);
	ids->len = 0;
	for (size_t i = 0; i < p->type_cnt; i++)
		put_varint(ids, s->values[i]);
	put_bytes(&p->sample, SAMPLE_VALUES, ids->p, ids->len);
	for (size_t i = 0; i < s->label_cnt; i++)
		put_label(p, &s->labels[i]);
	p->out.len = 0;
	put_bytes(&p->out, PROFILE_SAMPLE, p->sample.p, p->sample.len);
	p->out.failed |= p->sample.failed;
	write_out(p, &p->out);
	return p->err;
}

static int pprof_end(void *state)
{
	struct pprof *p = state;
	int err;

	write_table(p, PROFILE_MAPPING, p->mappings);
	write_table(p, PROFILE_FUNCTION, p->functions);
	write_table(p, PROFILE_LOCATION, p->locations);
	write_strings(p);
	deflate_out(p, NULL, 0, Z_FINISH);
	if (fflush(p->file) && !p->err)
		p->err = -errno;
	err = p->err;
	pprof_free(p);
	return err;
}

const struct profile_sink profile_pprof = {.name = "pprof",
					   .wants = PROFILE_KINDS | PROFILE_LABELS,
					   .begin = pprof_begin,
					   .stack = pprof_stack,
					   .end = pprof_end};
