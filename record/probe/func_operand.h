/* SPDX-License-Identifier: BSD-2-Clause */
/* What an operand of the probe func names. */
#ifndef RECORD_FUNC_OPERAND_H
#define RECORD_FUNC_OPERAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/probe/record_opts.h"

struct json_object;

struct func_operand {
	char text[RECORD_OPERAND_LEN]; /* with the parts */
	const char *binary, *symbol;
	bool kernel;	/* functions of the kernel */
	bool usdt;	/* probes; `symbol` is PROVIDER:NAME */
	uint64_t wants; /* of its functions: bpf/probe/func.h */
};

/* Operands that USDT probes name begin with it; so do words behind -e usdt: */
#define FUNC_OPERAND_USDT "usdt"
/* Returns in one line why the word is none; NULL: it is one. */
const char *func_operand_parse(const char *word, struct func_operand *to);
const char *func_operand_error(const char *word);
/* Whether the word adds to the operand before it: an argument or result. */
bool func_operand_more(const char *word, size_t len);
/* Whether a file of this path is meant. */
bool func_operand_is_named(const struct func_operand *o, const char *path);
void func_operand_describe(const struct record_opts *opts, struct json_object *to);

#endif
