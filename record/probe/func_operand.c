/* SPDX-License-Identifier: BSD-2-Clause */
/* What -e func:BINARY:SYMBOL[:ret][,argN:TYPE...][,ret:TYPE] and -e
 * usdt:BINARY:PROVIDER:NAME[,argN:TYPE...] name. */
#include <ctype.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "bpf/probe/func.h"
#include "bpf/probe/usdt.h"
#include "format/text.h"
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

/* argN:TYPE or ret:TYPE. The number of the argument from 0; < 0: there is none. */
static int arg_number(const char *word, const char *colon, const struct func_operand *o)
{
	unsigned number = 0, max = o->usdt ? USDT_ARGS : FUNC_ARGS;

	for (word += 3; word < colon && number <= max; word++)
		number = number * 10 + (*word - '0');
	return word == colon && number && number <= max ? (int)number - 1 : -1;
}

static const char *parse_value(const char *word, struct func_operand *to)
{
	const char *colon = strchr(word, ':');
	unsigned type;
	int at = FUNC_RESULT;

	if (!colon || !func_operand_more(word, strlen(word)))
		return "arguments and results are named as arg1:TYPE and ret:TYPE";
	type = type_called(colon + 1);
	if (!type)
		return "its type is one of bool, int8, uint8, int16, uint16, int, uint, long, "
		       "ulong, "
		       "ptr, hex, str";
	if (*word == 'a')
		at = arg_number(word, colon, to);
	else if (to->usdt)
		return "USDT probes have no result";
	if (at < 0)
		return to->usdt ? "arguments are arg1 to arg12" : "arguments are arg1 to arg6";
	to->wants &= ~FUNC_WANTS(at, 15);
	to->wants |= FUNC_WANTS(at, type);
	return NULL;
}

/* The last colon that is not a part of "::"; NULL. */
static char *last_colon(char *word)
{
	for (char *c = word + strlen(word); c-- > word;) {
		if (*c != ':')
			continue;
		if (c == word || c[-1] != ':')
			return c;
		while (c > word && c[-1] == ':')
			c--;
	}
	return NULL;
}

/* BINARY:SYMBOL[:ret] */
static const char *parse_function(char *word, struct func_operand *to)
{
	char *colon = last_colon(word);

	if (colon && !strcmp(colon, ":ret") && memchr(word, ':', colon - word)) {
		*colon = 0;
		to->wants = FUNC_UNTIMED | FUNC_WANTS(FUNC_RESULT, FUNC_TYPE_INT);
		colon = last_colon(word);
	}
	if (!colon || colon == word || !colon[1])
		return "functions are named as BINARY:SYMBOL, as in libc:malloc or "
		       "/usr/sbin/nginx:ngx_http_*";
	*colon = 0;
	to->binary = word;
	to->symbol = colon + 1;
	to->kernel = !strcmp(to->binary, "kernel");
	return NULL;
}

/* BINARY:PROVIDER:NAME */
static const char *parse_usdt(char *word, struct func_operand *to)
{
	char *name = strrchr(word, ':'), *provider = name ? memrchr(word, ':', name - word) : NULL;

	if (!provider || provider == word || provider + 1 == name || !name[1])
		return "USDT probes are named as BINARY:PROVIDER:NAME, as in "
		       "python3:python:function__*";
	*provider = 0;
	to->binary = word;
	to->symbol = provider + 1;
	to->usdt = true;
	return NULL;
}

static char *next_word(char **list)
{
	char *word = *list, *end = word ? word + text_word_len(word) : NULL;

	if (word)
		*list = *end ? end + 1 : NULL;
	if (word)
		*end = 0;
	return word;
}

const char *func_operand_parse(const char *word, struct func_operand *to)
{
	static const char usdt[] = FUNC_OPERAND_USDT ":";
	char *values, *first, *next;
	const char *why;

	memset(to, 0, sizeof(*to));
	snprintf(to->text, sizeof(to->text), "%s", word);
	values = to->text;
	first = next_word(&values);
	if (!strncmp(first, usdt, sizeof(usdt) - 1))
		why = parse_usdt(first + sizeof(usdt) - 1, to);
	else
		why = parse_function(first, to);
	while (!why && (next = next_word(&values)))
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

/* .11 */
static bool is_version(const char *s)
{
	return s[0] == '.' && isdigit((unsigned char)s[1]) && !s[strspn(s, ".0123456789")];
}

/* libc stands for libc.so.6 and libc-2.31.so too, python3 for python3.11. */
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
	return !*base || !strncmp(base, ".so", 3) || is_version(base) ||
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
