/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/figures.h"

#include "analyze/base/index.h"

/* Limits of aggregates distinguished by target (about 100 MB) and by method (400 MB). */
#define MAX_TARGETS (1u << 18)
#define MAX_METHODS (1u << 20)

struct figures {
	struct index index;
	struct figure *v;
	size_t cnt, cap;
	unsigned merged; /* bits of enum figure_part */
};

static uint64_t key_hash(const struct figure_key *k)
{
	uint64_t h = hash_mix((uint64_t)k->role << 32 | k->service);

	h = hash_mix(h ^ ((uint64_t)k->peer << 32 | k->protocol));
	h = hash_mix(h ^ ((uint64_t)k->method << 32 | k->target));
	return hash_mix(h ^ ((uint64_t)k->connection << 32 | k->slot));
}

static bool figure_equal(const void *owner, uint32_t i, const void *key)
{
	return !memcmp(&((const struct figures *)owner)->v[i].key, key, sizeof(struct figure_key));
}

int figures__new(struct figures **f)
{
	*f = calloc(1, sizeof(**f));
	return *f ? 0 : -ENOMEM;
}

void figures__free(struct figures *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->cnt; i++)
		latency__fini(&f->v[i].latency);
	index_fini(&f->index);
	free(f->v);
	free(f);
}

static struct figure *figure_of(struct figures *f, const struct figure_key *key)
{
	uint64_t hash = key_hash(key);
	uint32_t i;

	if (index_find(&f->index, figure_equal, f, hash, key, &i))
		return &f->v[i];
	if ((key->target && f->cnt >= MAX_TARGETS) || (key->method && f->cnt >= MAX_METHODS)) {
		struct figure_key other = *key;

		f->merged |= key->target ? BY_TARGET : BY_METHOD;
		*(key->target ? &other.target : &other.method) = 0;
		return figure_of(f, &other);
	}
	if (array_reserve(&f->v, &f->cap, f->cnt + 1))
		return NULL;
	f->v[f->cnt] = (struct figure){.key = *key};
	if (index_add(&f->index, hash, f->cnt))
		return NULL;
	return &f->v[f->cnt++];
}

static void add_times(struct figure *g, uint64_t first, uint64_t last, int64_t connection)
{
	if (!g->connection_id || first < g->first_ns) {
		g->first_ns = first;
		g->connection_id = connection;
	}
	if (last > g->last_ns)
		g->last_ns = last;
}

int figures__add(struct figures *f, const struct figure_key *key, const struct figure_call *call)
{
	struct figure *g = figure_of(f, key);

	if (!g)
		return -ENOMEM;
	if (!call->half) {
		g->calls += call->weight;
		g->seen++;
		g->unpaired += call->unpaired * call->weight;
	}
	g->errors += call->error * call->weight;
	g->request_bytes += call->request_bytes * call->weight;
	g->response_bytes += call->response_bytes * call->weight;
	add_times(g, call->at_ns, call->at_ns, call->connection_id);
	return call->timed ? latency__add(&g->latency, call->latency_ns) : 0;
}

int figures__put(struct figures *to, const struct figure_key *key, const struct figure *from)
{
	struct figure *g = figure_of(to, key);

	if (!g)
		return -ENOMEM;
	g->repeated = from->repeated && (g->repeated || !g->connection_id);
	g->calls += from->calls;
	g->seen += from->seen;
	g->errors += from->errors;
	g->unpaired += from->unpaired;
	g->request_bytes += from->request_bytes;
	g->response_bytes += from->response_bytes;
	add_times(g, from->first_ns, from->last_ns, from->connection_id);
	return latency__merge(&g->latency, &from->latency);
}

static uint32_t keep(unsigned parts, enum figure_part part, uint32_t v)
{
	return parts & part ? v : 0;
}

int figures__merge(struct figures **out, const struct figures *fine, unsigned parts)
{
	int err = figures__new(out);

	for (size_t i = 0; i < fine->cnt && !err; i++) {
		const struct figure_key *k = &fine->v[i].key;
		const struct figure_key key = {
			.role = keep(parts, BY_ROLE, k->role),
			.service = keep(parts, BY_SERVICE, k->service),
			.peer = keep(parts, BY_PEER, k->peer),
			.protocol = keep(parts, BY_PROTOCOL, k->protocol),
			.method = keep(parts, BY_METHOD, k->method),
			.target = keep(parts, BY_TARGET, k->target),
			.slot = keep(parts, BY_SLOT, k->slot),
		};

		err = figures__put(*out, &key, &fine->v[i]);
	}
	if (err) {
		figures__free(*out);
		*out = NULL;
	}
	return err;
}

void figures__set_repeated(struct figures *f, size_t i)
{
	f->v[i].repeated = true;
}

const struct figure *figures__find(const struct figures *f, const struct figure_key *key)
{
	uint32_t i;

	return index_find(&f->index, figure_equal, f, key_hash(key), key, &i) ? &f->v[i] : NULL;
}

size_t figures__cnt(const struct figures *f)
{
	return f->cnt;
}

const struct figure *figures__get(const struct figures *f, size_t i)
{
	return &f->v[i];
}

unsigned figures__merged(const struct figures *f)
{
	return f->merged;
}
