/* SPDX-License-Identifier: BSD-2-Clause */
/* C++ and Rust names by libiberty, in the form that llvm-symbolizer prints where the two differ
 * simply. */
#include "symbol.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* Substitutions let a short hostile name expand without end; real ones stay well below these. */
enum { MANGLED_MAX = 32 << 10, DEMANGLED_MAX = 256 << 10 };

struct sink {
	char *p;
	size_t len, cap;
	jmp_buf too_long;
};

/* The demanglers keep their state on the stack and give their callback no way to stop them, hence
 * the jump. */
static void take(const char *s, size_t len, void *arg)
{
	struct sink *k = arg;

	if (len > DEMANGLED_MAX - k->len)
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
	if (!setjmp(k->too_long) && fn(name, options, take, k) && k->len) {
		text = k->p;
		k->p = NULL;
	}
	free(k->p);
	free(k);
	return text;
}

/* "_Z", or up to four underscores as some assemblers prepend one. */
static const char *itanium_start(const char *name)
{
	size_t n = strspn(name, "_");

	return n >= 1 && n <= 4 && name[n] == 'Z' ? name + n - 1 : NULL;
}

/* gcc's clones (".isra.0", ".cold") are shown as llvm does: "f() (.isra.0)". */
static char *demangle_itanium(const char *name)
{
	const char *dot = strchr(name, '.');
	char *base = dot ? strndup(name, (size_t)(dot - name)) : NULL;
	char *text, *whole;

	if (dot && !base)
		return NULL;
	text = demangle_with(cplus_demangle_v3_callback, dot ? base : name,
			     DMGL_PARAMS | DMGL_ANSI);
	free(base);
	if (!text || !dot)
		return text;
	whole = malloc(strlen(text) + strlen(dot) + 4);
	if (whole)
		stpcpy(stpcpy(stpcpy(stpcpy(whole, text), " ("), dot), ")");
	free(text);
	return whole;
}

char *symbol_demangle(const char *name)
{
	const char *itanium = itanium_start(name);
	char *text = NULL;

	if (name[0] != '_' || strnlen(name, MANGLED_MAX + 1) > MANGLED_MAX)
		return NULL;
	if (itanium || name[1] == 'R') /* legacy Rust names look like C++ */
		text = demangle_with(rust_demangle_callback, itanium ? itanium : name, 0);
	if (!text && itanium)
		text = demangle_itanium(itanium);
	return text;
}
