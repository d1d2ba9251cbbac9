/* SPDX-License-Identifier: BSD-2-Clause */
/* Demangles C++ and Rust names with libiberty. The output follows llvm-symbolizer where that is
 * easy. */
#include "format/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Substitutions can expand a short hostile name exponentially. Of 300,000 names in LLVM, Node and
 * libstdc++, none grew by more than a factor of 30. Names longer than libiberty's own limit for C++
 * fail.
 */
enum {
	MANGLED_MAX = 32 << 10,
	GROWTH_MAX = 64,
	GROWTH_BASE = 4096,
	ITANIUM_MAX = 1024,
	BLIND_REFERENCES_MAX = 8,
};

static size_t growth_max(const char *name)
{
	return GROWTH_BASE + GROWTH_MAX * strlen(name);
}

struct sink {
	char *p;
	size_t len, cap, max;
	jmp_buf too_long;
};

/* The demanglers keep their state on the stack and offer the callback no way to stop them, so
 * longjmp() is used. */
static void take(const char *s, size_t len, void *arg)
{
	struct sink *k = arg;

	if (len > k->max - k->len)
		longjmp(k->too_long, 1);
	if (k->len + len + 1 > k->cap) {
		size_t cap = (k->len + len + 1) * 2;
		char *p = realloc(k->p, cap);

		if (!p)
			longjmp(k->too_long, 1);
		k->p = p;
		k->cap = cap;
	}
	memcpy(k->p + k->len, s, len);
	k->len += len;
	k->p[k->len] = '\0';
}

typedef int (*demangle_fn)(const char *, int, demangle_callbackref, void *);

static char *demangle_with(demangle_fn fn, const char *name, int options)
{
	struct sink *k = calloc(1, sizeof(*k));
	char *text = NULL;

	if (!k)
		return NULL;
	k->max = growth_max(name);
	if (!setjmp(k->too_long) && fn(name, options, take, k) && k->len) {
		text = k->p;
		k->p = NULL;
	}
	free(k->p);
	free(k);
	return text;
}

/* "_Z", with up to four underscores: some assemblers prepend one. */
static const char *itanium_start(const char *name)
{
	size_t n = strspn(name, "_");

	return n >= 1 && n <= 4 && name[n] == 'Z' ? name + n - 1 : NULL;
}

/* ---- C++: limit on the expansion of a name, checked before it is printed */

static bool is_leaf(const struct demangle_component *c)
{
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_SUB_STD:
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return true;
	default:
		return false;
	}
}

static unsigned children(const struct demangle_component *c,
			 const struct demangle_component *child[2])
{
	child[0] = child[1] = NULL;
	switch (c->type) {
	case DEMANGLE_COMPONENT_CTOR:
		child[0] = c->u.s_ctor.name;
		return 1;
	case DEMANGLE_COMPONENT_DTOR:
		child[0] = c->u.s_dtor.name;
		return 1;
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		child[0] = c->u.s_extended_operator.name;
		return 1;
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		child[0] = c->u.s_fixed.length;
		return 1;
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		child[0] = c->u.s_unary_num.sub;
		return 1;
	default:
		if (is_leaf(c))
			return 0;
		child[0] = c->u.s_binary.left;
		child[1] = c->u.s_binary.right;
		return 2;
	}
}

struct counted {
	const struct demangle_component *c;
	size_t cost;
};

struct counter {
	struct counted *v;
	size_t mask, max;
};

static struct counted *find_counted(const struct counter *k, const struct demangle_component *c)
{
	size_t i = ((uintptr_t)c >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32 & k->mask;

	while (k->v[i].c && k->v[i].c != c)
		i = (i + 1) & k->mask;
	return &k->v[i];
}

/*
 * Counts the nodes of the tree that is printed, up to max, including those behind substitutions at
 * each use. The pattern of a pack expansion is counted once more, because libiberty first searches
 * it for the pack without printing. The recursion depth is bounded by the length of the name, which
 * libiberty limits.
 */
static size_t count(const struct counter *k, const struct demangle_component *c)
{
	const struct demangle_component *child[2];
	struct counted *known = find_counted(k, c);
	size_t cost = 1;

	if (known->c)
		return known->cost;
	children(c, child);
	for (int i = 0; i < 2; i++)
		if (child[i])
			cost += count(k, child[i]);
	if (c->type == DEMANGLE_COMPONENT_PACK_EXPANSION)
		cost *= 2;
	if (cost > k->max)
		cost = k->max;
	*find_counted(k, c) = (struct counted){c, cost}; /* the slot may have moved */
	return cost;
}

static bool affordable(const struct demangle_component *tree, const char *name)
{
	struct counter k = {.mask = 64, .max = growth_max(name)};
	bool ok;

	while (k.mask < 4 * strlen(name)) /* at most two nodes per byte */
		k.mask *= 2;
	k.v = calloc(k.mask, sizeof(*k.v));
	k.mask--;
	ok = k.v && count(&k, tree) < k.max;
	free(k.v);
	return ok;
}

/* Number of back references after the first pack expansion ("Dp", or "sp" in expressions). */
static unsigned references_in_packs(const char *name)
{
	static const char base36[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned n = 0;
	bool pack = false;

	for (const char *p = name; *p; p++) {
		pack |= p[1] == 'p' && (*p == 'D' || *p == 's');
		if (pack && (*p == 'S' || *p == 'T') && p[1 + strspn(p + 1, base36)] == '_')
			n++;
	}
	return n;
}

/* For some names ("sr") cplus_demangle_v3_components builds no tree, while
 * cplus_demangle_v3_callback, which parses them twice, succeeds. These are accepted if they cannot
 * expand much. */
static bool itanium_affordable(const char *name)
{
	struct demangle_component *tree;
	void *mem = NULL;
	bool ok;

	if (strlen(name) > ITANIUM_MAX)
		return false;
	tree = cplus_demangle_v3_components(name, DMGL_PARAMS | DMGL_ANSI, &mem);
	ok = tree ? affordable(tree, name) : references_in_packs(name) <= BLIND_REFERENCES_MAX;
	free(mem);
	return ok;
}

/* gcc's clones (".isra.0", ".cold") are printed as by llvm: "f() (.isra.0)". */
static char *demangle_itanium(const char *name, int options)
{
	const char *dot = strchr(name, '.');
	char *base = dot ? strndup(name, (size_t)(dot - name)) : NULL;
	char *text, *whole;

	if (dot && !base)
		return NULL;
	text = itanium_affordable(dot ? base : name)
		       ? demangle_with(cplus_demangle_v3_callback, dot ? base : name,
				       DMGL_ANSI | options)
		       : NULL;
	free(base);
	if (!text || !dot)
		return text;
	whole = malloc(strlen(text) + strlen(dot) + 4);
	if (whole)
		stpcpy(stpcpy(stpcpy(stpcpy(whole, text), " ("), dot), ")");
	free(text);
	return whole;
}

/* A binder ("FG", "DG", base 62, "_") gives a number of lifetimes, and libiberty iterates over them
 * even when it prints nothing. rustc writes few. An identifier may look like a binder
 * ("3CFG11push_x"), as in 5 of the 40,000 functions of rustc; such names stay mangled. */
static bool binds_too_much(const char *name)
{
	for (const char *p = name; (p = strchr(p, 'G')); p++) {
		size_t n = 1;

		while (isalnum((unsigned char)p[n]))
			n++;
		if (p > name && (p[-1] == 'F' || p[-1] == 'D') && n > 3 && p[n] == '_')
			return true;
	}
	return false;
}

bool demangle_is_mangled(const char *name)
{
	return itanium_start(name) ||
	       (name[0] == '_' && name[1] == 'R' &&
		(isupper((unsigned char)name[2]) || isdigit((unsigned char)name[2])));
}

static char *demangle_as(const char *name, int options)
{
	const char *itanium = itanium_start(name);
	char *text = NULL;

	if (name[0] != '_' || strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	/* legacy Rust names look like C++ */
	if (itanium || (name[1] == 'R' && !binds_too_much(name)))
		text = demangle_with(rust_demangle_callback, itanium ? itanium : name, 0);
	if (!text && itanium)
		text = demangle_itanium(itanium, options);
	return text;
}

char *demangle(const char *name)
{
	return demangle_as(name, DMGL_PARAMS);
}

char *demangle_scope(const char *name)
{
	return demangle_as(name, DMGL_PARAMS | DMGL_RET_DROP);
}

char *demangle_function(const char *name)
{
	return demangle_as(name, DMGL_RET_DROP);
}

const char *demangle_variant(const char *name)
{
	static const char *const of_dtor[] = {[gnu_v3_deleting_dtor] = " [deleting]",
					      [gnu_v3_base_object_dtor] = " [base]",
					      [gnu_v3_unified_dtor] = " [unified]"};
	static const char *const of_ctor[] = {[gnu_v3_base_object_ctor] = " [base]",
					      [gnu_v3_complete_object_allocating_ctor] =
						      " [allocating]",
					      [gnu_v3_unified_ctor] = " [unified]"};
	const char *symbol = itanium_start(name), *text = NULL;
	unsigned dtor, ctor;

	if (!symbol || strlen(symbol) > ITANIUM_MAX)
		return "";
	dtor = is_gnu_v3_mangled_dtor(symbol);
	ctor = dtor ? 0 : is_gnu_v3_mangled_ctor(symbol);
	if (dtor < sizeof(of_dtor) / sizeof(*of_dtor))
		text = of_dtor[dtor];
	if (!dtor && ctor < sizeof(of_ctor) / sizeof(*of_ctor))
		text = of_ctor[ctor];
	return text ?: "";
}
