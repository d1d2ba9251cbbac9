/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/cache.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CRC_FROM offsetof(struct cache_header, alt_id)

struct cache {
	void *data; /* owned */
	const struct cache_answer *answers;
	const struct cache_frame *frames;
	const char *strings;
	uint32_t answer_cnt, frame_cnt, alt_id, alt_content;
	uint64_t string_sz;
};

static size_t hex_len(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]) || (s[n] >= 'a' && s[n] <= 'f'))
		n++;
	return s[n] ? 0 : n;
}

char *cache_path(const char *dir, const struct cache_name *name)
{
	const char *prefix = "", *hex = name->id;
	char *path;
	size_t n;

	if (!dir || !hex)
		return NULL;
	if (!strncmp(hex, "sha1:", 5)) {
		prefix = "sha1-";
		hex += 5;
	}
	n = hex_len(hex);
	if (n < 4 || n > 128 || (*name->content && hex_len(name->content) != CACHE_CONTENT_LEN))
		return NULL;
	return asprintf(&path, "%s/%s%.2s/%s%s%s.sym", dir, prefix, hex, hex + 2,
			*name->content ? "-" : "", name->content) < 0
		       ? NULL
		       : path;
}

/* Checks what look-ups rely on. Frames and strings are checked where they are used. */
static bool answers_ok(const struct cache *c)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < c->answer_cnt; i++) {
		const struct cache_answer *x = &c->answers[i];

		if (x->lo < at || x->hi <= x->lo || x->cnt > CHAIN_MAX || x->first > c->frame_cnt ||
		    x->cnt > c->frame_cnt - x->first)
			return false;
		at = x->hi;
	}
	return true;
}

struct cache *cache_parse(void *data, size_t sz)
{
	struct cache_header h;
	struct cache *c;
	uint64_t body;

	if (sz < sizeof(h))
		return NULL;
	memcpy(&h, data, sizeof(h));
	if (memcmp(h.magic, CACHE_MAGIC, sizeof(h.magic)) || h.version != CACHE_VERSION)
		return NULL;
	body = (uint64_t)h.answer_cnt * sizeof(struct cache_answer) +
	       (uint64_t)h.frame_cnt * sizeof(struct cache_frame);
	if (!h.string_sz || h.string_sz > sz || body + h.string_sz != sz - sizeof(h) ||
	    (uint32_t)crc32_z(0, (const Bytef *)data + CRC_FROM, sz - CRC_FROM) != h.crc)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->answer_cnt = h.answer_cnt;
	c->frame_cnt = h.frame_cnt;
	c->string_sz = h.string_sz;
	c->alt_id = h.alt_id;
	c->alt_content = h.alt_content;
	c->answers = (const void *)((const char *)data + sizeof(h));
	c->frames = (const void *)(c->answers + c->answer_cnt);
	c->strings = (const void *)(c->frames + c->frame_cnt);
	if (c->strings[c->string_sz - 1] || !answers_ok(c)) {
		free(c);
		return NULL;
	}
	return c;
}

/* Reads a whole file, or returns NULL. It is not mapped, because its contents must not change after
 * validation. */
static void *read_file(const char *path, size_t *sz)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char *data = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_size > 0 &&
	    st.st_size <= CACHE_FILE_MAX)
		data = malloc((size_t)st.st_size);
	while (data && len < (size_t)st.st_size) {
		n = read(fd, data + len, (size_t)st.st_size - len);
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	if (data)
		futimens(fd, NULL); /* marks the file as used, for pruning */
	close(fd);
	*sz = len;
	return data;
}

struct cache *cache_open(const char *dir, const struct cache_name *name)
{
	char *path = cache_path(dir, name);
	size_t sz = 0;
	void *data = path ? read_file(path, &sz) : NULL;
	struct cache *c = data ? cache_parse(data, sz) : NULL;

	if (c)
		c->data = data;
	else
		free(data);
	free(path);
	return c;
}

void cache_close(struct cache *c)
{
	if (!c)
		return;
	free(c->data);
	free(c);
}

static const char *text_at(const struct cache *c, uint32_t off)
{
	return off && off < c->string_sz ? c->strings + off : NULL;
}

struct cache_alt cache_alt(const struct cache *c)
{
	const char *id = text_at(c, c->alt_id), *content = text_at(c, c->alt_content);

	return (struct cache_alt){id ? id : "", content ? content : ""};
}

static int take(const struct cache *c, struct name_pool *pool, const struct cache_answer *x,
		struct answers *out)
{
	struct answer_frame frames[CHAIN_MAX];

	for (uint32_t i = 0; i < x->cnt; i++) {
		const struct cache_frame *f = &c->frames[x->first + i];

		frames[i] = (struct answer_frame){
			.name = name_pool__add_known(pool, text_at(c, f->name),
						     text_at(c, f->demangled)),
			.file = name_pool__add(pool, text_at(c, f->file), NULL),
			.line = f->line,
		};
	}
	return answers_add(out, x->lo, x->hi, frames, x->cnt);
}

int cache_find(const struct cache *c, struct name_pool *pool, const uint64_t *addrs, size_t cnt,
	       struct answers *out)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		uint32_t lo = 0, hi = c->answer_cnt;

		if (out->cnt && addrs[i] < out->v[out->cnt - 1].hi)
			continue;
		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;

			if (c->answers[mid].hi <= addrs[i])
				lo = mid + 1;
			else
				hi = mid;
		}
		if (lo < c->answer_cnt && c->answers[lo].lo <= addrs[i])
			err = take(c, pool, &c->answers[lo], out);
	}
	return err;
}

int cache_read(const struct cache *c, struct name_pool *pool, struct answers *out)
{
	int err = 0;

	for (uint32_t i = 0; i < c->answer_cnt && !err; i++)
		err = take(c, pool, &c->answers[i], out);
	return err;
}
