/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/name_shapes.h"

#include <ctype.h>

#include "format/text.h"
#include "analyze/base/index.h"
#include "analyze/base/intern.h"

enum { PLACES_MAX = 16 }; /* places behind them are folded with any other */

/* A shape of which names are folded. */
struct pattern {
	uint32_t service, protocol, shape;
	uint32_t folded; /* places, a bit each */
};

struct name_shapes {
	struct strings *shapes;
	struct index index;
	struct pattern *v;
	size_t cnt, cap;
	char *text;
	size_t text_cap;
};

/* A name whose shape is looked at. */
struct entry {
	uint32_t service, protocol, shape, name;
};

int name_shapes__new(struct name_shapes **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? strings__new(&(*out)->shapes) : -ENOMEM;
}

void name_shapes__free(struct name_shapes *s)
{
	if (!s)
		return;
	strings__free(s->shapes);
	index_fini(&s->index);
	free(s->v);
	free(s->text);
	free(s);
}

/* ---- words ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* The next word with digits, or a placeholder, from *at on; behind it is *at then. A placeholder is
 * a place that was folded before. */
static bool next_place(struct span name, size_t *at, struct span *place)
{
	static const struct span holders[] = {{"{n}", 3}, {"{id}", 4}};
	size_t i = *at;

	while (i < name.len) {
		size_t start = i;
		bool digits = false;

		for (; i < name.len && is_word(name.p[i]); i++)
			digits |= !!isdigit((unsigned char)name.p[i]);
		for (size_t k = 0; k < 2 && !digits; k++)
			if (name.len - i >= holders[k].len &&
			    !memcmp(name.p + i, holders[k].p, holders[k].len)) {
				i += holders[k].len;
				digits = true;
			}
		*at = i;
		*place = (struct span){name.p + start, i - start};
		if (digits)
			return true;
		i += i < name.len;
	}
	return false;
}

/* Number of letters before the digits that end a word; SIZE_MAX: it is no such word. */
static size_t letters_of(struct span word)
{
	size_t digits = 0;

	while (digits < word.len && isdigit((unsigned char)word.p[word.len - digits - 1]))
		digits++;
	for (size_t i = 0; i < word.len - digits; i++)
		if (isdigit((unsigned char)word.p[i]))
			return SIZE_MAX;
	return digits ? word.len - digits : SIZE_MAX;
}

struct text {
	char *p;
	size_t len;
};

static void put(struct text *t, const char *p, size_t len)
{
	memcpy(t->p + t->len, p, len);
	t->len += len;
}

static void put_folded(struct text *t, struct span place)
{
	size_t letters = letters_of(place);

	if (place.p[place.len - 1] == '}')
		put(t, place.p, place.len);
	else if (letters == SIZE_MAX)
		put(t, "{id}", 4);
	else {
		put(t, place.p, letters);
		put(t, "{n}", 3);
	}
}

static bool is_folded(uint32_t folded, size_t place)
{
	return place < PLACES_MAX ? folded >> place & 1 : folded != 0;
}

/* The name with these places folded. p NULL: out of memory. */
static struct span rewrite(struct name_shapes *s, struct span name, uint32_t folded)
{
	struct text t = {0};
	struct span place;
	size_t at = 0, from = 0, n = 0;

	/* a folded place has at least one byte, at most four in its stead */
	if (array_reserve(&s->text, &s->text_cap, 4 * name.len + 1))
		return (struct span){0};
	t.p = s->text;
	for (; next_place(name, &at, &place); n++) {
		if (!is_folded(folded, n))
			continue;
		put(&t, name.p + from, place.p - name.p - from);
		put_folded(&t, place);
		from = at;
	}
	put(&t, name.p + from, name.len - from);
	return (struct span){t.p, t.len};
}

/* ---- patterns ---- */

static uint64_t pattern_hash(const struct pattern *p)
{
	return hash_mix(hash_mix((uint64_t)p->service << 32 | p->protocol) ^ p->shape);
}

static bool pattern_equal(const void *owner, uint32_t i, const void *key)
{
	const struct pattern *a = &((const struct name_shapes *)owner)->v[i], *b = key;

	return a->service == b->service && a->protocol == b->protocol && a->shape == b->shape;
}

static struct pattern *find_pattern(const struct name_shapes *s, struct pattern key)
{
	uint32_t i;

	return index_find(&s->index, pattern_equal, s, pattern_hash(&key), &key, &i) ? &s->v[i]
										     : NULL;
}

static int fold_pattern(struct name_shapes *s, const struct entry *e, uint32_t folded)
{
	struct pattern key = {e->service, e->protocol, e->shape, folded},
		       *known = find_pattern(s, key);

	if (known) {
		known->folded |= folded;
		return 0;
	}
	if (array_reserve(&s->v, &s->cap, s->cnt + 1) ||
	    index_add(&s->index, pattern_hash(&key), s->cnt))
		return -ENOMEM;
	s->v[s->cnt++] = key;
	return 0;
}

/* ---- learning ---- */

/* Different words in each place, as far as their number matters. */
struct words {
	uint32_t cnt[PLACES_MAX];
	uint64_t hash[PLACES_MAX][SHAPE_NAMES_MAX];
};

static void add_word(struct words *w, size_t place, struct span word)
{
	uint64_t hash = intern_hash(word, index_seed);
	uint32_t i = 0;

	if (w->cnt[place] > SHAPE_NAMES_MAX)
		return;
	while (i < w->cnt[place] && w->hash[place][i] != hash)
		i++;
	if (i < w->cnt[place])
		return;
	if (i < SHAPE_NAMES_MAX)
		w->hash[place][i] = hash;
	w->cnt[place]++;
}

/* Which places of these names of one shape to fold. */
static uint32_t places_to_fold(const struct strings *names, const struct entry *v, size_t cnt)
{
	struct words words = {0};
	uint32_t folded = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct span name = span_of(strings__get(names, v[i].name)), place;
		size_t at = 0;

		for (size_t n = 0; n < PLACES_MAX && next_place(name, &at, &place); n++)
			add_word(&words, n, place);
	}
	for (size_t n = 0; n < PLACES_MAX; n++)
		folded |= (uint32_t)(words.cnt[n] > SHAPE_NAMES_MAX) << n;
	return folded ? folded : (1u << PLACES_MAX) - 1;
}

static int by_shape(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct entry));
}

static bool same_shape(const struct entry *a, const struct entry *b)
{
	return a->service == b->service && a->protocol == b->protocol && a->shape == b->shape;
}

static int learn_entries(struct name_shapes *s, const struct strings *names, struct entry *v,
			 size_t cnt)
{
	size_t kept = 0, end;
	int err = 0;

	if (cnt)
		qsort(v, cnt, sizeof(*v), by_shape);
	for (size_t i = 0; i < cnt; i++)
		if (!kept || by_shape(&v[kept - 1], &v[i]))
			v[kept++] = v[i];
	for (size_t i = 0; i < kept && !err; i = end) {
		for (end = i + 1; end < kept && same_shape(&v[i], &v[end]);)
			end++;
		if (end - i > SHAPE_NAMES_MAX)
			err = fold_pattern(s, &v[i], places_to_fold(names, v + i, end - i));
	}
	return err;
}

/* An endpoint's name belongs to the service that serves it. */
static uint32_t service_of(const struct figure_key *k, uint32_t server)
{
	return k->role == server ? k->service : k->peer;
}

static int collect(struct name_shapes *s, const struct strings *names, uint32_t server,
		   const struct figures *f, struct entry **out, size_t *cnt)
{
	size_t cap = 0;

	for (size_t i = 0; i < figures__cnt(f); i++) {
		const struct figure_key *k = &figures__get(f, i)->key;
		struct span name = span_of(strings__get(names, k->target)), place, shape;
		size_t at = 0;

		if (!next_place(name, &at, &place))
			continue;
		shape = rewrite(s, name, UINT32_MAX);
		if (!shape.p || array_reserve(out, &cap, *cnt + 1))
			return -ENOMEM;
		(*out)[(*cnt)++] = (struct entry){service_of(k, server), k->protocol,
						  strings__add(s->shapes, shape), k->target};
	}
	return strings__failed(s->shapes);
}

static int fold_figures(struct name_shapes *s, struct strings *names, uint32_t server,
			struct figures **figures)
{
	struct figures *folded;
	int err = figures__new(&folded);

	for (size_t i = 0; i < figures__cnt(*figures) && !err; i++) {
		const struct figure *g = figures__get(*figures, i);
		struct figure_key key = g->key;

		if (key.target)
			key.target = strings__add(
				names, name_shapes__fold(s, service_of(&key, server), key.protocol,
							 span_of(strings__get(names, key.target))));
		err = figures__put(folded, &key, g);
	}
	if (!err) {
		figures__free(*figures);
		*figures = folded;
	} else {
		figures__free(folded);
	}
	return err ? err : strings__failed(names);
}

int name_shapes__learn(struct name_shapes *s, struct strings *names, uint32_t server,
		       struct figures **figures)
{
	struct entry *v = NULL;
	size_t cnt = 0;
	int err = collect(s, names, server, *figures, &v, &cnt);

	if (!err)
		err = learn_entries(s, names, v, cnt);
	free(v);
	return err || !s->cnt ? err : fold_figures(s, names, server, figures);
}

struct span name_shapes__fold(struct name_shapes *s, uint32_t service, uint32_t protocol,
			      struct span target)
{
	struct span place, folded;
	const struct pattern *p;
	size_t at = 0;

	if (!s->cnt || !next_place(target, &at, &place))
		return target;
	folded = rewrite(s, target, UINT32_MAX);
	p = folded.p ? find_pattern(s, (struct pattern){service, protocol,
							strings__find(s->shapes, folded), 0})
		     : NULL;
	if (!p)
		return target;
	folded = rewrite(s, target, p->folded);
	return folded.p ? folded : target;
}
