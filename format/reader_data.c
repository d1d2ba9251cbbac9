/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads payloads: decodes chunks, decompresses debug members, verifies checksums. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "format/json.h"
#include "format/reader.h"
#include "format/spool.h"

enum {
	RATIO_MAX = 200, /* debug members beyond RATIO_FREE; real ones reach 20 */
	RATIO_FREE = 1 << 20,
	WINDOW_LOG_MAX = 27
};

struct decoder_slot {
	struct decoder_slot *next;
	struct chunk_decoder *decoder;
	uint8_t *in;
	size_t cap;
};

static struct decoder_slot *slot_take(struct obz_reader *r)
{
	struct decoder_slot *s;

	pthread_mutex_lock(&r->lock);
	s = r->idle;
	if (s)
		r->idle = s->next;
	pthread_mutex_unlock(&r->lock);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s)
		s->decoder = chunk_decoder_new();
	if (s && !s->decoder) {
		free(s);
		return NULL;
	}
	return s;
}

static void slot_give(struct obz_reader *r, struct decoder_slot *s)
{
	pthread_mutex_lock(&r->lock);
	s->next = r->idle;
	r->idle = s;
	pthread_mutex_unlock(&r->lock);
}

void reader_decoders_free(struct obz_reader *r)
{
	while (r->idle) {
		struct decoder_slot *next = r->idle->next;

		chunk_decoder_free(r->idle->decoder);
		free(r->idle->in);
		free(r->idle);
		r->idle = next;
	}
}

/* Counts a member's damage once, however often it is read. */
static int bad(struct obz_reader *r, const struct obz_member *m, const char *why)
{
	char name[USTAR_NAME_MAX + 4];
	size_t index = m - r->members;
	bool known;

	pthread_mutex_lock(&r->lock);
	known = !r->bad || index >= r->member_cnt || r->bad[index];
	if (!known)
		r->bad[index] = 1;
	pthread_mutex_unlock(&r->lock);
	if (!known)
		reader_damaged(
			r, m->type == OBZ_CHUNK ? &r->damage.bad_chunks : &r->damage.bad_members, 1,
			m->offset, obz_member_name(m, name), "%s", why);
	return -EBADMSG;
}

/* ---- chunks ---- */

int obz_reader__chunk_info(struct obz_reader *r, const struct obz_member *m,
			   struct obz_chunk_info *ci)
{
	uint8_t buf[CHUNK_HEADER_MAX];
	size_t len = m->sz < sizeof(buf) ? m->sz : sizeof(buf);
	struct chunk_header h;
	int err;

	if (m->type != OBZ_CHUNK)
		return -EINVAL;
	/* only headers of later versions are longer */
	if (len > CHUNK_HEADER_SZ)
		len = CHUNK_HEADER_SZ;
	err = reader_get(r, buf, m->offset, len);
	if (!err && chunk_header_get(&h, buf, len)) {
		len = m->sz < sizeof(buf) ? m->sz : sizeof(buf);
		err = reader_get(r, buf, m->offset, len);
		if (!err)
			err = chunk_header_get(&h, buf, len);
	}
	if (!err)
		*ci = h.info;
	return err == -EBADMSG ? bad(r, m, "chunk header is damaged") : err;
}

static const char *chunk_problem(const struct obz_reader *r, const struct obz_member *m,
				 const struct chunk_header *h)
{
	if ((uint64_t)h->header_sz + h->frame_sz != m->sz)
		return "size differs from the chunk header's";
	if (r->has_uuid && memcmp(h->uuid, r->uuid, sizeof(r->uuid)))
		return "chunk of another archive";
	if (strcmp(h->stream, m->stream) || h->seq != m->seq)
		return "name differs from the chunk header's";
	return NULL;
}

int obz_reader__decode(struct obz_reader *r, const struct obz_member *m, obz_rows_fn fn, void *arg)
{
	struct decoder_slot *s;
	struct chunk_header h;
	const char *problem;
	int err;

	if (m->type != OBZ_CHUNK)
		return -EINVAL;
	s = slot_take(r);
	if (!s)
		return -ENOMEM;
	if (s->cap < m->sz) { /* limited by the walk */
		free(s->in);
		s->in = malloc(m->sz);
		s->cap = s->in ? m->sz : 0;
	}
	err = s->in ? reader_get(r, s->in, m->offset, m->sz) : -ENOMEM;
	if (err)
		problem = "cannot be read";
	else if ((err = chunk_header_get(&h, s->in, m->sz)))
		problem = "chunk header is damaged";
	else if ((problem = chunk_problem(r, m, &h)))
		err = -EBADMSG;
	else {
		problem = "checksum or columns are wrong";
		err = chunk_decode(s->decoder, &r->schema, &h, s->in + h.header_sz, fn, arg);
	}
	slot_give(r, s);
	return err == -EBADMSG ? bad(r, m, problem) : err;
}

/* ---- debug members ---- */

/* Checks the frame's stated size against the ratio and the limit before anything is allocated. */
static const char *frame_problem(struct obz_reader *r, const struct obz_member *m, uint64_t max_sz,
				 uint64_t *raw_sz)
{
	uint8_t head[18];
	size_t len = m->sz < sizeof(head) ? m->sz : sizeof(head);
	unsigned long long sz;

	if (reader_get(r, head, m->offset, len))
		return "cannot be read";
	sz = ZSTD_getFrameContentSize(head, len);
	if (len < 9 || sz == ZSTD_CONTENTSIZE_ERROR || sz == ZSTD_CONTENTSIZE_UNKNOWN ||
	    !(head[4] & 0x04) || (head[4] & 0x1b))
		return "not a zstd frame with size and checksum";
	if (sz > max_sz || (sz > RATIO_FREE && (sz - RATIO_FREE) / RATIO_MAX > m->sz))
		return "decompressed size exceeds the limit";
	*raw_sz = sz;
	return NULL;
}

/* Decompresses to fd; -1: only verifies. */
static const char *unpack(struct obz_reader *r, const struct obz_member *m, uint64_t raw_sz,
			  struct spool *out)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	size_t in_sz = 256 << 10, out_sz = 256 << 10, rest = 1;
	uint8_t *buf = malloc(in_sz + out_sz);
	const char *problem = zstd && buf ? NULL : "out of memory";
	uint64_t at = 0, done = 0;

	if (!problem)
		ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	while (!problem && at < m->sz) {
		size_t n = m->sz - at < in_sz ? m->sz - at : in_sz;
		ZSTD_inBuffer in = {buf, n, 0};

		if (rest == 0)
			problem = "bytes after the frame";
		else if (reader_get(r, buf, m->offset + at, n))
			problem = "cannot be read";
		at += n;
		while (!problem && rest) {
			ZSTD_outBuffer o = {buf + in_sz, out_sz, 0};

			rest = ZSTD_decompressStream(zstd, &o, &in);
			done += o.pos;
			if (ZSTD_isError(rest) || done > raw_sz)
				problem = "checksum or frame is wrong";
			else if (out && spool_add(out, o.dst, o.pos))
				problem = "no memory to decompress";
			if (in.pos == in.size && o.pos < o.size)
				break;
		}
		if (!problem && rest == 0 && in.pos < in.size)
			problem = "bytes after the frame";
	}
	if (!problem && (rest || done != raw_sz))
		problem = "frame is incomplete";
	ZSTD_freeDCtx(zstd);
	free(buf);
	return problem;
}

int obz_reader__read(const struct obz_reader *r, const struct obz_member *m, uint64_t at, void *buf,
		     size_t sz)
{
	if (at > m->sz || sz > m->sz - at)
		return -EINVAL;
	return reader_get(r, buf, m->offset + at, sz);
}

int obz_reader__extract(struct obz_reader *r, const struct obz_member *m, uint64_t max_sz)
{
	struct spool s;
	uint64_t raw_sz;
	const char *problem;
	int err;

	if (m->type != OBZ_DEBUG)
		return -EINVAL;
	problem = frame_problem(r, m, max_sz, &raw_sz);
	if (problem)
		return bad(r, m, problem);
	spool_init(&s);
	err = spool_flush(&s);
	if (err)
		return err;
	problem = unpack(r, m, raw_sz, &s);
	if (!problem && lseek(s.fd, 0, SEEK_SET) == 0)
		return s.fd;
	spool_fini(&s);
	if (problem && (!strcmp(problem, "out of memory") || !strcmp(problem, "no memory to "
									      "decompress")))
		return -ENOSPC;
	return problem ? bad(r, m, problem) : -EIO;
}

static const char *json_problem(struct obz_reader *r, const struct obz_member *m)
{
	char *text = reader_json(r, m->offset, m->sz);
	struct json_object *o = text ? json_parse(text, m->sz) : NULL;
	const char *problem = !text ? "checksum is wrong" : !o ? "not a JSON object" : NULL;

	json_object_put(o);
	free(text);
	return problem;
}

int obz_reader__check(struct obz_reader *r, const struct obz_member *m)
{
	uint64_t raw_sz;
	const char *problem = NULL;

	switch (m->type) {
	case OBZ_CHUNK:
		return obz_reader__decode(r, m, NULL, NULL);
	case OBZ_DEBUG:
		problem = frame_problem(r, m, UINT64_MAX, &raw_sz);
		if (!problem)
			problem = unpack(r, m, raw_sz, NULL);
		break;
	case OBZ_META:
		problem = json_problem(r, m);
		break;
	case OBZ_UNKNOWN: /* of a later version: cannot be verified */
		break;
	}
	return problem ? bad(r, m, problem) : 0;
}
