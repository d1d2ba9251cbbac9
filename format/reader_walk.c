/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walks from header to header. When the next one is not intact, searches the 512-byte boundaries
 * for a tar header with a valid name or for a chunk header; the bytes between count as damage. A
 * tar reader would treat a zeroed block as the end; here only the end member ends an archive.
 */
#include "format/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <unistd.h>

#include "format/json.h"

enum {
	WINDOW = 256 << 10,
	NEAR = 64 << 10,       /* for shorter steps, read the bytes between */
	SEARCH_MAX = 256 << 20 /* without a header or member in this range: not an archive */
};

const uint8_t *reader_peek(struct obz_reader *r, uint64_t off, size_t len)
{
	uint64_t end = r->window_off + r->window_len;
	size_t want;

	if (off > r->sz || len > r->sz - off)
		return NULL;
	if (off >= r->window_off && off + len <= end)
		return r->window + (off - r->window_off);
	want = off >= r->window_off && off < end + NEAR ? WINDOW : 2 * USTAR_BLOCK;
	if (want < len)
		want = len;
	if (want > r->sz - off)
		want = r->sz - off;
	r->window_len = 0;
	if (!r->window && !(r->window = malloc(WINDOW)))
		return NULL;
	if (reader_get(r, r->window, off, want))
		return NULL;
	r->window_off = off;
	r->window_len = want;
	return r->window;
}

/* Whether there is an intact chunk header of this archive; of any archive when the uuid is not
 * known. */
static bool chunk_at(struct obz_reader *r, uint64_t off, struct chunk_header *h)
{
	uint64_t left = r->sz - off;
	const uint8_t *p = reader_peek(r, off, left < CHUNK_HEADER_MAX ? left : CHUNK_HEADER_MAX);
	enum obz_member_type type;
	char name[64], stream[REC_STREAM_NAME_MAX + 1];
	uint64_t seq;

	if (!p || chunk_header_get(h, p, left < CHUNK_HEADER_MAX ? left : CHUNK_HEADER_MAX))
		return false;
	if (r->has_uuid && memcmp(h->uuid, r->uuid, sizeof(r->uuid)))
		return false;
	snprintf(name, sizeof(name), "ev/%s/%06" PRIu64 ".zst", h->stream, h->seq);
	return member_name_get(name, &type, stream, &seq) && seq == h->seq;
}

static struct reader_stream *stream_of(struct obz_reader *r, const char *name)
{
	struct reader_stream *s;

	for (unsigned i = 0; i < r->stream_cnt; i++)
		if (!strcmp(r->streams[i].name, name))
			return &r->streams[i];
	if (r->stream_cnt == sizeof(r->streams) / sizeof(*r->streams))
		return NULL;
	s = &r->streams[r->stream_cnt];
	*s = (struct reader_stream){.name = strdup(name)};
	if (!s->name || asprintf(&s->path, "ev/%s", name) < 0) {
		free(s->name);
		return NULL;
	}
	r->stream_cnt++;
	return s;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The archive's only copy of a name; NULL when the name exists (or memory is short). */
static const char *new_name(struct obz_reader *r, const char *name)
{
	char *copy = strdup(name), **at = copy ? tsearch(copy, &r->names, by_name) : NULL;

	if (!at || *at != copy) {
		free(copy);
		return NULL;
	}
	return copy;
}

static void refuse(struct obz_reader *r, uint64_t off, const char *name, const char *why)
{
	reader_damaged(r, &r->damage.refused, 1, off, name, "refused: %s", why);
}

static void skipped(struct obz_reader *r, uint64_t off, uint64_t len, const char *why)
{
	if (len)
		reader_damaged(r, &r->damage.skipped_bytes, len, off, "", "%" PRIu64 " bytes: %s",
			       len, why);
}

static void add(struct obz_reader *r, const struct obz_member *m)
{
	if (r->member_cnt == r->member_cap) {
		size_t cap = r->member_cap ? r->member_cap * 2 : 1024;
		struct obz_member *members = realloc(r->members, cap * sizeof(*members));

		if (!members)
			return refuse(r, m->offset, m->name, "out of memory");
		r->members = members;
		r->member_cap = cap;
	}
	r->members[r->member_cnt++] = *m;
}

static void add_chunk(struct obz_reader *r, struct obz_member *m, const char *stream, uint64_t off)
{
	struct reader_stream *s = stream_of(r, stream);
	char name[64];

	snprintf(name, sizeof(name), "ev/%s/%06" PRIu64 ".zst", stream, m->seq);
	if (!s)
		return refuse(r, off, name, "too many streams");
	if (m->sz < CHUNK_HEADER_SZ || m->sz > CHUNK_HEADER_MAX + CHUNK_FRAME_MAX)
		return refuse(r, off, name, "size out of bounds");
	if (m->seq < s->next)
		return refuse(r, off, name, "duplicate sequence number");
	if (m->seq > s->next && !r->recovered)
		reader_damaged(r, &r->damage.lost_chunks, m->seq - s->next, off, name,
			       "%" PRIu64 " chunks before it are missing", m->seq - s->next);
	s->next = m->seq + 1;
	m->name = s->path;
	m->stream = s->name;
	add(r, m);
}

static char *checked_json(struct obz_reader *r, const struct obz_member *m)
{
	char *text = reader_json(r, m->offset, m->sz);
	struct json_object *o = text ? json_parse(text, m->sz) : NULL;

	if (o) {
		json_object_put(o);
		return text;
	}
	free(text);
	return NULL;
}

/* Header and end are known from open; those not found there may be elsewhere in a damaged file. */
static void add_meta(struct obz_reader *r, struct obz_member *m, const char *name, uint64_t off)
{
	char **keep = !strcmp(name, "obz.json")	     ? &r->header
		      : !strcmp(name, "schema.json") ? &r->schema_text
						     : &r->end;

	m->name = new_name(r, name);
	if (!m->name)
		return refuse(r, off, name, "duplicate member name");
	if (m->sz > READER_META_MAX)
		return refuse(r, off, name, "size out of bounds");
	if (!*keep)
		*keep = checked_json(r, m);
	if (keep == &r->end && r->end)
		r->end_offset = off;
	add(r, m);
}

static void add_member(struct obz_reader *r, const struct ustar_header *h, uint64_t off)
{
	struct obz_member m = {.offset = off + USTAR_BLOCK, .sz = h->sz};
	char stream[REC_STREAM_NAME_MAX + 1];

	if (h->type != '0')
		return refuse(r, off, h->name, "not a regular file");
	if (!member_name_get(h->name, &m.type, stream, &m.seq))
		return refuse(r, off, h->name, "not a valid member name");
	if (r->member_cnt >= READER_MEMBERS_MAX)
		return refuse(r, off, h->name, "too many members");
	if (m.type == OBZ_CHUNK)
		return add_chunk(r, &m, stream, off);
	if (m.type == OBZ_META)
		return add_meta(r, &m, h->name, off);
	m.name = new_name(r, h->name);
	if (!m.name)
		return refuse(r, off, h->name, "duplicate member name");
	add(r, &m);
}

/* Whether the walk can continue from this boundary. */
static bool is_plausible(struct obz_reader *r, uint64_t off)
{
	const uint8_t *block = reader_peek(r, off, USTAR_BLOCK);
	enum obz_member_type type;
	char stream[REC_STREAM_NAME_MAX + 1];
	struct ustar_header h;
	struct chunk_header c;
	uint64_t seq;

	if (!block)
		return false;
	if (!ustar_header_get(&h, block))
		return member_name_get(h.name, &type, stream, &seq);
	return block[0] == 0x5b && chunk_at(r, off, &c);
}

/* The first such boundary in [from, to), else `to`. */
static uint64_t search(struct obz_reader *r, uint64_t from, uint64_t to)
{
	for (uint64_t off = from; off < to; off += USTAR_BLOCK) {
		if (is_plausible(r, off))
			return off;
		if (!r->header && !r->member_cnt && off > SEARCH_MAX)
			return r->sz;
	}
	return to;
}

/* Skips the zero blocks at off. */
static uint64_t skip_zeros(struct obz_reader *r, uint64_t off)
{
	static const uint8_t zeros[USTAR_BLOCK];

	while (off < r->sz) {
		size_t len = r->sz - off < USTAR_BLOCK ? r->sz - off : USTAR_BLOCK;
		const uint8_t *block = reader_peek(r, off, len);

		if (!block || memcmp(block, zeros, len))
			break;
		off += len;
	}
	return off;
}

static bool is_tar(struct obz_reader *r, uint64_t off)
{
	const uint8_t *block = off < r->sz ? reader_peek(r, off, USTAR_BLOCK) : NULL;
	struct ustar_header h;

	return off >= r->sz || (block && (ustar_is_zero(block) || !ustar_header_get(&h, block)));
}

/* Removes the last member, because another one starts inside it: some of its bytes are lost.
 * Nothing has read it yet, so no byte is read as part of two members. */
static void drop_last(struct obz_reader *r, uint64_t off)
{
	struct obz_member *m = &r->members[--r->member_cnt];
	char name[USTAR_NAME_MAX + 4];

	reader_damaged(r, m->type == OBZ_CHUNK ? &r->damage.bad_chunks : &r->damage.bad_members, 1,
		       off, obz_member_name(m, name), "truncated: another member starts inside");
}

/* Adds the member at off, whose header is intact; returns the offset to continue at. */
static uint64_t step(struct obz_reader *r, const struct ustar_header *h, uint64_t off)
{
	uint64_t payload = off + USTAR_BLOCK, next = payload + ustar_padded(h->sz), inner;
	size_t before = r->member_cnt;

	if (h->sz > r->sz - payload) {
		char why[128];

		snprintf(why, sizeof(why), "%.100s is truncated", h->name);
		skipped(r, off, r->sz - off, why);
		return r->sz;
	}
	add_member(r, h, off);
	if (next >= r->sz)
		return r->sz;
	if (is_tar(r, next))
		return next;
	/* when bytes inside are missing, the next member starts before this one's end */
	inner = search(r, payload + USTAR_BLOCK, next);
	if (inner < next && r->member_cnt > before)
		drop_last(r, off);
	return inner;
}

/* Handles an offset without an intact header. */
static uint64_t stumble(struct obz_reader *r, uint64_t off)
{
	const uint8_t *block = reader_peek(r, off, USTAR_BLOCK);
	struct chunk_header c;
	uint64_t next;

	if (block && block[0] == 0x5b && chunk_at(r, off, &c)) {
		struct obz_member m = {OBZ_CHUNK, true, off,  (uint64_t)c.header_sz + c.frame_sz,
				       NULL,	  NULL, c.seq};

		if (m.sz <= r->sz - off) {
			add_chunk(r, &m, c.stream, off);
			reader_damaged(r, &r->damage.bad_members, 1, off, "",
				       "tar header of a chunk is damaged");
			next = off + ustar_padded(m.sz);
			return next < r->sz ? next : r->sz;
		}
	}
	next = skip_zeros(r, off);
	if (next > off) {
		if (!r->end || off < r->end_offset) /* otherwise it is the end of the tar file */
			skipped(r, off, next - off, "zeroed");
		return next;
	}
	next = search(r, off + USTAR_BLOCK, r->sz);
	skipped(r, off, next - off,
		r->sz - off < USTAR_BLOCK ? "incomplete header" : "no intact header");
	return next;
}

/* Counts chunks that the end member lists but that were not found. */
static void check_counts(struct obz_reader *r)
{
	struct json_object *end =
		r->end && !r->recovered ? json_parse(r->end, strlen(r->end)) : NULL;
	struct json_object *chunks = json_get(end, "chunks", json_type_object);

	if (chunks) {
		json_object_object_foreach(chunks, name, value)
		{
			(void)value;
			stream_of(r, name); /* also streams without any chunk found */
		}
	}
	for (unsigned i = 0; chunks && i < r->stream_cnt; i++) {
		const struct reader_stream *s = &r->streams[i];
		uint64_t cnt = json_u64(chunks, s->name);

		if (cnt > s->next)
			reader_damaged(r, &r->damage.lost_chunks, cnt - s->next, r->end_offset,
				       s->path, "its last %" PRIu64 " chunks are missing",
				       cnt - s->next);
	}
	json_object_put(end);
}

void reader_walk(struct obz_reader *r)
{
	uint64_t off = 0;

	r->walked = true;
	while (off < r->sz) {
		const uint8_t *block = reader_peek(r, off, USTAR_BLOCK);
		struct ustar_header h;

		if (block && !ustar_header_get(&h, block))
			off = step(r, &h, off);
		else
			off = stumble(r, off);
	}
	r->damage.cut = !r->end;
	check_counts(r);
	r->bad = calloc(r->member_cnt + 1, 1);
}

void reader_unwalk(struct obz_reader *r)
{
	for (unsigned i = 0; i < r->stream_cnt; i++) {
		free(r->streams[i].name);
		free(r->streams[i].path);
	}
	r->stream_cnt = 0;
	tdestroy(r->names, free);
	r->names = NULL;
	free(r->members);
	r->members = NULL;
	r->member_cnt = r->member_cap = 0;
	free(r->bad);
	r->bad = NULL;
	r->damage = (struct obz_damage){.cut = !r->end};
	r->walked = false;
}

const struct obz_member *obz_reader__members(struct obz_reader *r, size_t *cnt)
{
	if (!r->walked)
		reader_walk(r);
	*cnt = r->member_cnt;
	return r->members;
}

char *obz_member_name(const struct obz_member *m, char *buf)
{
	if (m->type == OBZ_CHUNK)
		snprintf(buf, USTAR_NAME_MAX + 4, "%s/%06" PRIu64 ".zst", m->name, m->seq);
	else
		snprintf(buf, USTAR_NAME_MAX + 4, "%s", m->name);
	return buf;
}
