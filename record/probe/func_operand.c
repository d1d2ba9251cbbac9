/* SPDX-License-Identifier: BSD-2-Clause */
/* What -e func:BINARY:SYMBOL names. */
#include <ctype.h>
#include <json-c/json.h>
#include <string.h>

#include "record/probe/func_impl.h"

const char *func_operand_symbol(const char *operand)
{
	return strrchr(operand, ':') + 1;
}

size_t func_operand_binary_len(const char *operand)
{
	return func_operand_symbol(operand) - 1 - operand;
}

const char *func_operand_error(const char *word)
{
	const char *colon = strrchr(word, ':');

	if (!colon || colon == word || !colon[1])
		return "functions are named as BINARY:SYMBOL, as in libc:malloc or "
		       "/usr/sbin/nginx:ngx_http_*";
	return NULL;
}

bool func_operand_is_kernel(const char *operand)
{
	return func_operand_binary_len(operand) == 6 && !memcmp(operand, "kernel", 6);
}

bool func_operand_any_kernel(const struct record_opts *opts)
{
	for (unsigned i = 0; i < opts->operand_cnt; i++)
		if (func_operand_is_kernel(opts->operand[i]))
			return true;
	return false;
}

/* libc stands for libc.so.6 and libc-2.31.so too. */
bool func_operand_is_named(const char *operand, const char *path)
{
	size_t len = func_operand_binary_len(operand);
	const char *base = strrchr(path, '/');

	if (memchr(operand, '/', len))
		return !strncmp(path, operand, len) && !path[len];
	base = base ? base + 1 : path;
	if (strncmp(base, operand, len))
		return false;
	base += len;
	return !*base || !strncmp(base, ".so", 3) ||
	       (*base == '-' && isdigit((unsigned char)base[1]) && strstr(base, ".so"));
}

/* Operands that a file of this path is meant by, as bits. */
uint32_t func_operands_of(const struct record_opts *opts, const char *path)
{
	uint32_t set = 0;

	for (unsigned i = 0; i < opts->operand_cnt; i++)
		if (!func_operand_is_kernel(opts->operand[i]) &&
		    func_operand_is_named(opts->operand[i], path))
			set |= 1u << i;
	return set;
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
