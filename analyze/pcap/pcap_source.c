/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_source.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { IN_SZ = 1 << 16, MAGIC_SZ = 6, ZSTD_WINDOW_LOG = 27 };
#define XZ_MEMORY (128ull << 20) /* limit of the decoder; xz -9 needs 65 MiB */

/* Input to be decompressed, and the output buffer. The decoder advances both. */
struct pump {
	const uint8_t *in;
	size_t in_sz;
	uint8_t *out;
	size_t out_sz;
};

enum pumped { PUMPED, PUMPED_END, PUMPED_BAD }; /* END: another member may follow */

/* A compression format; `state` is its decoder. */
struct filter {
	const char *name, *magic;
	size_t magic_sz;
	void *(*start)(void);
	enum pumped (*pump)(void *state, struct pump *p);
	void (*stop)(void *state);
};

struct source {
	FILE *f;
	const struct filter *filter; /* NULL: not compressed */
	void *state;
	bool ended, between; /* between: between members of a compressed file */
	const char *error;
	const uint8_t *at;
	size_t left;
	uint8_t in[IN_SZ];
};

/* ---- gzip: RFC 1952 ---- */

static void *gzip_start(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, 15 + 16) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static enum pumped gzip_pump(void *state, struct pump *p)
{
	z_stream *z = state;
	int got;

	z->next_in = (uint8_t *)p->in;
	z->avail_in = p->in_sz;
	z->next_out = p->out;
	z->avail_out = p->out_sz;
	got = inflate(z, Z_NO_FLUSH);
	*p = (struct pump){z->next_in, z->avail_in, z->next_out, z->avail_out};
	if (got == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? PUMPED_END : PUMPED_BAD;
	return got == Z_OK || got == Z_BUF_ERROR ? PUMPED : PUMPED_BAD;
}

static void gzip_stop(void *state)
{
	inflateEnd(state);
	free(state);
}

/* ---- zstd: RFC 8878 ---- */

static void *zstd_start(void)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();

	if (z)
		ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	return z;
}

static enum pumped zstd_pump(void *state, struct pump *p)
{
	ZSTD_inBuffer in = {p->in, p->in_sz, 0};
	ZSTD_outBuffer out = {p->out, p->out_sz, 0};
	size_t got = ZSTD_decompressStream(state, &out, &in);

	*p = (struct pump){p->in + in.pos, in.size - in.pos, p->out + out.pos, out.size - out.pos};
	return ZSTD_isError(got) ? PUMPED_BAD : got ? PUMPED : PUMPED_END;
}

static void zstd_stop(void *state)
{
	ZSTD_freeDCtx(state);
}

/* ---- xz ---- */

static void *xz_start(void)
{
	lzma_stream *z = calloc(1, sizeof(*z));

	if (z && lzma_stream_decoder(z, XZ_MEMORY, 0) != LZMA_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static enum pumped xz_pump(void *state, struct pump *p)
{
	lzma_stream *z = state;
	lzma_ret got;

	z->next_in = p->in;
	z->avail_in = p->in_sz;
	z->next_out = p->out;
	z->avail_out = p->out_sz;
	got = lzma_code(z, LZMA_RUN);
	*p = (struct pump){z->next_in, z->avail_in, z->next_out, z->avail_out};
	if (got == LZMA_STREAM_END)
		return lzma_stream_decoder(z, XZ_MEMORY, 0) == LZMA_OK ? PUMPED_END : PUMPED_BAD;
	return got == LZMA_OK || got == LZMA_BUF_ERROR ? PUMPED : PUMPED_BAD;
}

static void xz_stop(void *state)
{
	lzma_end(state);
	free(state);
}

static const struct filter filters[] = {
	{"gzip", "\x1f\x8b", 2, gzip_start, gzip_pump, gzip_stop},
	{"zstd", "\x28\xb5\x2f\xfd", 4, zstd_start, zstd_pump, zstd_stop},
	{"xz",
	 "\xfd"
	 "7zXZ",
	 6, xz_start, xz_pump, xz_stop},
	{0},
};

/* ---- the file ---- */

static bool refill(struct source *s)
{
	if (s->left)
		return true;
	s->left = fread(s->in, 1, sizeof(s->in), s->f);
	s->at = s->in;
	if (!s->left && ferror(s->f))
		s->error = "read error";
	return s->left;
}

int source__new(struct source **out, FILE *f)
{
	struct source *s = malloc(sizeof(*s));
	const struct filter *found = filters;

	if (!s) {
		fclose(f);
		return -ENOMEM;
	}
	memset(s, 0, offsetof(struct source, in));
	s->f = f;
	*out = s;
	refill(s);
	while (found->name &&
	       (s->left < found->magic_sz || memcmp(s->at, found->magic, found->magic_sz) != 0))
		found++;
	if (!found->name)
		return 0;
	s->filter = found;
	s->state = found->start();
	if (s->state)
		return 0;
	source__free(s);
	*out = NULL;
	return -ENOMEM;
}

void source__free(struct source *s)
{
	if (!s)
		return;
	if (s->state)
		s->filter->stop(s->state);
	fclose(s->f);
	free(s);
}

static size_t read_plain(struct source *s, uint8_t *to, size_t n)
{
	size_t got = 0;

	while (got < n && refill(s)) {
		size_t take = s->left < n - got ? s->left : n - got;

		memcpy(to + got, s->at, take);
		s->at += take;
		s->left -= take;
		got += take;
	}
	return got;
}

/* One step of the decoder. It may output buffered bytes without reading more input. */
static void pump(struct source *s, struct pump *p)
{
	bool more = refill(s);
	size_t out_sz = p->out_sz, in_sz = s->left;
	enum pumped done;

	if (!more && s->between) {
		s->ended = true;
		return;
	}
	p->in = s->at;
	p->in_sz = s->left;
	done = s->filter->pump(s->state, p);
	s->at = p->in;
	s->left = p->in_sz;
	/* Data after a complete member that is not a member is padding, as in gzip(1). */
	if (done == PUMPED_BAD && s->between)
		s->ended = true;
	else if (done == PUMPED_BAD)
		s->error = "its compressed data is damaged";
	else if (p->out_sz == out_sz && p->in_sz == in_sz)
		s->error = more ? "its compressed data is damaged" : "its compressed data is cut";
	s->between = done == PUMPED_END;
}

size_t source__read(struct source *s, void *to, size_t n)
{
	struct pump p = {.out = to, .out_sz = n};

	if (!s->filter)
		return read_plain(s, to, n);
	while (p.out_sz && !s->ended && !s->error)
		pump(s, &p);
	return n - p.out_sz;
}

const char *source__error(const struct source *s)
{
	return s->error;
}
