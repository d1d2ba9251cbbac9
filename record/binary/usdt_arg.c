/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "record/binary/usdt_arg.h"

struct text {
	const char *at, *end;
};

static bool take(struct text *t, char c)
{
	if (t->at == t->end || *t->at != c)
		return false;
	t->at++;
	return true;
}

/* Decimal or 0x..., or negative. */
static bool take_number(struct text *t, __s64 *to)
{
	bool negative = take(t, '-');
	unsigned base = 10;
	uint64_t v = 0;
	size_t digits = 0;

	if (t->end - t->at > 2 && t->at[0] == '0' && (t->at[1] | 32) == 'x') {
		base = 16;
		t->at += 2;
	}
	for (; t->at < t->end; t->at++, digits++) {
		char c = *t->at | 32;
		unsigned digit = c >= '0' && c <= '9'	? c - '0'
				 : c >= 'a' && c <= 'f' ? c - 'a' + 10
							: 16;

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	*to = negative ? -v : v;
	return digits && digits <= 20;
}

struct reg {
	const char *name[4]; /* of 8, 4, 2, 1 bytes */
	uint8_t word;
};

/* arch/x86/include/asm/ptrace.h */
static const struct reg x86_regs[] = {
	{{"r15", "r15d", "r15w", "r15b"}, 0}, {{"r14", "r14d", "r14w", "r14b"}, 1},
	{{"r13", "r13d", "r13w", "r13b"}, 2}, {{"r12", "r12d", "r12w", "r12b"}, 3},
	{{"rbp", "ebp", "bp", "bpl"}, 4},     {{"rbx", "ebx", "bx", "bl"}, 5},
	{{"r11", "r11d", "r11w", "r11b"}, 6}, {{"r10", "r10d", "r10w", "r10b"}, 7},
	{{"r9", "r9d", "r9w", "r9b"}, 8},     {{"r8", "r8d", "r8w", "r8b"}, 9},
	{{"rax", "eax", "ax", "al"}, 10},     {{"rcx", "ecx", "cx", "cl"}, 11},
	{{"rdx", "edx", "dx", "dl"}, 12},     {{"rsi", "esi", "si", "sil"}, 13},
	{{"rdi", "edi", "di", "dil"}, 14},    {{"rip", "eip", "", ""}, 16},
	{{"rsp", "esp", "sp", "spl"}, 19},
};

static bool x86_reg(struct text *t, uint8_t *reg)
{
	const char *from;
	size_t len;

	if (!take(t, '%'))
		return false;
	for (from = t->at; t->at < t->end && isalnum((unsigned char)*t->at);)
		t->at++;
	len = t->at - from;
	for (size_t i = 0; i < sizeof(x86_regs) / sizeof(*x86_regs); i++)
		for (size_t n = 0; n < 4; n++)
			if (len && strlen(x86_regs[i].name[n]) == len &&
			    !memcmp(x86_regs[i].name[n], from, len)) {
				*reg = x86_regs[i].word;
				return true;
			}
	return false;
}

/* What is before the parenthesis: a number, a symbol, or both in any order, joined by + or -. */
static bool x86_displacement(struct text *t, const struct usdt_symbols *symbols, __s64 *to,
			     bool *symbol)
{
	*to = 0;
	*symbol = false;
	while (t->at < t->end && *t->at != '(') {
		__s64 number;
		uint64_t address;
		const char *from;

		if (isdigit((unsigned char)*t->at) || *t->at == '-') {
			if (!take_number(t, &number))
				return false;
			*to = (uint64_t)*to + number;
			continue;
		}
		take(t, '+');
		if (t->at < t->end && isdigit((unsigned char)*t->at))
			continue;
		for (from = t->at; t->at < t->end && !strchr("+-(", *t->at);)
			t->at++;
		if (*symbol || t->at == from || !symbols || !symbols->find ||
		    !symbols->find(symbols->ctx, from, t->at - from, &address))
			return false;
		*to = (uint64_t)*to + address - symbols->pc;
		*symbol = true;
	}
	return true;
}

/* $5, %eax, -8(%rbp), (%rax,%rdx,8), 4+name(%rip) */
static bool x86_operand(struct text *t, const struct usdt_symbols *symbols, struct usdt_arg *a)
{
	bool symbol;
	__s64 scale = 1;

	if (take(t, '$')) {
		a->kind = USDT_CONST;
		return take_number(t, &a->value);
	}
	if (t->at < t->end && *t->at == '%') {
		a->kind = USDT_REG;
		return x86_reg(t, &a->reg);
	}
	a->kind = USDT_MEM;
	if (!x86_displacement(t, symbols, &a->value, &symbol) || !take(t, '('))
		return false;
	if (t->at < t->end && *t->at == '%' && !x86_reg(t, &a->reg))
		return false;
	if (take(t, ',') && !x86_reg(t, &a->index))
		return false;
	if (take(t, ',') && !take_number(t, &scale))
		return false;
	while (scale > 1 && a->shift < 3) {
		if (scale & 1)
			return false;
		scale >>= 1;
		a->shift++;
	}
	/* A symbol is known relative to the probe only. */
	return scale == 1 && take(t, ')') && symbol == (a->reg == 16) &&
	       (a->reg != USDT_NO_REG || a->index != USDT_NO_REG);
}

/* x0 to x30, w0 to w30, sp */
static bool arm64_reg(struct text *t, uint8_t *reg)
{
	__s64 number;

	if (t->end - t->at >= 2 && !memcmp(t->at, "sp", 2)) {
		t->at += 2;
		*reg = 31;
		return true;
	}
	if (!take(t, 'x') && !take(t, 'w'))
		return false;
	if (t->at == t->end || !isdigit((unsigned char)*t->at) || !take_number(t, &number) ||
	    number > 30)
		return false;
	*reg = number;
	return true;
}

/* 5, x0, w1, [sp], [x29, 16], [x0, #8] */
static bool arm64_operand(struct text *t, struct usdt_arg *a)
{
	if (t->at < t->end && (isdigit((unsigned char)*t->at) || *t->at == '-')) {
		a->kind = USDT_CONST;
		return take_number(t, &a->value);
	}
	if (!take(t, '[')) {
		a->kind = USDT_REG;
		return arm64_reg(t, &a->reg);
	}
	a->kind = USDT_MEM;
	if (!arm64_reg(t, &a->reg))
		return false;
	if (take(t, ',')) {
		while (take(t, ' ') || take(t, '#'))
			;
		if (!take_number(t, &a->value))
			return false;
	}
	return take(t, ']');
}

/* Compilers write constants as signed numbers: -6 is 250 of one byte without sign. */
static __s64 of_size(__s64 value, unsigned sz, bool is_signed)
{
	unsigned unused = 64 - sz * 8;
	uint64_t high = (uint64_t)value << unused;

	return is_signed ? (__s64)high >> unused : (__s64)(high >> unused);
}

static bool parse_one(struct text *t, unsigned machine, const struct usdt_symbols *symbols,
		      struct usdt_arg *a)
{
	__s64 sz;

	if (!take_number(t, &sz) || !take(t, '@'))
		return false;
	a->is_signed = sz < 0;
	a->sz = sz < 0 ? -(uint64_t)sz & 0xff : sz & 0xff;
	if ((sz != a->sz && sz != -a->sz) || (a->sz != 1 && a->sz != 2 && a->sz != 4 && a->sz != 8))
		return false;
	if (machine == EM_X86_64 ? !x86_operand(t, symbols, a)
				 : machine != EM_AARCH64 || !arm64_operand(t, a))
		return false;
	if (a->kind == USDT_CONST)
		a->value = of_size(a->value, a->sz, a->is_signed);
	return t->at == t->end;
}

/* Arguments are separated by blanks, which may also be in brackets. */
static const char *end_of(const char *p)
{
	bool inside = false;

	for (; *p && (inside || *p != ' '); p++)
		inside = *p == '[' ? true : *p == ']' ? false : inside;
	return p;
}

size_t usdt_args_parse(const char *text, unsigned machine, const struct usdt_symbols *symbols,
		       struct usdt_arg arg[USDT_ARGS])
{
	static const struct usdt_arg unknown = {.reg = USDT_NO_REG, .index = USDT_NO_REG};
	size_t cnt = 0;

	while (cnt < USDT_ARGS) {
		struct text t;

		text += strspn(text, " ");
		if (!*text)
			break;
		t = (struct text){text, end_of(text)};
		text = t.end;
		arg[cnt] = unknown;
		if (!parse_one(&t, machine, symbols, &arg[cnt]))
			arg[cnt] = unknown;
		cnt++;
	}
	return cnt;
}
