/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the cache. Each string is stored once, the new file is renamed over the old one, and the
 * directory is kept within its size limit. */
#include "analyze/symbol/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

struct placed_name {
	const struct pooled *key;
	uint32_t text, demangled;
};

struct writer {
	struct cache_answer *answers;
	struct cache_frame *frames;
	char *strings;
	size_t answer_cnt, frame_cnt, string_sz, string_cap;
	struct placed_name *names; /* hashed by address; pooled strings are unique */
	size_t name_cnt, name_cap; /* cap: a power of two */
	uint32_t alt_id, alt_content;
};

static int put_string(struct writer *w, const char *s, uint32_t *off)
{
	size_t sz = strlen(s) + 1;

	*off = 0;
	if (w->string_sz + sz > CACHE_FILE_MAX)
		return -EFBIG;
	if (grow(&w->strings, &w->string_cap, w->string_sz + sz, 1))
		return -ENOMEM;
	memcpy(w->strings + w->string_sz, s, sz);
	*off = (uint32_t)w->string_sz;
	w->string_sz += sz;
	return 0;
}

static struct placed_name *find_name(const struct writer *w, const struct pooled *key)
{
	size_t i = ((uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (w->name_cap - 1);

	while (w->names[i].key && w->names[i].key != key)
		i = (i + 1) & (w->name_cap - 1);
	return &w->names[i];
}

static int put_name(struct writer *w, const struct pooled *p, uint32_t *text, uint32_t *demangled)
{
	struct placed_name *n;
	int err;

	*text = 0;
	if (demangled)
		*demangled = 0;
	if (!p || !*p->text)
		return 0;
	n = find_name(w, p);
	if (!n->key) {
		n->key = p;
		w->name_cnt++;
		err = put_string(w, p->text, &n->text);
		if (!err && p->demangled)
			err = put_string(w, p->demangled, &n->demangled);
		if (err)
			return err;
	}
	*text = n->text;
	if (demangled)
		*demangled = n->demangled;
	return 0;
}

static int put_alt(struct writer *w, const struct cache_alt *alt)
{
	int err = *alt->id ? put_string(w, alt->id, &w->alt_id) : 0;

	return !err && *alt->content ? put_string(w, alt->content, &w->alt_content) : err;
}

static int put_answers(struct writer *w, const struct cache_alt *alt, const struct answers *a)
{
	uint32_t none;
	int err;

	w->answers = calloc(a->cnt + 1, sizeof(*w->answers));
	w->frames = calloc(a->frame_cnt + 1, sizeof(*w->frames));
	for (w->name_cap = 64; w->name_cap < a->frame_cnt * 4; w->name_cap *= 2)
		;
	w->names = calloc(w->name_cap, sizeof(*w->names));
	if (!w->answers || !w->frames || !w->names)
		return -ENOMEM;
	err = put_string(w, "", &none);
	err = err ? err : put_alt(w, alt);
	for (size_t i = 0; i < a->cnt && !err; i++) {
		const struct answer *x = &a->v[i];

		w->answers[w->answer_cnt++] =
			(struct cache_answer){x->lo, x->hi, (uint32_t)w->frame_cnt, x->cnt};
		for (uint32_t k = 0; k < x->cnt && !err; k++) {
			const struct answer_frame *f = &a->frames[x->first + k];
			struct cache_frame *out = &w->frames[w->frame_cnt++];

			out->line = f->line;
			err = put_name(w, f->name, &out->name, &out->demangled);
			if (!err)
				err = put_name(w, f->file, &out->file, NULL);
		}
	}
	return err;
}

static void writer_fini(struct writer *w)
{
	free(w->answers);
	free(w->frames);
	free(w->strings);
	free(w->names);
	*w = (struct writer){0};
}

static bool write_all(int fd, struct iovec *iov, int cnt)
{
	while (cnt) {
		ssize_t n = writev(fd, iov, cnt);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		for (; cnt && (size_t)n >= iov->iov_len; iov++, cnt--)
			n -= (ssize_t)iov->iov_len;
		if (cnt) {
			iov->iov_base = (char *)iov->iov_base + n;
			iov->iov_len -= (size_t)n;
		}
	}
	return true;
}

static bool write_file(const struct writer *w, const char *path)
{
	struct cache_header h = {
		.magic = CACHE_MAGIC,
		.version = CACHE_VERSION,
		.answer_cnt = (uint32_t)w->answer_cnt,
		.frame_cnt = (uint32_t)w->frame_cnt,
		.string_sz = w->string_sz,
		.alt_id = w->alt_id,
		.alt_content = w->alt_content,
	};
	struct iovec iov[] = {
		{&h, sizeof(h)},
		{w->answers, w->answer_cnt * sizeof(*w->answers)},
		{w->frames, w->frame_cnt * sizeof(*w->frames)},
		{w->strings, w->string_sz},
	};
	char tmp[4096];
	bool ok;
	int fd;

	h.crc = (uint32_t)crc32_z(0, (const Bytef *)&h.alt_id,
				  sizeof(h) - offsetof(struct cache_header, alt_id));
	for (int i = 1; i < 4; i++)
		h.crc = (uint32_t)crc32_z(h.crc, iov[i].iov_base, iov[i].iov_len);
	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return false;
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write_all(fd, iov, 4);
	ok = !close(fd) && ok;
	ok = ok && !rename(tmp, path);
	if (!ok)
		unlink(tmp);
	return ok;
}

/* Makes all directories above the file. */
static void make_dirs(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

struct aged_file {
	char *path;
	uint64_t sz;
	time_t used;
};

struct aged_files {
	struct aged_file *v;
	size_t cnt, cap;
	uint64_t total;
};

static void list_files(struct aged_files *l, const char *dir, bool nested)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct stat st;
		char *path;

		if (e->d_name[0] == '.' || asprintf(&path, "%s/%s", dir, e->d_name) < 0)
			continue;
		if (lstat(path, &st)) {
			free(path);
		} else if (S_ISREG(st.st_mode) && strstr(e->d_name, ".sym") &&
			   !grow(&l->v, &l->cap, l->cnt + 1, sizeof(*l->v))) {
			l->v[l->cnt++] =
				(struct aged_file){path, (uint64_t)st.st_size, st.st_mtime};
			l->total += (uint64_t)st.st_size;
		} else {
			if (S_ISDIR(st.st_mode) && !nested)
				list_files(l, path, true);
			free(path);
		}
	}
	if (d)
		closedir(d);
}

static int by_age(const void *a, const void *b)
{
	const struct aged_file *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

static void prune(const char *dir)
{
	struct aged_files l = {0};

	list_files(&l, dir, false);
	if (l.total > CACHE_DIR_MAX)
		qsort(l.v, l.cnt, sizeof(*l.v), by_age);
	for (size_t i = 0; i < l.cnt; i++) {
		if (l.total > CACHE_DIR_MAX && !unlink(l.v[i].path))
			l.total -= l.v[i].sz;
		free(l.v[i].path);
	}
	free(l.v);
}

static bool write_answers(const char *path, const struct cache_alt *alt, const struct answers *a)
{
	struct writer w = {0};
	bool ok = !put_answers(&w, alt, a) &&
		  w.answer_cnt * sizeof(*w.answers) + w.frame_cnt * sizeof(*w.frames) +
				  w.string_sz + sizeof(struct cache_header) <=
			  CACHE_FILE_MAX &&
		  write_file(&w, path);

	writer_fini(&w);
	return ok;
}

static bool same_alt(const struct cache *c, const struct cache_alt *alt)
{
	struct cache_alt other = cache_alt(c);

	return !strcmp(other.id, alt->id) && !strcmp(other.content, alt->content);
}

void cache_store(const char *dir, const struct cache_name *name, const struct cache_alt *alt,
		 struct name_pool *pool, const struct answers *known)
{
	char *path = cache_path(dir, name);
	struct cache *old = path ? cache_open(dir, name) : NULL;
	struct answers all = {0}, kept = {0};

	if (!path)
		return;
	make_dirs(path);
	/* Another process may have added answers since this run began. If they cannot be merged
	 * they are dropped. */
	if (!old || !same_alt(old, alt) || cache_read(old, pool, &kept) ||
	    answers_merge(&all, known) || answers_merge(&all, &kept) ||
	    !write_answers(path, alt, &all))
		write_answers(path, alt, known);
	prune(dir);
	answers_fini(&all);
	answers_fini(&kept);
	cache_close(old);
	free(path);
}
