/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/stacks.h"

#include "format/records.h"
#include "analyze/base/index.h"

/* At these limits about 60 bytes per stack in total, well within the program's 512 MB. */
#define MAX_LOCATIONS (1u << 20)
#define MAX_NODES (6u << 20)
#define MAX_STACKS (1u << 20)

struct node {
	uint32_t caller, location;
};

struct stacks {
	struct index location_index, node_index, stack_index;
	struct location *locations;
	size_t location_cnt, location_cap;
	struct node *nodes;
	size_t node_cnt, node_cap;
	struct stack *stacks;
	size_t cnt, cap;
	bool lost, overflowed; /* stacks 0 and 1 are used */
	uint8_t *marks;	       /* by stack: enum stack_mark */
	size_t mark_cap;
};

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_mix(a ^ hash_mix(b));
}

static bool location_equal(const void *owner, uint32_t i, const void *key)
{
	const struct location *l = &((const struct stacks *)owner)->locations[i], *k = key;

	return l->address == k->address && l->binary == k->binary;
}

static bool node_equal(const void *owner, uint32_t i, const void *key)
{
	const struct node *n = &((const struct stacks *)owner)->nodes[i], *k = key;

	return n->caller == k->caller && n->location == k->location;
}

static bool stack_equal(const void *owner, uint32_t i, const void *key)
{
	const struct stack *s = &((const struct stacks *)owner)->stacks[i], *k = key;

	return s->user == k->user && s->kernel == k->kernel && s->error == k->error;
}

int stacks__new(struct stacks **out)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (array_reserve(&s->nodes, &s->node_cap, 64) || array_reserve(&s->stacks, &s->cap, 64)) {
		stacks__free(s);
		return -ENOMEM;
	}
	s->nodes[s->node_cnt++] = (struct node){0};
	s->stacks[s->cnt++] = (struct stack){.error = STACK_LOST};
	s->stacks[s->cnt++] = (struct stack){.error = STACK_OVERFLOWED};
	*out = s;
	return 0;
}

void stacks__free(struct stacks *s)
{
	if (!s)
		return;
	index_fini(&s->location_index);
	index_fini(&s->node_index);
	index_fini(&s->stack_index);
	free(s->locations);
	free(s->nodes);
	free(s->stacks);
	free(s->marks);
	free(s);
}

static uint32_t location_of(struct stacks *s, uint32_t binary, uint64_t address)
{
	struct location key = {.address = address, .binary = binary};
	uint64_t hash = hash_pair(address, binary);
	uint32_t i;

	if (index_find(&s->location_index, location_equal, s, hash, &key, &i))
		return i;
	i = s->location_cnt;
	if (i >= MAX_LOCATIONS || array_reserve(&s->locations, &s->location_cap, i + 1))
		return STACK_NO_NODE;
	s->locations[i] = key;
	if (index_add(&s->location_index, hash, i))
		return STACK_NO_NODE;
	s->location_cnt++;
	return i;
}

void stacks__step(const struct stacks *s, const struct stack_step *from, struct stack_step *step)
{
	uint64_t location = hash_pair(step->address, step->binary);

	step->hash = hash_mix(location + (from ? from->hash : 0));
	index_ahead(&s->location_index, location);
	index_ahead(&s->node_index, step->hash);
}

uint32_t stacks__node(struct stacks *s, uint32_t caller, const struct stack_step *step)
{
	struct node key = {.caller = caller};
	uint32_t i;

	if (caller == STACK_NO_NODE)
		return STACK_NO_NODE;
	key.location = location_of(s, step->binary, step->address);
	if (key.location == STACK_NO_NODE)
		return STACK_NO_NODE;
	if (index_find(&s->node_index, node_equal, s, step->hash, &key, &i))
		return i;
	i = s->node_cnt;
	if (i >= MAX_NODES || array_reserve(&s->nodes, &s->node_cap, i + 1))
		return STACK_NO_NODE;
	s->nodes[i] = key;
	if (index_add(&s->node_index, step->hash, i))
		return STACK_NO_NODE;
	s->node_cnt++;
	return i;
}

static uint32_t overflow(struct stacks *s)
{
	s->overflowed = true;
	return 1;
}

uint32_t stacks__add(struct stacks *s, struct stack stack)
{
	uint64_t hash = hash_pair((uint64_t)stack.user << 32 | stack.kernel, stack.error);
	uint32_t i;

	if (stack.error == STACK_LOST && !stack.kernel && !stack.user) {
		s->lost = true;
		return 0;
	}
	if (stack.user == STACK_NO_NODE || stack.kernel == STACK_NO_NODE)
		return overflow(s);
	if (index_find(&s->stack_index, stack_equal, s, hash, &stack, &i))
		return i;
	i = s->cnt;
	if (i >= MAX_STACKS || array_reserve(&s->stacks, &s->cap, i + 1))
		return overflow(s);
	s->stacks[i] = stack;
	if (index_add(&s->stack_index, hash, i))
		return overflow(s);
	s->cnt++;
	return i;
}

bool stacks__used(const struct stacks *s, uint32_t stack)
{
	return stack == 0 ? s->lost : stack == 1 ? s->overflowed : stack < s->cnt;
}

int stacks__mark(struct stacks *s, uint32_t stack, enum stack_mark mark)
{
	size_t cap = s->mark_cap;

	if (stack >= cap) {
		if (array_reserve(&s->marks, &s->mark_cap, (size_t)stack + 1))
			return -ENOMEM;
		memset(s->marks + cap, 0, (s->mark_cap - cap) * sizeof(*s->marks));
	}
	s->marks[stack] |= mark;
	return 0;
}

bool stacks__marked(const struct stacks *s, uint32_t stack, enum stack_mark mark)
{
	return stack < s->mark_cap && s->marks[stack] & mark;
}

uint32_t stacks__caller(const struct stacks *s, uint32_t node, uint32_t *location)
{
	*location = s->nodes[node].location;
	return s->nodes[node].caller;
}

size_t stacks__cnt(const struct stacks *s)
{
	return s->cnt;
}

struct stack stacks__get(const struct stacks *s, uint32_t stack)
{
	return s->stacks[stack];
}

void stacks__set(struct stacks *s, uint32_t stack, struct stack to)
{
	s->stacks[stack] = to;
}

size_t stacks__location_cnt(const struct stacks *s)
{
	return s->location_cnt;
}

struct location *stacks__locations(struct stacks *s)
{
	return s->locations;
}

/*
 * Turns the end of a path, from level `base` on, into the way to `leaf`. Callers have lower numbers
 * than the nodes they call, so on the way up from both leaves, the first node that is met twice is
 * where the paths part. Returns how many levels stayed, or -ENOMEM.
 */
static long walk_part(const struct stacks *s, uint32_t leaf, size_t base, struct stack_path *p)
{
	size_t more = 0, kept;

	for (uint32_t n = leaf;; n = s->nodes[n].caller, more++) {
		while (p->cnt > base && p->v[p->cnt - 1].node > n)
			p->cnt--;
		if (!n || (p->cnt > base && p->v[p->cnt - 1].node == n))
			break;
	}
	kept = p->cnt;
	if (array_reserve(&p->v, &p->cap, kept + more))
		return -ENOMEM;
	p->cnt += more;
	for (size_t i = p->cnt; i-- > kept; leaf = s->nodes[leaf].caller)
		p->v[i] = (struct stack_level){leaf, s->nodes[leaf].location};
	return kept;
}

long stacks__walk(const struct stacks *s, uint32_t stack, struct stack_path *p)
{
	const struct stack *to = &s->stacks[stack];
	bool same_user = to->user == (p->user_cnt ? p->v[p->user_cnt - 1].node : 0);
	long user = 0, kernel;

	if (!same_user) {
		p->cnt = p->user_cnt;
		user = walk_part(s, to->user, 0, p);
		if (user < 0)
			return user;
		p->user_cnt = p->cnt;
	}
	kernel = walk_part(s, to->kernel, p->user_cnt, p);
	return kernel < 0 || same_user ? kernel : user;
}

void stacks__ahead(const struct stacks *s, uint32_t far, uint32_t near)
{
	__builtin_prefetch(&s->stacks[far]);
	__builtin_prefetch(&s->nodes[s->stacks[near].user]);
}

void stack_path_fini(struct stack_path *p)
{
	free(p->v);
}

/* Malloc'ed: the position of each node in a depth-first walk. Callers have lower numbers than the
 * nodes they call. */
static uint32_t *depth_first(const struct stacks *s)
{
	/* Of nodes yet to be placed: how many there are below and including it. Of placed ones: the
	 * position of the next node that it calls. */
	uint32_t *left = malloc(s->node_cnt * sizeof(*left));
	uint32_t *place = malloc(s->node_cnt * sizeof(*place));

	if (!left || !place) {
		free(left);
		free(place);
		return NULL;
	}
	for (size_t n = 0; n < s->node_cnt; n++)
		left[n] = 1;
	for (size_t n = s->node_cnt; n-- > 1;)
		left[s->nodes[n].caller] += left[n];
	place[0] = 0;
	left[0] = 1;
	for (size_t n = 1; n < s->node_cnt; n++) {
		uint32_t *next = &left[s->nodes[n].caller];

		place[n] = *next;
		*next += left[n];
		left[n] = place[n] + 1;
	}
	free(left);
	return place;
}

struct ranked {
	uint32_t error, user, kernel, stack;
};

static int by_frames(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->error != y->error)
		return x->error < y->error ? -1 : 1;
	if (x->user != y->user)
		return x->user < y->user ? -1 : 1;
	if (x->kernel != y->kernel)
		return x->kernel < y->kernel ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

int stacks__rank(const struct stacks *s, uint32_t **rank)
{
	uint32_t *place = depth_first(s);
	struct ranked *v = malloc(s->cnt * sizeof(*v));

	*rank = malloc(s->cnt * sizeof(**rank));
	if (!place || !v || !*rank) {
		free(place);
		free(v);
		free(*rank);
		*rank = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->cnt; i++) {
		const struct stack *stack = &s->stacks[i];

		v[i] = (struct ranked){stack->error, place[stack->user], place[stack->kernel], i};
	}
	free(place);
	qsort(v, s->cnt, sizeof(*v), by_frames);
	for (size_t i = 0; i < s->cnt; i++)
		(*rank)[v[i].stack] = i;
	free(v);
	return 0;
}

const char *stack_error_text(uint32_t error)
{
	if (error == STACK_NONE)
		return NULL;
	switch (error) {
#define X(name, number, text)                                                                      \
	case number:                                                                               \
		return text;
		STACK_ERRORS(X)
#undef X
	case STACK_LOST:
		return "definition lost";
	case STACK_OVERFLOWED:
		return "too many distinct stacks for obana's memory";
	}
	return "unknown cause";
}
