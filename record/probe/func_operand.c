/* SPDX-License-Identifier: BSD-2-Clause */
/* What -e func:BINARY:SYMBOL[:ret][,argN:TYPE...][,ret:TYPE] names. */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "bpf/probe/func.h"
#include "record/probe/func_operand.h"

static const char *const types[] = {
#define X(name, text) [FUNC_TYPE_##name] = text,
	FUNC_TYPES(X)
#undef X
};

static unsigned type_called(const char *word)
{
	if (!strcmp(word, "hex"))
		return FUNC_TYPE_PTR;
	for (unsigned i = 1; i < FUNC_TYPE_CNT; i++)
		if (!strcmp(word, types[i]))
			return i;
	return FUNC_TYPE_NONE;
}

bool func_operand_more(const char *word, size_t len)
{
	size_t digits = 0;

	if (len >= 4 && !memcmp(word, "ret:", 4))
		return true;
	if (len < 3 || memcmp(word, "arg", 3))
		return false;
	while (3 + digits < len && isdigit((unsigned char)word[3 + digits]))
		digits++;
	return digits && 3 + digits < len && word[3 + digits] == ':';
}

/* argN:TYPE or ret:TYPE. */
static const char *parse_value(const char *word, struct func_operand *to)
{
	const char *colon = strchr(word, ':');
	unsigned type, at = FUNC_RESULT;

	if (!colon || !func_operand_more(word, strlen(word)))
		return "arguments and results are named as arg1:TYPE and ret:TYPE";
	type = type_called(colon + 1);
	if (!type)
		return "its type is one of int, uint, long, ulong, ptr, hex, str";
	if (*word == 'a' && (word[3] < '1' || word[3] > '0' + FUNC_ARGS || word + 4 != colon))
		return "arguments are arg1 to arg6";
	if (*word == 'a')
		at = word[3] - '1';
	to->wants &= ~FUNC_WANTS(at, 15);
	to->wants |= FUNC_WANTS(at, type);
	return NULL;
}

const char *func_operand_parse(const char *word, struct func_operand *to)
{
	static const char form[] = "functions are named as BINARY:SYMBOL, as in libc:malloc or "
				   "/usr/sbin/nginx:ngx_http_*";
	char *colon, *values, *next;
	const char *why = NULL;

	memset(to, 0, sizeof(*to));
	snprintf(to->text, sizeof(to->text), "%s", word);
	values = to->text;
	to->binary = strsep(&values, ",");
	colon = strrchr(to->binary, ':');
	if (colon && !strcmp(colon, ":ret") && memchr(to->binary, ':', colon - to->text)) {
		*colon = 0;
		to->wants = FUNC_UNTIMED | FUNC_WANTS(FUNC_RESULT, FUNC_TYPE_INT);
		colon = strrchr(to->binary, ':');
	}
	if (!colon || colon == to->binary || !colon[1])
		return form;
	*colon = 0;
	to->symbol = colon + 1;
	to->kernel = !strcmp(to->binary, "kernel");
	while (!why && (next = strsep(&values, ",")))
		why = parse_value(next, to);
	if (!why && to->wants & FUNC_UNTIMED && to->wants & FUNC_WANTS_ARGS)
		why = "arguments are read at the entry, which BINARY:SYMBOL:ret does not probe";
	return why;
}

const char *func_operand_error(const char *word)
{
	struct func_operand o;

	return func_operand_parse(word, &o);
}

/* libc stands for libc.so.6 and libc-2.31.so too. */
bool func_operand_is_named(const struct func_operand *o, const char *path)
{
	size_t len = strlen(o->binary);
	const char *base = strrchr(path, '/');

	if (o->kernel)
		return false;
	if (strchr(o->binary, '/'))
		return !strcmp(path, o->binary);
	base = base ? base + 1 : path;
	if (strncmp(base, o->binary, len))
		return false;
	base += len;
	return !*base || !strncmp(base, ".so", 3) ||
	       (*base == '-' && isdigit((unsigned char)base[1]) && strstr(base, ".so"));
}

void func_operand_describe(const struct record_opts *opts, struct json_object *to)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < opts->operand_cnt; i++)
		json_object_array_add(list, json_object_new_string(opts->operand[i]));
	if (opts->operand_cnt)
		json_object_object_add(to, "functions", list);
	else
		json_object_put(list);
}
