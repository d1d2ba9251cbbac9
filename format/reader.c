/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening reads only both ends: obz.json at the start, and obz.end.json, searched backwards from
 * the two zero blocks of tar. The cost is independent of the size.
 */
#include "format/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "format/json.h"

enum { FORMAT_MAJOR = 1 };

/* ---- the end ---- */

/* Whether there is a header at `at` of the tail whose member ends at the zero blocks. */
static bool is_end_header(const uint8_t *tail, size_t at, size_t zeros, struct ustar_header *h)
{
	return !ustar_header_get(h, tail + at) && !strcmp(h->name, "obz.end.json") &&
	       h->type == '0' && h->sz <= READER_META_MAX &&
	       at + USTAR_BLOCK + ustar_padded(h->sz) == zeros;
}

/* Searches backwards for the end member in the last len bytes of the complete blocks. The zero
 * blocks after it may be incomplete or missing, without loss of data. */
static void find_end_in(struct obz_reader *r, size_t len)
{
	uint64_t from = r->sz - r->sz % USTAR_BLOCK - len;
	uint8_t *tail = malloc(len);
	size_t zeros = len;

	if (!tail || reader_get(r, tail, from, len)) {
		free(tail);
		return;
	}
	while (zeros && ustar_is_zero(tail + zeros - USTAR_BLOCK))
		zeros -= USTAR_BLOCK;
	for (size_t at = zeros; at >= 2 * USTAR_BLOCK; at -= USTAR_BLOCK) {
		struct ustar_header h;
		size_t header = at - 2 * USTAR_BLOCK;

		if (!is_end_header(tail, header, zeros, &h))
			continue;
		r->end = reader_json(r, from + header + USTAR_BLOCK, h.sz);
		r->end_offset = from + header;
		break;
	}
	free(tail);
}

static void find_end(struct obz_reader *r)
{
	/* most ends are within the last 64 KiB; otherwise more is read */
	static const size_t tails[] = {64 << 10, READER_META_MAX + 4 * USTAR_BLOCK};
	uint64_t whole = r->sz - r->sz % USTAR_BLOCK;

	for (int i = 0; i < 2 && !r->end; i++)
		find_end_in(r, tails[i] < whole ? tails[i] : whole);
	if (!r->end)
		r->end_offset = r->sz;
}

/* ---- the start ---- */

enum { PARTS_MAX = 4096 };

/* Reads the parts of a merged archive: they follow obz.json, each as a member, in the order of its
 * list. */
static int read_parts(struct obz_reader *r, struct json_object *o)
{
	struct json_object *list = json_get(o, "captures", json_type_array);
	size_t cnt = list ? json_object_array_length(list) : 0;
	uint64_t at = USTAR_BLOCK + ustar_padded(strlen(r->header));

	if (!cnt || cnt > PARTS_MAX)
		return reader_fail(r, -EBADMSG, "a merged archive without a list of its captures");
	r->parts = calloc(cnt, sizeof(*r->parts));
	if (!r->parts)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		uint64_t sz = json_u64(json_object_array_get_idx(list, i), "bytes"), left;

		at += USTAR_BLOCK;
		left = at < r->sz ? r->sz - at : 0;
		r->parts[r->part_cnt++] = (struct reader_part){at, sz < left ? sz : left};
		if (sz > left) /* truncated: the rest is missing */
			at = r->sz;
		else
			at += ustar_padded(sz);
	}
	return 0;
}

static int check_version(struct obz_reader *r, struct json_object *o)
{
	struct json_object *format = json_get(o, "format", json_type_object);
	struct json_object *required = json_get(format, "required", json_type_array);
	uint64_t major = json_u64(format, "major");

	if (major != FORMAT_MAJOR)
		return reader_fail(r, -EPROTONOSUPPORT,
				   "format version %" PRIu64
				   " is not supported (this program reads version %d)",
				   major, FORMAT_MAJOR);
	if (required && json_object_array_length(required) == 1 && !r->base &&
	    !strcmp(json_object_get_string(json_object_array_get_idx(required, 0)), "captures"))
		return read_parts(r, o);
	if (required && json_object_array_length(required))
		return reader_fail(
			r, -EPROTONOSUPPORT,
			"requires feature %s, which this program does not support",
			json_object_to_json_string(json_object_array_get_idx(required, 0)));
	return 0;
}

static int read_header(struct obz_reader *r)
{
	uint8_t block[USTAR_BLOCK];
	struct ustar_header h;
	struct json_object *o;
	int err = 0;

	if (reader_get(r, block, 0, sizeof(block)) || ustar_header_get(&h, block) ||
	    strcmp(h.name, "obz.json") || h.type != '0')
		return 0;
	r->header = reader_json(r, USTAR_BLOCK, h.sz);
	if (!r->header)
		return 0;
	o = json_parse(r->header, strlen(r->header));
	if (!o) {
		free(r->header);
		r->header = NULL;
		return 0;
	}
	err = check_version(r, o);
	r->has_uuid = uuid_get(json_string(o, "uuid"), r->uuid);
	json_object_put(o);
	return err;
}

/* Ignores the end of a different archive that follows a truncated one. */
static void check_end(struct obz_reader *r)
{
	struct json_object *o = r->end ? json_parse(r->end, strlen(r->end)) : NULL;
	uint8_t uuid[16];
	bool ours = o && uuid_get(json_string(o, "uuid"), uuid);

	if (r->end && (!ours || (r->has_uuid && memcmp(uuid, r->uuid, sizeof(uuid))))) {
		free(r->end);
		r->end = NULL;
		r->end_offset = r->sz;
	}
	r->recovered = r->end && !strcmp(json_string(o, "stop_reason"), "recovered");
	json_object_put(o);
}

/* schema.json is the second member; otherwise the walk finds it. */
static void read_schema(struct obz_reader *r)
{
	uint8_t block[USTAR_BLOCK];
	struct ustar_header h;
	uint64_t at;

	if (reader_get(r, block, 0, sizeof(block)) || ustar_header_get(&h, block) ||
	    h.sz > READER_META_MAX)
		return;
	at = USTAR_BLOCK + ustar_padded(h.sz);
	if (!reader_get(r, block, at, sizeof(block)) && !ustar_header_get(&h, block) &&
	    !strcmp(h.name, "schema.json") && h.type == '0')
		r->schema_text = reader_json(r, at + USTAR_BLOCK, h.sz);
}

/* The header is damaged: takes the uuid from the first intact chunk. */
static void find_uuid(struct obz_reader *r)
{
	size_t cnt;
	const struct obz_member *m = obz_reader__members(r, &cnt);
	uint8_t buf[CHUNK_HEADER_SZ];
	struct chunk_header h;

	for (size_t i = 0; i < cnt && !r->has_uuid; i++)
		if (m[i].type == OBZ_CHUNK && !reader_get(r, buf, m[i].offset, sizeof(buf)) &&
		    !chunk_header_get(&h, buf, sizeof(buf))) {
			memcpy(r->uuid, h.uuid, sizeof(h.uuid));
			r->has_uuid = true;
		}
}

static int read_ends(struct obz_reader *r)
{
	int err = read_header(r);

	if (err || r->part_cnt)
		return err;
	find_end(r);
	check_end(r);
	if (r->header)
		read_schema(r);
	else {
		/* the walk finds out whether this is an archive at all */
		reader_walk(r);
		if (!r->member_cnt)
			return reader_fail(r, -EBADMSG,
					   r->sz ? "not an obrec archive"
						 : "empty file, not an obrec archive");
	}
	if (!r->schema_text && !r->walked)
		reader_walk(r);
	if (!r->has_uuid)
		find_uuid(r);
	if (r->has_uuid)
		uuid_put(r->uuid_text, r->uuid);
	if (r->schema_text)
		err = schema_load(&r->schema, r->schema_text, strlen(r->schema_text));
	if (!r->schema_text || err)
		err = schema_load(&r->schema, NULL, 0);
	return err;
}

size_t obz_reader__parts(const struct obz_reader *r)
{
	return r->part_cnt;
}

int obz_reader__raw(const struct obz_reader *r, uint64_t at, void *buf, size_t sz)
{
	return reader_get(r, buf, at, sz);
}

/* Opens "FILE#N", when no file has that name, as a part of a merged archive. */
static int open_part(struct obz_reader *r, const char *path, const char *hash)
{
	char *file = strndup(path, hash - path), *end;
	unsigned long number = strtoul(hash + 1, &end, 10);
	struct obz_reader *whole = NULL;
	int err = file ? 0 : -ENOMEM;

	if (!err &&
	    (*end || !number || (err = obz_reader__open(&whole, file)) || number > whole->part_cnt))
		err = err ? err : -ENOENT;
	if (!err && (r->fd = dup(whole->fd)) < 0)
		err = -errno;
	if (!err) {
		r->base = whole->parts[number - 1].at;
		r->sz = whole->parts[number - 1].sz;
	}
	obz_reader__close(whole);
	free(file);
	return err;
}

int obz_reader__open(struct obz_reader **out, const char *path)
{
	const char *hash = strrchr(path, '#');
	struct obz_reader *r = calloc(1, sizeof(*r));
	int err;

	*out = r;
	if (!r)
		return -ENOMEM;
	r->fd = -1;
	pthread_mutex_init(&r->lock, NULL);
	err = hash && access(path, F_OK) ? open_part(r, path, hash) : reader_open_file(r, path);
	if (!err)
		err = read_ends(r);
	r->damage.cut = !r->end && !r->part_cnt;
	if (err && !*r->error)
		reader_fail(r, err, "%s", strerror(-err));
	return err;
}

void obz_reader__close(struct obz_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->header);
	free(r->schema_text);
	free(r->parts);
	free(r->end);
	schema_fini(&r->schema);
	reader_unwalk(r);
	reader_decoders_free(r);
	free(r->window);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

const char *obz_reader__header(const struct obz_reader *r)
{
	return r->header;
}

const char *obz_reader__end(const struct obz_reader *r)
{
	return r->end;
}

const char *obz_reader__schema(struct obz_reader *r)
{
	return r ? r->schema_text : NULL;
}

const struct rec_info *obz_reader__info(const struct obz_reader *r, enum rec_kind kind)
{
	if (!r)
		return rec_info(kind);
	return (unsigned)kind < REC_KIND_MAX ? r->schema.kinds[kind].info : NULL;
}

const char *obz_reader__error(const struct obz_reader *r)
{
	return r ? r->error : strerror(ENOMEM);
}

const char *obz_reader__uuid(const struct obz_reader *r)
{
	return r->uuid_text;
}

uint64_t obz_reader__size(const struct obz_reader *r)
{
	return r->sz;
}

struct obz_damage obz_reader__damage(const struct obz_reader *r)
{
	return r->damage;
}

bool obz_damage_any(const struct obz_damage *d)
{
	return d->cut || d->bad_chunks || d->lost_chunks || d->bad_members || d->skipped_bytes ||
	       d->refused;
}

void obz_reader__on_damage(struct obz_reader *r, obz_damage_fn fn, void *arg)
{
	r->on_damage = fn;
	r->on_damage_arg = arg;
	if (r->walked)
		reader_unwalk(r); /* walk again later, so that the listener is called */
}
