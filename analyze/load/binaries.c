/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/binaries.h"

#include "format/text.h"
#include "analyze/base/index.h"

#define IDS 0x10000 /* ids per archive */

struct binaries {
	struct strings *strings;
	struct binary *v;
	size_t cnt, cap;
	struct index index; /* by key; captures may share binaries */
	uint32_t **maps;    /* capture -> archive id -> number */
	size_t map_cnt, map_cap;
};

static uint64_t key_hash(const struct binary *k)
{
	return hash_mix(hash_mix((uint64_t)k->build_id << 32 | k->path) ^
			((uint64_t)k->capture << 40 | (uint64_t)k->content << 8 | k->type));
}

static bool binary_equal(const void *owner, uint32_t i, const void *key)
{
	const struct binary *b = &((const struct binaries *)owner)->v[i], *k = key;

	return b->build_id == k->build_id && b->path == k->path && b->capture == k->capture &&
	       b->content == k->content && b->type == k->type;
}

static uint32_t base_name(struct binaries *b, uint32_t path)
{
	const char *text = strings__get(b->strings, path),
		   *slash = text ? strrchr(text, '/') : NULL;

	return slash && slash[1] ? strings__add(b->strings, span_of(slash + 1)) : path;
}

/* 0: out of memory. */
static uint32_t intern(struct binaries *b, struct binary key)
{
	uint64_t hash = key_hash(&key);
	uint32_t i;

	if (index_find(&b->index, binary_equal, b, hash, &key, &i))
		return i;
	if (array_reserve(&b->v, &b->cap, b->cnt + 1))
		return 0;
	key.name = base_name(b, key.path);
	i = b->cnt;
	b->v[i] = key;
	if (index_add(&b->index, hash, i))
		return 0;
	b->cnt++;
	return i;
}

int binaries__new(struct binaries **out, struct strings *strings)
{
	struct binaries *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->strings = strings;
	if (array_reserve(&b->v, &b->cap, 16)) {
		free(b);
		return -ENOMEM;
	}
	b->v[b->cnt++] = (struct binary){.type = BINARY_UNKNOWN,
					 .path = strings__add(strings, span_of("[unknown]"))};
	b->v[0].name = b->v[0].path;
	*out = b;
	return 0;
}

void binaries__free(struct binaries *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->cnt; i++)
		free(b->v[i].host);
	for (size_t i = 0; i < b->map_cnt; i++)
		free(b->maps[i]);
	index_fini(&b->index);
	free(b->maps);
	free(b->v);
	free(b);
}

static uint32_t *map_of(struct binaries *b, uint32_t capture)
{
	if (array_reserve(&b->maps, &b->map_cap, capture + 1))
		return NULL;
	while (b->map_cnt <= capture)
		b->maps[b->map_cnt++] = NULL;
	if (!b->maps[capture])
		b->maps[capture] = calloc(IDS, sizeof(uint32_t));
	return b->maps[capture];
}

int binaries__define(struct binaries *b, uint32_t capture, const struct rec_binary *r,
		     const char *content)
{
	struct binary key = {.type = BINARY_ELF, .origin = capture};
	uint32_t *map = map_of(b, capture);

	if (!map)
		return -ENOMEM;
	if (!r->id || r->id >= FRAME_BINARY_KERNEL)
		return 0; /* outside the format: no record can refer to it */
	key.build_id = strings__add(b->strings, r->build_id);
	key.path = strings__add(b->strings, r->path);
	key.content = strings__add(b->strings, span_of(content));
	if (!r->build_id.len) { /* generated or unreadable: not shared with other captures */
		key.capture = capture + 1;
		if (r->path.len >= 4 && !memcmp(r->path.p, "[jit", 4))
			key.type = BINARY_JIT;
	}
	map[r->id] = intern(b, key);
	return map[r->id] ? strings__failed(b->strings) : -ENOMEM;
}

uint32_t binaries__find(struct binaries *b, uint32_t capture, uint32_t id)
{
	struct binary key = {.capture = capture + 1};
	uint32_t *map = map_of(b, capture);
	char path[64];

	if (!map || !id || id >= IDS)
		return 0;
	if (map[id])
		return map[id];
	if (id == FRAME_BINARY_KERNEL) {
		key.type = BINARY_KERNEL;
		snprintf(path, sizeof(path), "[kernel]");
	} else {
		key.type = BINARY_UNKNOWN;
		snprintf(path, sizeof(path), "[binary %u, definition lost]", id);
	}
	key.path = strings__add(b->strings, span_of(path));
	return map[id] = intern(b, key);
}

int binaries__debuginfo(struct binaries *b, uint32_t capture, const struct rec_debuginfo *r)
{
	uint32_t i = binaries__find(b, capture, r->binary); /* may move b->v */
	struct binary *binary = &b->v[i];

	if (!i)
		return 0;
	binary->told = true;
	binary->member = strings__add(b->strings, r->member);
	binary->symbols = strings__add(b->strings, r->symbols);
	binary->why = r->why.len ? strings__add(b->strings, r->why) : 0;
	return strings__failed(b->strings);
}

/* Kernel modules are separate binaries, as in `perf`: [nf_conntrack]. */
static uint32_t module_of(struct binaries *b, uint32_t capture, struct span module)
{
	struct binary key = {.type = BINARY_KERNEL, .capture = capture + 1};
	struct strbuf path = {0};

	strbuf_addf(&path, "[%.*s]", (int)module.len, module.p);
	key.path = strings__add(b->strings, (struct span){path.p, path.len});
	strbuf_fini(&path);
	return intern(b, key);
}

static int by_address(const void *a, const void *b)
{
	const struct host_symbol *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1)
					: (x->name > y->name) - (x->name < y->name);
}

/* Sorts symbols and removes the duplicates that repeated records cause. */
static void sort_host(struct binary *binary)
{
	struct host_symbol *h = binary->host;
	size_t kept = 0;

	if (binary->host_cnt)
		qsort(h, binary->host_cnt, sizeof(*h), by_address);
	for (size_t i = 0; i < binary->host_cnt; i++)
		if (!kept || h[kept - 1].address != h[i].address || h[kept - 1].name != h[i].name)
			h[kept++] = h[i];
	binary->host_cnt = kept;
	binary->host_sorted = true;
}

static int add_host(struct binary *binary, struct host_symbol symbol)
{
	/* Duplicates are removed before the array grows, so that they do not accumulate in a long
	 * capture. The capacity is then at least twice the count, so each symbol is sorted only a
	 * few times. */
	if (binary->host_cnt == binary->host_cap) {
		if (!binary->host_sorted)
			sort_host(binary);
		if (array_reserve(&binary->host, &binary->host_cap, 2 * binary->host_cnt + 16))
			return -ENOMEM;
	}
	binary->host[binary->host_cnt++] = symbol;
	binary->host_sorted = false;
	return 0;
}

int binaries__symbol(struct binaries *b, uint32_t capture, const struct rec_symbol *r)
{
	uint32_t i = binaries__find(b, capture, r->binary), module = i;
	int err;

	if (!i)
		return 0;
	if (r->module.len && r->module.len < 256)
		module = module_of(b, capture, r->module);
	err = add_host(&b->v[i], (struct host_symbol){r->address, r->size,
						      strings__add(b->strings, r->name), module});
	return err ? err : strings__failed(b->strings);
}

uint32_t binaries__artificial(struct binaries *b, const char *path)
{
	return intern(b, (struct binary){.type = BINARY_UNKNOWN,
					 .path = strings__add(b->strings, span_of(path))});
}

int binaries__name(struct binaries *b, uint32_t binary, uint64_t address, uint32_t name)
{
	return add_host(&b->v[binary], (struct host_symbol){address, 1, name, binary});
}

size_t binaries__cnt(const struct binaries *b)
{
	return b->cnt;
}

struct binary *binaries__get(const struct binaries *b, uint32_t binary)
{
	return &b->v[binary];
}

const struct host_symbol *binaries__symbol_at(struct binaries *b, uint32_t i, uint64_t address)
{
	struct binary *binary = &b->v[i];
	const struct host_symbol *h;
	size_t lo = 0, hi;

	if (!binary->host_sorted)
		sort_host(binary);
	for (hi = binary->host_cnt; lo < hi;) { /* finds the first one above the address */
		size_t mid = lo + (hi - lo) / 2;

		if (binary->host[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	h = &binary->host[lo - 1];
	return h->size && address - h->address >= h->size ? NULL : h;
}
