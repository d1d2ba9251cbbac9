/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/binary/func_pattern.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "format/demangle.h"

void func_pattern_init(struct func_pattern *p, const char *text)
{
	const char *scope = NULL, *last = text;
	size_t len = 0;

	for (const char *s = text; (s = strstr(s, "::")); s += 2)
		scope = s;
	*p = (struct func_pattern){.text = text, .exact = !strpbrk(text, "*?[\\"), .scoped = scope};
	p->typed = strpbrk(text, "(<") || !strncmp(text, "operator", 8);
	if (scope)
		last = scope + 2;
	while (isalnum((unsigned char)last[len]) || last[len] == '_')
		len++;
	if ((!last[len] || last[len] == '(' || last[len] == '<') && len < sizeof(p->part) &&
	    strncmp(last, "operator", 8))
		memcpy(p->part, last, len);
}

static bool is_match(const struct func_pattern *p, const char *name)
{
	return p->exact ? !strcmp(p->text, name) : !fnmatch(p->text, name, 0);
}

static bool ends_with(const char *from, const char *end, const char *what)
{
	size_t len = strlen(what);

	return (size_t)(end - from) >= len && !memcmp(end - len, what, len);
}

/* Returns what is behind the bracket that closes the one at s. */
static const char *behind_bracket(const char *s)
{
	int depth = 0;

	for (; *s; s++) {
		depth += *s == '<';
		depth -= *s == '>' && s[-1] != '-'; /* not of "->" */
		if (!depth)
			return s + 1;
	}
	return s;
}

/*
 * Removes template arguments, in place: "f<int>", and Rust's "f::<i32>". The type of a Rust method
 * remains: "<a::B>::f" and "<a::B as c::D>::f" become "a::B::f".
 */
static void remove_arguments(char *name)
{
	const char *s = name, *type_end = NULL;
	char *to = name;

	if (*s == '<') {
		type_end = behind_bracket(s);
		s++;
	}
	while (*s) {
		if (type_end && (s + 1 == type_end || !strncmp(s, " as ", 4))) {
			s = type_end;
			type_end = NULL;
		} else if (*s == '<' && !ends_with(name, to, "operator") &&
			   !ends_with(name, to, "operator<")) {
			s = behind_bracket(s);
			if (ends_with(name, to, "::"))
				to -= 2;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static bool is_written_so(const struct func_pattern *p, const char *symbol)
{
	char *name = demangle_function(symbol);
	bool is = name && is_match(p, name);

	if (name && !is) {
		remove_arguments(name);
		is = is_match(p, name);
	}
	free(name);
	if (!is && strchr(p->text, '(')) {
		name = demangle_scope(symbol);
		is = name && is_match(p, name);
		free(name);
	}
	return is;
}

/* Of a C++ function of no namespace or class: _Z4evexi. Returns the length of the identifier. */
static size_t global_name(const char *symbol, const char **name)
{
	size_t len = 0;

	if (strncmp(symbol, "_Z", 2))
		return 0;
	symbol += symbol[2] == 'L' ? 3 : 2; /* static */
	for (; isdigit((unsigned char)*symbol) && len < 4096; symbol++)
		len = len * 10 + (*symbol - '0');
	*name = symbol;
	return strnlen(symbol, len) == len ? len : 0;
}

static bool matches_global(const struct func_pattern *p, const char *symbol)
{
	const char *from;
	char name[256];
	size_t len = global_name(symbol, &from);

	if (p->typed)
		return (len || !strncmp(p->text, "operator", 8)) && is_written_so(p, symbol);
	if (!len || len >= sizeof(name))
		return false;
	memcpy(name, from, len);
	name[len] = 0;
	return is_match(p, name);
}

static bool matches(const struct func_pattern *p, const char *symbol)
{
	if (is_match(p, symbol))
		return true;
	if (!demangle_is_mangled(symbol) || !strstr(symbol, p->part))
		return false;
	return p->scoped ? is_written_so(p, symbol) : matches_global(p, symbol);
}

/* What compilers append to the names of copies that they have adapted; NULL. */
static const char *clone_suffix(const char *symbol)
{
	static const char *const suffixes[] = {".constprop.", ".isra.", ".part.", ".lto_priv.",
					       ".llvm."};
	const char *first = NULL;

	for (size_t i = 0; strchr(symbol, '.') && i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const char *s = strstr(symbol, suffixes[i]);

		if (s && (!first || s < first))
			first = s;
	}
	return first;
}

bool func_pattern_matches(const struct func_pattern *p, const char *symbol)
{
	const char *suffix = clone_suffix(symbol);
	char name[1024];

	if (matches(p, symbol))
		return true;
	if (!suffix || (size_t)(suffix - symbol) >= sizeof(name))
		return false;
	memcpy(name, symbol, suffix - symbol);
	name[suffix - symbol] = 0;
	return matches(p, name);
}
