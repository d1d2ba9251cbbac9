/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/sample_filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/base/name_short.h"
#include "analyze/load/patterns.h"

static void regex_free(regex_t *re)
{
	if (re)
		regfree(re);
	free(re);
}

void sample_filter_fini(struct sample_filter *f)
{
	regex_free(f->focus);
	regex_free(f->ignore);
	f->focus = f->ignore = NULL;
}

int sample_filter_compile(regex_t **re, const char *text, char *why, size_t sz)
{
	regex_t *made = malloc(sizeof(*made));
	int err = made ? regcomp(made, text, REG_EXTENDED | REG_NOSUB) : 0;

	if (!made)
		return -ENOMEM;
	if (err) {
		regerror(err, made, why, sz);
		free(made);
		return -EINVAL;
	}
	regex_free(*re);
	*re = made;
	return 0;
}

bool sample_filter_by_thread(const struct sample_filter *f)
{
	return f->pid || f->comm || f->thread || f->exe || f->cgroup;
}

bool sample_filter_by_stack(const struct sample_filter *f)
{
	return f->focus || f->ignore || f->callers || f->callees;
}

bool sample_filter_any(const struct sample_filter *f)
{
	return sample_filter_by_thread(f) || sample_filter_by_stack(f);
}

void sample_filter_text(const struct sample_filter *f, struct strbuf *b)
{
	const struct {
		const char *option, *value;
	} all[] = {{"pid", f->pid},
		   {"comm", f->comm},
		   {"thread", f->thread},
		   {"exe", f->exe},
		   {"cgroup", f->cgroup},
		   {"focus", f->focus_text},
		   {"ignore", f->ignore_text},
		   {"callers", f->callers},
		   {"callees", f->callees}};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].value)
			strbuf_addf(b, "%s--%s %s", b->len ? " " : "", all[i].option, all[i].value);
}

/* ---- threads ---- */

static bool number_in(const char *list, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	return patterns_match(list, span_of(text));
}

/* A path in the list, or one above it. */
static bool path_in(const char *list, const char *path)
{
	size_t len = path ? strlen(path) : 0;

	if (patterns_match_name(list, span_of(path)))
		return true;
	while (len && path[--len] != '/')
		;
	for (; len; len--)
		if (path[len] == '/' && patterns_match_name(list, (struct span){path, len}))
			return true;
	return false;
}

bool sample_filter_wants_thread(const struct sample_filter *f, const struct thread_facts *t)
{
	return (!f->pid || number_in(f->pid, t->pid)) &&
	       patterns_match(f->comm, span_of(t->process)) &&
	       (!f->thread || patterns_match(f->thread, span_of(t->comm)) ||
		number_in(f->thread, t->tid)) &&
	       patterns_match_name(f->exe, span_of(t->exe)) &&
	       (!f->cgroup || path_in(f->cgroup, t->cgroup));
}

/* ---- functions ---- */

/* The name itself, its short form, or either without parameters. */
static bool is_function(const char *pattern, const char *name)
{
	struct strbuf b = {0};
	bool found = !strcmp(pattern, name) || !fnmatch(pattern, name, 0);

	for (int is_short = 0; is_short < 2 && !found; is_short++) {
		size_t len;

		b.len = 0;
		if (is_short)
			name_short(&b, span_of(name));
		else
			strbuf_add(&b, name, strlen(name));
		if (b.failed || !b.len)
			break;
		found = !fnmatch(pattern, b.p, 0);
		len = 1 + strcspn(b.p + 1, "(");
		if (len < b.len)
			b.p[b.len = len] = 0;
		found |= !fnmatch(pattern, b.p, 0);
	}
	strbuf_fini(&b);
	return found;
}

unsigned sample_filter_name(const struct sample_filter *f, const char *name)
{
	unsigned met = 0;

	if (f->focus && !regexec(f->focus, name, 0, NULL, 0))
		met |= NAME_FOCUS;
	if (f->ignore && !regexec(f->ignore, name, 0, NULL, 0))
		met |= NAME_IGNORE;
	if (f->callers && is_function(f->callers, name))
		met |= NAME_CALLERS;
	if (f->callees && is_function(f->callees, name))
		met |= NAME_CALLEES;
	return met;
}

/* The outermost function of v[from..to) that meets a condition; `to`: none. Of recursive calls that
 * is the first one made. */
static uint32_t outermost(const uint8_t *v, uint32_t from, uint32_t to, unsigned condition)
{
	for (uint32_t i = to; i-- > from;)
		if (v[i] & condition)
			return i;
	return to;
}

struct stack_cut sample_filter_cut(const struct sample_filter *f, const uint8_t *names,
				   uint32_t cnt)
{
	static const struct stack_cut dropped = {.drop = true};
	uint32_t first = 0, end = cnt, at;
	unsigned all = 0;

	for (uint32_t i = 0; i < cnt; i++)
		all |= names[i];
	if ((f->focus && !(all & NAME_FOCUS)) || all & NAME_IGNORE)
		return dropped;
	if (f->callees) {
		at = outermost(names, first, end, NAME_CALLEES);
		if (at == end)
			return dropped;
		end = at + 1;
	}
	if (f->callers) {
		at = outermost(names, first, end, NAME_CALLERS);
		if (at == end)
			return dropped;
		first = at;
	}
	return (struct stack_cut){.first = first, .cnt = end - first};
}
