/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/frames.h"

#include "format/demangle.h"
#include "format/text.h"
#include "analyze/base/index.h"

const char *const frame_kind_names[] = {"user", "kernel", "jit"};

struct frames {
	struct strings *strings;
	struct binaries *binaries;
	struct frame *v;
	size_t cnt, cap;
	struct function *functions;
	size_t function_cnt, function_cap;
	struct index function_index;
	int failed;
};

static uint64_t function_key_hash(const struct function *k)
{
	return hash_mix(hash_mix((uint64_t)k->name << 32 | k->file) ^ k->binary);
}

static bool function_equal(const void *owner, uint32_t i, const void *key)
{
	const struct function *f = &((const struct frames *)owner)->functions[i], *k = key;

	return f->name == k->name && f->file == k->file && f->binary == k->binary;
}

int frames__new(struct frames **out, struct strings *strings, struct binaries *binaries)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->strings = strings;
	(*out)->binaries = binaries;
	return 0;
}

void frames__free(struct frames *f)
{
	if (!f)
		return;
	index_fini(&f->function_index);
	free(f->functions);
	free(f->v);
	free(f);
}

/* Of functions of the same name, such as the clones of a constructor, one linkage name is kept. */
static uint32_t add_function(struct frames *f, struct function key)
{
	uint64_t hash = function_key_hash(&key);
	uint32_t i;

	if (index_find(&f->function_index, function_equal, f, hash, &key, &i))
		return i;
	if (array_reserve(&f->functions, &f->function_cap, f->function_cnt + 1)) {
		f->failed = -ENOMEM;
		return 0;
	}
	i = f->function_cnt;
	f->functions[i] = key;
	if (index_add(&f->function_index, hash, i)) {
		f->failed = -ENOMEM;
		return 0;
	}
	f->function_cnt++;
	return i;
}

static void add_frame(struct frames *f, struct location *l, struct frame frame)
{
	if (f->failed || array_reserve(&f->v, &f->cap, f->cnt + 1)) {
		f->failed = -ENOMEM;
		return;
	}
	frame.address = l->address;
	if (!l->frame_cnt++)
		l->first_frame = f->cnt;
	f->v[f->cnt++] = frame;
}

/* If nothing is known, the function is named after the binary: "[libfoo.so]". */
static uint32_t unnamed_function(struct frames *f, uint32_t binary)
{
	const char *name = strings__get(f->strings, binaries__get(f->binaries, binary)->name);
	struct strbuf b = {0};
	uint32_t id;

	strbuf_addf(&b, *name == '[' ? "%s" : "[%s]", *name ? name : "unknown");
	id = strings__add(f->strings, (struct span){b.p, b.len});
	strbuf_fini(&b);
	return add_function(f, (struct function){.name = id, .binary = binary});
}

/* Locations of one binary, sorted by address. */
struct group {
	struct frames *frames;
	struct location **locations;
	size_t cnt;
	uint32_t binary;
	enum frame_kind kind;
	const struct captures *captures;
};

static void resolve_host(struct group *g)
{
	struct frames *f = g->frames;

	for (size_t i = 0; i < g->cnt; i++) {
		struct location *l = g->locations[i];
		const struct host_symbol *s =
			binaries__symbol_at(f->binaries, g->binary, l->address);
		uint32_t binary = s ? s->binary : g->binary;

		add_frame(
			f, l,
			(struct frame){
				.kind = g->kind,
				.binary = binary,
				.function = s ? add_function(f, (struct function){.name = s->name,
										  .binary = binary})
					      : unnamed_function(f, binary)});
	}
}

static uint32_t named_function(const struct group *g, const struct symbol_frame *c, uint32_t file)
{
	struct strings *strings = g->frames->strings;
	struct function key = {
		.name = strings__add(strings, span_of(c->name)), .file = file, .binary = g->binary};

	if (c->linkage_name && demangle_is_mangled(c->linkage_name))
		key.linkage = strings__add(strings, span_of(c->linkage_name));
	return add_function(g->frames, key);
}

static void take_chain(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	struct group *g = ctx;
	struct frames *f = g->frames;
	struct location *l = g->locations[index];

	for (size_t i = 0; i < cnt; i++) {
		const struct symbol_frame *c = &chain[i];
		struct frame frame = {.kind = g->kind, .binary = g->binary, .line = c->line};

		frame.file = strings__add(f->strings, span_of(c->file));
		frame.inlined = c->inlined && i + 1 < cnt;
		frame.function =
			c->name ? named_function(g, c, frame.file) : unnamed_function(f, g->binary);
		add_frame(f, l, frame);
	}
	if (!cnt)
		add_frame(f, l,
			  (struct frame){.kind = g->kind,
					 .binary = g->binary,
					 .function = unnamed_function(f, g->binary)});
}

/* If the record says that there is no debug member, one with a matching name belongs to another
 * binary. */
static struct debug_member *debug_of(const struct group *g)
{
	const struct binary *b = binaries__get(g->frames->binaries, g->binary);
	const char *member = strings__get(g->frames->strings, b->member);

	if (b->told && (!member || !*member))
		return NULL;
	return captures__find_debug(g->captures, b->origin, member,
				    strings__get(g->frames->strings, b->build_id));
}

static uint32_t origin_of(const struct group *g)
{
	return binaries__get(g->frames->binaries, g->binary)->origin;
}

static int open_debug(void *ctx)
{
	const struct group *g = ctx;

	return captures__open_debug(g->captures, origin_of(g), debug_of(g));
}

static int open_part(void *ctx, size_t number)
{
	const struct group *g = ctx;

	return captures__open_debug(
		g->captures, origin_of(g),
		captures__debug_part(g->captures, origin_of(g), debug_of(g), number));
}

static int open_by_id(void *ctx, const char *id_hex)
{
	const struct group *g = ctx;

	return captures__open_debug(g->captures, origin_of(g),
				    captures__find_debug(g->captures, origin_of(g), NULL, id_hex));
}

static const char *content_by_id(void *ctx, const char *id_hex)
{
	const struct group *g = ctx;

	return captures__content(g->captures, origin_of(g),
				 captures__find_debug(g->captures, origin_of(g), NULL, id_hex));
}

static int make_image(struct group *g, struct symbolizer *symbolizer, struct symbol_image **image)
{
	const struct binary *b = binaries__get(g->frames->binaries, g->binary);
	const char *build_id = strings__get(g->frames->strings, b->build_id);
	struct debug_member *debug = debug_of(g);
	struct symbol_archive archive = {captures__content(g->captures, b->origin, debug),
					 open_part, open_by_id, content_by_id, g};
	/* A member that cannot be hashed is treated as missing. */
	bool archived = debug && *archive.content;
	int err = symbolizer__image(symbolizer, build_id && *build_id ? build_id : NULL,
				    strings__get(g->frames->strings, b->path),
				    archived ? open_debug : NULL, g, image);

	return err || !archived ? err : symbol_image__in_archive(*image, &archive);
}

/* Stores the kind of symbols that was actually used. The recorder's reason is kept if the result is
 * the same or "none"; otherwise it is the symbolizer's. */
static void note_symbols(struct group *g, const struct symbol_image *image)
{
	struct frames *f = g->frames;
	struct binary *b = binaries__get(f->binaries, g->binary);
	const char *why = NULL, *kind = symbol_image__kind(image, &why);
	bool none = !strcmp(kind, "none");
	/* If both have the same result, the recorder's reason is more specific, since it ran on the
	 * recorded host. */
	bool agreed = b->symbols && !strcmp(strings__get(f->strings, b->symbols), kind);

	b->symbols = strings__add(f->strings, span_of(kind));
	if (!strcmp(kind, "dwarf"))
		b->why = agreed ? b->why : 0;
	else if (why && (!b->why || !(none || agreed)))
		b->why = strings__add(f->strings, span_of(why));
	else if (!b->why && none)
		b->why = strings__add(f->strings,
				      span_of("no symbols in the archive or on this machine"));
}

static int resolve_elf(struct group *g, struct symbolizer *symbolizer)
{
	struct symbol_image *image;
	uint64_t *addresses = malloc(g->cnt * sizeof(*addresses));
	int err;

	if (!addresses)
		return -ENOMEM;
	for (size_t i = 0; i < g->cnt; i++)
		addresses[i] = g->locations[i]->address;
	err = make_image(g, symbolizer, &image);
	if (!err) {
		err = symbolizer__resolve(symbolizer, image, addresses, g->cnt, take_chain, g);
		note_symbols(g, image);
	}
	free(addresses);
	return err;
}

static int by_binary(const void *a, const void *b)
{
	const struct location *x = *(struct location *const *)a, *y = *(struct location *const *)b;

	if (x->binary != y->binary)
		return x->binary < y->binary ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int resolve_group(struct group *g, struct symbolizer *symbolizer)
{
	static const enum frame_kind kinds[] = {[BINARY_UNKNOWN] = FRAME_USER,
						[BINARY_ELF] = FRAME_USER,
						[BINARY_JIT] = FRAME_JIT,
						[BINARY_KERNEL] = FRAME_KERNEL};
	enum binary_type type = binaries__get(g->frames->binaries, g->binary)->type;
	int err;

	g->kind = kinds[type];
	if (type != BINARY_ELF) {
		resolve_host(g);
		return g->frames->failed;
	}
	err = resolve_elf(g, symbolizer);
	for (size_t i = 0; i < g->cnt; i++) /* also after an error: every location needs a frame */
		if (!g->locations[i]->frame_cnt)
			take_chain(g, i, NULL, 0);
	if (err && err != -ENOMEM) {
		message_warn("%s: no symbols: %s",
			     strings__get(g->frames->strings,
					  binaries__get(g->frames->binaries, g->binary)->path),
			     strerror(-err));
		err = 0;
	}
	return err ? err : g->frames->failed;
}

int frames__resolve(struct frames *f, struct stacks *stacks, const struct captures *captures,
		    const struct symbolizer_opts *opts)
{
	struct location *all = stacks__locations(stacks), **sorted;
	size_t cnt = stacks__location_cnt(stacks);
	struct symbolizer *symbolizer = NULL;
	int err;

	sorted = malloc((cnt + 1) * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = &all[i];
	qsort(sorted, cnt, sizeof(*sorted), by_binary);
	err = symbolizer__new(&symbolizer, opts);
	for (size_t i = 0, end; i < cnt && !err; i = end) {
		struct group g = {f, &sorted[i], 0, sorted[i]->binary, 0, captures};

		for (end = i; end < cnt && sorted[end]->binary == g.binary; end++)
			;
		g.cnt = end - i;
		err = resolve_group(&g, symbolizer);
	}
	symbolizer__free(symbolizer);
	free(sorted);
	return err ? err : strings__failed(f->strings);
}

size_t frames__cnt(const struct frames *f)
{
	return f->cnt;
}

const struct frame *frames__get(const struct frames *f, uint32_t frame)
{
	return &f->v[frame];
}

size_t frames__function_cnt(const struct frames *f)
{
	return f->function_cnt;
}

const struct function *frames__function(const struct frames *f, uint32_t function)
{
	return &f->functions[function];
}
