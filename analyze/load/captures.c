/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/captures.h"

#include "analyze/base/index.h"

#include <errno.h>
#include <json-c/json.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/text.h"

#define BOOT_SLACK_NS 2000000000  /* the clock may be set between two archives */
#define DEBUG_MAX_SZ (4ULL << 30) /* per decompressed debug member */
#define HASH_BLOCK_SZ (256u << 10)

static const char *json_text(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return "";
	return json_object_get_string(v);
}

static uint64_t json_number(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

static struct json_object *json_array(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) && json_object_is_type(v, json_type_array)
		       ? v
		       : NULL;
}

/* Appends a word quoted for a shell, so that the command line can be pasted. */
static void add_word(struct strbuf *b, const char *word)
{
	if (*word &&
	    !word[strspn(
		    word,
		    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:=,@%")]) {
		strbuf_addf(b, "%s", word);
		return;
	}
	strbuf_addf(b, "'");
	for (const char *p = word; *p; p++)
		strbuf_addf(b, *p == '\'' ? "'\\''" : "%c", *p);
	strbuf_addf(b, "'");
}

static char *join(struct json_object *list, const char *between, bool quote)
{
	struct strbuf b = {0};

	strbuf_addf(&b, "%s", "");
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(list, i));

		if (i)
			strbuf_addf(&b, "%s", between);
		if (quote)
			add_word(&b, word ? word : "");
		else
			strbuf_addf(&b, "%s", word ? word : "");
	}
	if (b.failed) {
		strbuf_fini(&b);
		return NULL;
	}
	return b.p;
}

/* If the end is missing, the duration is estimated from the time ranges of the chunks. */
static uint64_t last_event_ns(struct capture *c)
{
	size_t cnt;
	const struct obz_member *m = obz_reader__members(c->reader, &cnt);
	struct obz_chunk_info ci;
	uint64_t last = 0;

	for (size_t i = cnt, seen = 0; i-- && seen < 16;) {
		if (m[i].type != OBZ_CHUNK || obz_reader__chunk_info(c->reader, &m[i], &ci))
			continue;
		seen++;
		if (ci.last_ns > last)
			last = ci.last_ns;
	}
	return last;
}

static int read_ends(struct capture *c)
{
	struct json_object *clock = NULL, *options = NULL, *complete = NULL, *unnamed = NULL;
	const char *text = obz_reader__header(c->reader);
	uint64_t monotonic = 0, realtime = 0, last, kept;

	c->header = text ? json_tokener_parse(text) : NULL;
	text = obz_reader__end(c->reader);
	c->end = text ? json_tokener_parse(text) : NULL;
	c->uuid = json_text(c->header, "uuid");
	c->host = json_text(c->header, "host");
	c->kernel = json_text(c->header, "kernel");
	c->arch = json_text(c->header, "arch");
	c->version = json_text(c->header, "version");
	c->cpus = json_number(c->header, "cpus");
	c->started_ns = json_number(c->header, "started_at_ns");
	c->command = join(json_array(c->header, "argv"), " ", true);
	c->probes = join(json_array(c->header, "probes"), ",", false);
	c->sample = 1;
	if (json_object_object_get_ex(c->header, "options", &options)) {
		c->freq = json_number(options, "event_period") ? 0 : json_number(options, "freq");
		c->payload = json_number(options, "payload_max");
		if (!c->payload) /* imported archive */
			c->payload = json_number(options, "payload");
		c->payload_many = json_number(options, "payload_many") != 0;
		if (json_number(options, "alloc_live"))
			c->leak_age_ns = json_number(options, "alloc_age");
		kept = json_number(options, "sample_per_64k");
		if (kept && kept < 65536)
			c->sample = kept / 65536.0;
	}
	if (json_object_object_get_ex(c->header, "clock", &clock)) {
		monotonic = json_number(clock, "monotonic_ns");
		realtime = json_number(clock, "realtime_ns");
	}
	c->to_realtime = realtime - monotonic;
	c->complete = json_object_object_get_ex(c->end, "complete", &complete) &&
		      json_object_get_boolean(complete);
	c->stop_reason = json_text(c->end, "stop_reason");
	if (json_object_object_get_ex(c->end, "payload_unnamed", &unnamed)) {
		c->unnamed_calls = json_number(unnamed, "calls");
		c->unnamed_bytes = json_number(unnamed, "bytes");
	}
	c->duration_ns = json_number(c->end, "duration_ns");
	c->from_ns = json_number(c->end, "monotonic_ns");
	/* The header was written before the probes were attached, which can take seconds. */
	if (c->from_ns > monotonic)
		c->started_ns = c->from_ns + c->to_realtime;
	if (!c->duration_ns && (last = last_event_ns(c)) && last + c->to_realtime > c->started_ns)
		c->duration_ns = last + c->to_realtime - c->started_ns;
	return c->command && c->probes ? 0 : -ENOMEM;
}

/*
 * Debug members are decompressed again if several binaries use them, as with dwz's common file. A
 * hostile archive may refer to one member in thousands of records, so the bytes decompressed again
 * are limited to a multiple of those decompressed once.
 */
struct unpacking {
	uint64_t first, again; /* bytes */
};
enum { AGAIN_FREE = 64 << 20, AGAIN_MAX = 16 };

static int by_member_name(const void *a, const void *b)
{
	return strcmp(((const struct debug_member *)a)->m->name,
		      ((const struct debug_member *)b)->m->name);
}

static int list_debug(struct capture *c)
{
	size_t cnt;
	const struct obz_member *m = obz_reader__members(c->reader, &cnt);

	c->debug = calloc(cnt + 1, sizeof(*c->debug));
	if (!c->debug)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (m[i].type == OBZ_DEBUG)
			c->debug[c->debug_cnt++].m = &m[i];
	qsort(c->debug, c->debug_cnt, sizeof(*c->debug), by_member_name);
	return 0;
}

static void capture_fini(struct capture *c)
{
	json_object_put(c->header);
	json_object_put(c->end);
	free(c->command);
	free(c->probes);
	free(c->debug);
	obz_reader__close(c->reader);
	free(c->own_path);
}

static bool seen_before(const struct captures *c, const char *uuid)
{
	for (size_t i = 0; i < c->cnt; i++)
		if (*uuid && !strcmp(c->v[i].uuid, uuid))
			return true;
	return false;
}

static int open_one(struct captures *c, const char *path, bool part);

/* Opens the parts of a merged archive. One that cannot be opened is skipped. */
static int open_parts(struct captures *c, const char *path, size_t parts)
{
	int err = 0;

	for (size_t i = 1; i <= parts && !err; i++) {
		char *name;

		if (asprintf(&name, "%s#%zu", path, i) < 0)
			return -ENOMEM;
		err = open_one(c, name, true);
		free(name);
		if (err && err != -ENOMEM) {
			c->missing = true;
			err = 0;
		}
	}
	return err;
}

static int add_capture(struct captures *c, struct capture *n)
{
	int err;

	n->budget.archive_sz = n->traffic_budget.archive_sz = obz_reader__size(n->reader);
	err = read_ends(n);
	if (!err)
		err = list_debug(n);
	if (!err && seen_before(c, n->uuid)) {
		message_warn("%s: duplicate capture; ignored", n->path);
		capture_fini(n);
		return 0;
	}
	c->cnt++;
	return err;
}

static int open_one(struct captures *c, const char *path, bool part)
{
	struct capture *n;
	size_t parts;
	int err = array_reserve(&c->v, &c->cap, c->cnt + 1);

	if (err)
		return err;
	n = &c->v[c->cnt];
	*n = (struct capture){.path = path};
	if (part)
		n->path = n->own_path = strdup(path);
	err = n->path ? obz_reader__open(&n->reader, path) : -ENOMEM;
	if (err)
		message_error("%s: %s", path, obz_reader__error(n->reader));
	parts = err ? 0 : obz_reader__parts(n->reader);
	if (!err && parts && !strcmp(path, "-")) {
		message_error("standard input: a merged archive is read from a file");
		err = -ESPIPE;
	}
	if (!err && !parts)
		return add_capture(c, n);
	obz_reader__close(n->reader);
	free(n->own_path);
	return err ? err : open_parts(c, path, parts);
}

int captures__open(struct captures *c, char *const *paths, size_t cnt)
{
	int err = 0;

	*c = (struct captures){.unpacking = calloc(1, sizeof(*c->unpacking))};
	if (!c->unpacking || array_reserve(&c->v, &c->cap, 1))
		err = -ENOMEM;
	for (size_t i = 0; i < cnt && !err; i++)
		err = open_one(c, paths[i], false);
	if (!err && cnt && !c->cnt)
		err = -EBADMSG;
	if (err)
		captures__close(c);
	return err;
}

void captures__close(struct captures *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		capture_fini(&c->v[i]);
	free(c->v);
	free(c->unpacking);
	*c = (struct captures){0};
}

bool capture_streams(const struct obz_member *m, const char *stream)
{
	return m->type == OBZ_CHUNK && !strcmp(m->stream, stream);
}

uint64_t capture_rows_left_out(const struct capture *c)
{
	return c->budget.rows_left_out + c->traffic_budget.rows_left_out;
}

bool capture_damaged(const struct capture *c, char *what, size_t sz)
{
	struct obz_damage d = obz_reader__damage(c->reader);
	struct strbuf b = {0};

	if (d.cut)
		strbuf_addf(&b, ", truncated");
	if (!c->header)
		strbuf_addf(&b, ", start missing");
	if (d.bad_chunks)
		strbuf_addf(&b, ", %llu damaged chunks", (unsigned long long)d.bad_chunks);
	if (d.lost_chunks)
		strbuf_addf(&b, ", %llu missing chunks", (unsigned long long)d.lost_chunks);
	if (d.skipped_bytes)
		strbuf_addf(&b, ", %llu bytes not readable", (unsigned long long)d.skipped_bytes);
	if (d.bad_members)
		strbuf_addf(&b, ", %llu damaged members", (unsigned long long)d.bad_members);
	if (d.refused)
		strbuf_addf(&b, ", %llu invalid members", (unsigned long long)d.refused);
	if (capture_rows_left_out(c))
		strbuf_addf(&b, ", %llu rows ignored: over the limit for its size",
			    (unsigned long long)capture_rows_left_out(c));
	if (what)
		snprintf(what, sz, "%s", b.len ? b.p + 2 : "");
	strbuf_fini(&b);
	return obz_damage_any(&d) || !c->header || capture_rows_left_out(c);
}

bool captures_damaged(const struct captures *c)
{
	if (c->missing)
		return true;
	for (size_t i = 0; i < c->cnt; i++)
		if (capture_damaged(&c->v[i], NULL, 0))
			return true;
	return false;
}

static struct debug_member *find_debug(const struct capture *c, const char *name)
{
	size_t lo = 0, hi = c->debug_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = strcmp(name, c->debug[mid].m->name);

		if (!order)
			return &c->debug[mid];
		if (order < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static int unpack(const struct captures *c, const struct capture *from, struct debug_member *d)
{
	struct unpacking *u = c->unpacking;
	struct stat st;
	int fd;

	if (d->unpacked < 0)
		return -EBADMSG;
	if (d->unpacked && u->again > AGAIN_FREE + AGAIN_MAX * u->first)
		return -EFBIG;
	fd = obz_reader__extract(from->reader, d->m, DEBUG_MAX_SZ);
	if (fd >= 0 && !fstat(fd, &st))
		*(d->unpacked ? &u->again : &u->first) += (uint64_t)st.st_size;
	d->unpacked = fd < 0 ? -1 : 1;
	return fd;
}

struct debug_member *captures__find_debug(const struct captures *c, size_t capture,
					  const char *member, const char *build_id)
{
	const struct capture *in = &c->v[capture];
	struct debug_member *d;
	char name[128] = "";

	if (build_id && !strncmp(build_id, "sha1:", 5))
		snprintf(name, sizeof(name), ".build-id/sha1/%s.debug.zst", build_id + 5);
	else if (build_id && strlen(build_id) > 2)
		snprintf(name, sizeof(name), ".build-id/%.2s/%s.debug.zst", build_id, build_id + 2);
	d = find_debug(in, name);
	return d || !member || !*member || c->cnt > 1 ? d : find_debug(in, member);
}

/* Further parts have the first one's name with ".N" before ".debug.zst", so they are adjacent when
 * sorted. */
struct debug_member *captures__debug_part(const struct captures *c, size_t capture,
					  const struct debug_member *first, size_t number)
{
	static const char end[] = ".debug.zst";
	const struct capture *in = &c->v[capture];
	size_t len = first ? strlen(first->m->name) : 0, lo = 0, hi = in->debug_cnt;

	if (len <= strlen(end) || strcmp(first->m->name + len - strlen(end), end))
		return NULL;
	len -= strlen(end) - 1; /* including the dot */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strncmp(in->debug[mid].m->name, first->m->name, len) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < in->debug_cnt && !strncmp(in->debug[lo].m->name, first->m->name, len); lo++)
		if (&in->debug[lo] != first && !number--)
			return &in->debug[lo];
	return NULL;
}

int captures__open_debug(const struct captures *c, size_t capture, struct debug_member *d)
{
	return d ? unpack(c, &c->v[capture], d) : -ENOENT;
}

static int hash_bytes(const struct obz_reader *r, const struct debug_member *d,
		      struct sha256_ctx *sha)
{
	unsigned char *buf = malloc(HASH_BLOCK_SZ);
	int err = buf ? 0 : -ENOMEM;

	for (uint64_t at = 0; !err && at < d->m->sz; at += HASH_BLOCK_SZ) {
		size_t n = d->m->sz - at < HASH_BLOCK_SZ ? d->m->sz - at : HASH_BLOCK_SZ;

		err = obz_reader__read(r, d->m, at, buf, n);
		if (!err)
			sha256_update(sha, n, buf);
	}
	free(buf);
	return err;
}

/* A part that cannot be read is not used for symbols either. */
static int hash_member(const struct captures *c, size_t capture, struct debug_member *d)
{
	const struct obz_reader *r = c->v[capture].reader;
	const struct debug_member *part;
	unsigned char digest[16];
	struct sha256_ctx sha;
	int err;

	sha256_init(&sha);
	err = hash_bytes(r, d, &sha);
	for (size_t i = 0; !err && (part = captures__debug_part(c, capture, d, i)); i++)
		if (hash_bytes(r, part, &sha) == -ENOMEM)
			err = -ENOMEM;
	if (err)
		return err;
	sha256_digest(&sha, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(d->content + 2 * i, 3, "%02x", digest[i]);
	return 0;
}

const char *captures__content(const struct captures *c, size_t capture, struct debug_member *d)
{
	if (!d || (!d->content[0] && hash_member(c, capture, d)))
		return "";
	return d->content;
}

void capture_span(const struct capture *c, uint64_t span[2])
{
	span[0] = c->from_ns ? c->from_ns : c->started_ns - c->to_realtime;
	span[1] = span[0] + c->duration_ns;
}

bool capture_same_boot(const struct capture *a, const struct capture *b)
{
	int64_t apart = (int64_t)(a->to_realtime - b->to_realtime);

	return *a->host && !strcmp(a->host, b->host) && apart <= BOOT_SLACK_NS &&
	       apart >= -BOOT_SLACK_NS;
}
