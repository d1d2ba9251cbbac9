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
	if (scope)
		last = scope + 2;
	while (isalnum((unsigned char)last[len]) || last[len] == '_')
		len++;
	if (!last[len] && len < sizeof(p->part) && strncmp(last, "operator", 8))
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

bool func_pattern_matches(const struct func_pattern *p, const char *symbol)
{
	if (is_match(p, symbol))
		return true;
	return p->scoped && demangle_is_mangled(symbol) && strstr(symbol, p->part) &&
	       is_written_so(p, symbol);
}
