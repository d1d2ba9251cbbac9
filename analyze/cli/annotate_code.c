/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cli/annotate_code.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/base/helper_program.h"
#include "analyze/base/index.h"
#include "analyze/symbol/function_range.h"
#include "analyze/symbol/symbol.h"
#include "format/demangle.h"
#include "format/text.h"

enum { MOST = 4 << 20 }; /* bytes of a function */

struct code {
	const struct load *l;
	const char *file;
	struct code_range **ranges;
	size_t cnt, cap;
	/* the binary asked for last; 0: none */
	uint32_t binary;
	char path[PATH_MAX]; /* of its code; empty: not here */
	struct function_ranges *own, *archived;
};

int code__new(struct code **out, const struct load *l, const char *file)
{
	struct code *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	c->l = l;
	c->file = file;
	return 0;
}

static void range_free(struct code_range *r)
{
	for (size_t i = 0; i < r->cnt; i++)
		free((char *)r->v[i].text);
	free(r->v);
	free(r->name);
	free(r);
}

void code__free(struct code *c)
{
	if (!c)
		return;
	function_ranges__free(c->own);
	function_ranges__free(c->archived);
	for (size_t i = 0; i < c->cnt; i++)
		range_free(c->ranges[i]);
	free(c->ranges);
	free(c);
}

/* ---- the binary ---- */

static const char *text_of(const struct code *c, uint32_t string)
{
	const char *s = strings__get(c->l->strings, string);

	return s ? s : "";
}

static struct function_ranges *open_archived(const struct code *c, const struct binary *b)
{
	const struct captures *captures = c->l->captures;
	struct debug_member *d = captures__find_debug(captures, b->origin, text_of(c, b->member),
						      text_of(c, b->build_id));

	return d ? function_ranges__open(captures__open_debug(captures, b->origin, d)) : NULL;
}

static void open_binary(struct code *c, uint32_t binary)
{
	const struct binary *b = binaries__get(c->l->binaries, binary);
	const char *path = c->file ? c->file : text_of(c, b->path), *why;

	function_ranges__free(c->own);
	function_ranges__free(c->archived);
	c->own = c->archived = NULL;
	c->binary = binary;
	c->path[0] = 0;
	if (b->type != BINARY_ELF)
		return;
	c->own = function_ranges__open_path(path);
	why = function_ranges__refused(c->own, text_of(c, b->build_id));
	if (why) {
		message_warn("annotate: %s: no instructions: %s", path, why);
		return;
	}
	snprintf(c->path, sizeof(c->path), "%s", path);
	c->archived = open_archived(c, b);
}

/* ---- its instructions ---- */

/* "  401126:\tpush   %rbp" */
static int add_instruction(struct code_range *r, char *line)
{
	char *end, *text;
	uint64_t address = strtoull(line, &end, 16);

	if (end == line || strncmp(end, ":\t", 2) || address < r->lo || address >= r->hi ||
	    (r->cnt && address <= r->v[r->cnt - 1].address))
		return 0;
	text = end + 2;
	text[strcspn(text, "\n")] = 0;
	for (char *p = text; (p = strchr(p, '\t'));)
		*p = ' ';
	if (array_reserve(&r->v, &r->cap, r->cnt + 1))
		return -ENOMEM;
	text = strdup(text);
	if (!text)
		return -ENOMEM;
	r->v[r->cnt++] = (struct instruction){address, text};
	return 0;
}

static int disassemble(struct code_range *r, const char *path)
{
	char from[40], to[40], *line = NULL;
	char *argv[] = {"objdump", "-dwC", "--no-show-raw-insn", from,
			to,	   "--",   (char *)path,	 NULL};
	size_t sz = 0;
	int fd, err = 0;
	pid_t pid;
	FILE *in;

	snprintf(from, sizeof(from), "--start-address=%#llx", (unsigned long long)r->lo);
	snprintf(to, sizeof(to), "--stop-address=%#llx", (unsigned long long)r->hi);
	pid = helper_start(argv, &fd);
	if (pid < 0) {
		message_warn("annotate: instructions need objdump (binutils)");
		return 0;
	}
	in = fdopen(fd, "r");
	while (in && !err && getline(&line, &sz, in) >= 0)
		err = add_instruction(r, line);
	if (in)
		fclose(in);
	else
		close(fd);
	free(line);
	if ((!helper_end(pid) || !r->cnt) && !err)
		message_warn("annotate: %s: objdump does not disassemble it", path);
	return err;
}

static struct code_range *known(const struct code *c, uint32_t binary, uint64_t address)
{
	for (size_t i = c->cnt; i-- > 0;) {
		struct code_range *r = c->ranges[i];

		if (r->binary == binary && address >= r->lo && address < r->hi)
			return r;
	}
	return NULL;
}

const struct code_range *code__find(struct code *c, uint32_t binary, uint64_t address)
{
	struct code_range *r = known(c, binary, address);
	struct function_range f;

	if (r)
		return r;
	if (c->binary != binary)
		open_binary(c, binary);
	r = calloc(1, sizeof(*r));
	if (!r || array_reserve(&c->ranges, &c->cap, c->cnt + 1)) {
		free(r);
		return NULL;
	}
	c->ranges[c->cnt++] = r;
	*r = (struct code_range){.binary = binary, .lo = address, .hi = address + 1};
	if (!*c->path ||
	    (!function_ranges__find(c->own, address, &f) &&
	     !function_ranges__find(c->archived, address, &f)) ||
	    f.hi - f.lo > MOST)
		return r;
	r->lo = f.lo;
	r->hi = f.hi;
	r->name = demangle(f.name);
	if (!r->name)
		r->name = strdup(f.name);
	return disassemble(r, c->path) ? NULL : r;
}

size_t code_range__at(const struct code_range *r, uint64_t address)
{
	size_t i = 0;

	while (i + 1 < r->cnt && r->v[i + 1].address <= address)
		i++;
	return i;
}
