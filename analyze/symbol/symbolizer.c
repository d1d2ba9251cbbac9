/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/symbol.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "analyze/symbol/cache.h"
#include "analyze/symbol/source.h"

struct symbolizer {
	struct symbolizer_opts opts;
	struct name_pool *pool;
	struct budget reserve; /* shared by all images */
	pthread_mutex_t lock;  /* protects the list of images */
	struct symbol_image *images;
};

struct symbol_image {
	struct symbol_image *next;
	struct symbolizer *owner;
	char *id, *path;
	int (*open)(void *ctx);
	void *open_ctx;
	bool archived;
	struct symbol_archive archive; /* with its own copy of content */
	char *alt_id, *alt_content;    /* dwz file used so far; NULL: none */
	bool cache_tried;
	bool worth_keeping;	/* has answers from DWARF that the cache lacks */
	const char *kind, *why; /* of the file when last opened */
	struct cache *cache;
	struct answers known;
};

char *symbol_cache_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *dir = NULL;

	/* XDG Base Directory specification: relative paths must be ignored. */
	if (base && base[0] == '/')
		return asprintf(&dir, "%s/obana/symbols", base) < 0 ? NULL : dir;
	if (!home || home[0] != '/')
		return NULL;
	return asprintf(&dir, "%s/.cache/obana/symbols", home) < 0 ? NULL : dir;
}

int symbolizer__new(struct symbolizer **out, const struct symbolizer_opts *opts)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	int err;

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->opts = *opts;
	if (!s->opts.jobs) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		s->opts.jobs = n > 0 ? (unsigned)n : 1;
	}
	budget_init_reserve(&s->reserve);
	err = name_pool__new(&s->pool);
	if (err) {
		free(s);
		return err;
	}
	pthread_mutex_init(&s->lock, NULL);
	*out = s;
	return 0;
}

static struct cache_name cache_name(const struct symbol_image *im)
{
	return (struct cache_name){im->id, im->archived ? im->archive.content : ""};
}

static void image_free(struct symbol_image *im)
{
	struct symbolizer *s = im->owner;

	struct cache_name name = cache_name(im);
	struct cache_alt alt = {im->alt_id ? im->alt_id : "",
				im->alt_content ? im->alt_content : ""};

	if (im->worth_keeping)
		cache_store(s->opts.cache_dir, &name, &alt, s->pool, &im->known);
	cache_close(im->cache);
	answers_fini(&im->known);
	free((char *)im->archive.content);
	free(im->alt_id);
	free(im->alt_content);
	free(im->id);
	free(im->path);
	free(im);
}

void symbolizer__free(struct symbolizer *s)
{
	if (!s)
		return;
	for (struct symbol_image *im = s->images, *next; im; im = next) {
		next = im->next;
		image_free(im);
	}
	pthread_mutex_destroy(&s->lock);
	name_pool__free(s->pool);
	free(s);
}

int symbolizer__image(struct symbolizer *s, const char *id_hex, const char *path,
		      int (*open)(void *ctx), void *ctx, struct symbol_image **image)
{
	struct symbol_image *im = calloc(1, sizeof(*im));

	*image = NULL;
	if (!im)
		return -ENOMEM;
	*im = (struct symbol_image){.owner = s, .open = open, .open_ctx = ctx};
	im->id = id_hex ? strdup(id_hex) : NULL;
	im->path = path ? strdup(path) : NULL;
	if ((id_hex && !im->id) || (path && !im->path)) {
		image_free(im);
		return -ENOMEM;
	}
	pthread_mutex_lock(&s->lock);
	im->next = s->images;
	s->images = im;
	pthread_mutex_unlock(&s->lock);
	*image = im;
	return 0;
}

int symbol_image__in_archive(struct symbol_image *im, const struct symbol_archive *archive)
{
	im->archive = *archive;
	im->archive.content = strdup(archive->content);
	im->archived = im->archive.content != NULL;
	return im->archived ? 0 : -ENOMEM;
}

const char *symbol_image__kind(const struct symbol_image *im, const char **why)
{
	if (why)
		*why = im->why;
	if (im->kind)
		return im->kind;
	return im->known.cnt ? "dwarf" : "none"; /* the cache holds nothing else */
}

void symbolizer__cost(const struct symbolizer *s, struct symbol_cost *c)
{
	const struct budget *r = &s->reserve;
	uint64_t sum[BUDGET_KINDS], bound[BUDGET_KINDS];

	for (int kind = 0; kind < BUDGET_KINDS; kind++) {
		bound[kind] = r->settled_granted[kind] + (uint64_t)r->granted[kind];
		sum[kind] = r->settled_spent[kind] + (uint64_t)(r->granted[kind] - r->left[kind]);
	}
	*c = (struct symbol_cost){sum[BUDGET_WORK], sum[BUDGET_BYTES], bound[BUDGET_WORK],
				  bound[BUDGET_BYTES]};
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Addresses without an answer yet, ascending, unique. */
static uint64_t *unknown_addrs(const struct symbol_image *im, const uint64_t *addrs, size_t cnt,
			       size_t *unknown_cnt)
{
	uint64_t *v = malloc((cnt + 1) * sizeof(*v));
	size_t n = 0, unique = 0;

	if (!v)
		return NULL;
	for (size_t i = 0; i < cnt; i++)
		if (!answers_find(&im->known, addrs[i]))
			v[n++] = addrs[i];
	qsort(v, n, sizeof(*v), by_value);
	for (size_t i = 0; i < n; i++)
		if (!unique || v[unique - 1] != v[i])
			v[unique++] = v[i];
	*unknown_cnt = unique;
	return v;
}

static const char *content_of_alt(const struct symbol_image *im, const char *id)
{
	return im->archived ? im->archive.content_by_id(im->archive.ctx, id) : "";
}

/* Cached answers are used only if they come from the files in this archive. */
static struct cache *open_cache(const struct symbol_image *im)
{
	struct cache_name name = cache_name(im);
	struct cache *c = cache_open(im->owner->opts.cache_dir, &name);
	struct cache_alt alt = {"", ""};

	if (c)
		alt = cache_alt(c);
	if (c && *alt.id && strcmp(content_of_alt(im, alt.id), alt.content)) {
		cache_close(c);
		c = NULL;
	}
	return c;
}

/* Takes answers from the cache. *unknown keeps the remaining addresses. */
static int learn_from_cache(struct symbol_image *im, uint64_t *unknown, size_t *cnt)
{
	struct symbolizer *s = im->owner;
	struct answers fresh = {0};
	size_t left = 0;
	int err;

	if (!im->cache_tried && s->opts.cache_dir && im->id)
		im->cache = open_cache(im);
	im->cache_tried = true;
	if (!im->cache)
		return 0;
	err = cache_find(im->cache, s->pool, unknown, *cnt, &fresh);
	if (!err)
		err = answers_merge(&im->known, &fresh);
	for (size_t i = 0; i < *cnt && !err; i++)
		if (!answers_find(&im->known, unknown[i]))
			unknown[left++] = unknown[i];
	answers_fini(&fresh);
	if (!err)
		*cnt = left;
	return err;
}

/* False: out of memory. */
static bool note_alt(struct symbol_image *im, const struct source *src)
{
	struct elf_image *alt = src->alt;

	/* all parts belong to one file, which has one dwz file */
	for (size_t i = 0; i < src->part_cnt && !alt; i++)
		alt = src->parts[i].alt;
	if (!alt || im->alt_id)
		return true;
	im->alt_id = strdup(elf_image__build_id(alt));
	im->alt_content = im->alt_id ? strdup(content_of_alt(im, im->alt_id)) : NULL;
	return im->alt_content != NULL;
}

/* Closes the files again at once, so that only one binary's mappings and indexes are held at a
 * time, even for a whole system. */
static int learn_from_file(struct symbol_image *im, const uint64_t *unknown, size_t cnt)
{
	struct symbolizer *s = im->owner;
	struct source_opts opts = {&s->opts, im->archived ? &im->archive : NULL};
	struct answers fresh = {0};
	struct source src;
	int err = source_open(&src, im->open ? im->open(im->open_ctx) : -ENOENT, im->id, im->path,
			      &opts, &s->reserve);

	if (!err)
		err = source_resolve(&src, s->pool, unknown, cnt, s->opts.jobs, &fresh);
	im->kind = src.kind;
	im->why = src.why;
	if (!err)
		err = answers_merge(&im->known, &fresh);
	if (!err && s->opts.cache_dir && im->id && (src.dwarf || src.part_cnt) &&
	    !source_incomplete(&src) && !source_doubtful(&src))
		im->worth_keeping = note_alt(im, &src);
	answers_fini(&fresh);
	source_close(&src);
	return err;
}

static int learn(struct symbol_image *im, const uint64_t *addrs, size_t cnt)
{
	size_t unknown_cnt;
	uint64_t *unknown = unknown_addrs(im, addrs, cnt, &unknown_cnt);
	int err = unknown ? 0 : -ENOMEM;

	if (!err && unknown_cnt)
		err = learn_from_cache(im, unknown, &unknown_cnt);
	if (!err && unknown_cnt)
		err = learn_from_file(im, unknown, unknown_cnt);
	free(unknown);
	return err;
}

static void fill(struct symbol_frame *out, const struct answer_frame *in)
{
	*out = (struct symbol_frame){.line = in->line};
	if (in->file)
		out->file = in->file->text;
	if (in->name) {
		out->name = in->name->demangled ? in->name->demangled : in->name->text;
		out->linkage_name = in->name->demangled ? in->name->text : NULL;
	}
}

/* Real chains have 3 to 10 frames on average. A hostile file can make every chain as long as
 * allowed, and the caller stores each frame of every address. */
enum { FRAMES_PER_ADDRESS = 64 };

/* *left: frames that may still be returned. If too few, only the function is returned. */
static void emit(const struct symbol_image *im, const struct answer *x, size_t index, symbol_fn fn,
		 void *ctx, size_t *left)
{
	struct symbol_frame chain[CHAIN_MAX];
	const struct answer_frame *frames;
	size_t cnt = x ? x->cnt : 0;

	if (!cnt) {
		fn(ctx, index, NULL, 0);
		return;
	}
	frames = im->known.frames + x->first;
	if (!im->owner->opts.inlines || cnt > *left) { /* function alone, innermost line */
		fill(&chain[0], &frames[cnt - 1]);
		chain[0].file = frames[0].file ? frames[0].file->text : NULL;
		chain[0].line = frames[0].line;
		fn(ctx, index, chain, 1);
		return;
	}
	*left -= cnt;
	for (size_t i = 0; i < cnt; i++) {
		fill(&chain[i], &frames[i]);
		chain[i].inlined = i + 1 < cnt;
	}
	fn(ctx, index, chain, cnt);
}

int symbolizer__resolve(struct symbolizer *s, struct symbol_image *im, const uint64_t *addrs,
			size_t cnt, symbol_fn fn, void *ctx)
{
	size_t left = FRAMES_PER_ADDRESS * cnt + CHAIN_MAX;
	int err = learn(im, addrs, cnt);

	if (err)
		return err;
	for (size_t i = 0; i < cnt; i++)
		emit(im, answers_find(&im->known, addrs[i]), i, fn, ctx, &left);
	return 0;
}
