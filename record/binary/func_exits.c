/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "record/binary/func_exits.h"
#include "record/binary/x86_insn.h"

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool func_starts_have(const struct func_starts *starts, uint64_t address)
{
	return starts->cnt &&
	       bsearch(&address, starts->at, starts->cnt, sizeof(address), by_number);
}

#if defined(__x86_64__)

bool func_exits_possible(void)
{
	return true;
}

struct scan {
	const struct func_code *part;
	size_t part_cnt;
	uint64_t skip;
	const struct func_starts *starts;
	struct func_exits *to;
	bool returns;	/* this pass: returns, else jumps */
	bool after_add; /* the preceding instruction adds two registers, as before the jump of a
			 * switch */
};

static bool is_inside(const struct scan *s, uint64_t address)
{
	for (size_t i = 0; i < s->part_cnt; i++)
		if (address - s->part[i].address < s->part[i].size)
			return true;
	return false;
}

static bool add(struct scan *s, uint64_t address, bool is_return)
{
	struct func_exits *to = s->to;

	if (is_return != s->returns)
		return true;
	if (to->returns + to->jumps >= FUNC_EXITS_MAX)
		return false;
	to->at[to->returns + to->jumps] = address;
	*(is_return ? &to->returns : &to->jumps) += 1;
	return true;
}

static int64_t relative(const uint8_t *p, size_t len, size_t sz)
{
	int8_t near = p[len - 1];
	int32_t far = near;

	if (sz == 4)
		memcpy(&far, p + len - 4, sizeof(far));
	return far;
}

static void note_beyond(struct func_exits *to, uint64_t address)
{
	for (uint32_t i = 0; i < to->beyond_cnt; i++)
		if (to->beyond[i] == address)
			return;
	if (to->beyond_cnt < FUNC_BEYOND_MAX)
		to->beyond[to->beyond_cnt++] = address;
}

static bool add_if(struct scan *s, uint64_t address, uint8_t opcode)
{
	struct func_exits *to = s->to;

	if (s->returns)
		return true;
	if (to->ifs == FUNC_IFS_MAX)
		return false;
	to->if_at[to->ifs] = address;
	to->if_opcode[to->ifs++] = opcode;
	return true;
}

/* opcode: of a conditional jump; 0: of any other. Compilers make a loop of a function that ends in
 * itself. */
static bool jump(struct scan *s, uint64_t address, uint64_t to, uint8_t opcode)
{
	if (to == s->part[0].address && !s->part[0].again)
		s->to->loops = true;
	if (to > s->part[0].address && to - s->part[0].address <= s->skip)
		s->to->restarts = true;
	if (is_inside(s, to))
		return true;
	if (opcode && func_starts_have(s->starts, to))
		return add_if(s, address, opcode);
	if (opcode) {
		note_beyond(s->to, to);
		return true;
	}
	return add(s, address, false);
}

/* ff /4. A switch jumps through a table without a base, or to a sum, or is marked as not being
 * checked (notrack). */
static bool indirect(struct scan *s, uint64_t address, const uint8_t *p, size_t left, bool notrack)
{
	bool table = left > 2 && p[1] == 0x24 && (p[2] & 7) == 5;

	return table || notrack || s->after_add ? true : add(s, address, false);
}

static bool is_add(const uint8_t *p, size_t left)
{
	return left > 2 && (p[0] & 0xf8) == 0x48 && (p[1] == 0x01 || p[1] == 0x03) && p[2] >= 0xc0;
}

/* An instruction of n bytes. */
static bool look(struct scan *s, uint64_t address, const uint8_t *p, size_t n)
{
	uint64_t next = address + n;
	bool notrack = false;
	size_t at = 0;

	for (; at < n && (p[at] == 0xf2 || p[at] == 0xf3 || p[at] == 0x3e || p[at] == 0x2e); at++)
		notrack |= p[at] == 0x3e;
	if (at + 1 < n && (p[at] & 0xf0) == 0x40 && p[at + 1] == 0xff)
		at++;
	if (at >= n)
		return true;
	switch (p[at]) {
	case 0xc2:
	case 0xc3:
		return add(s, address, true);
	case 0xeb:
		return jump(s, address, next + relative(p, n, 1), 0);
	case 0xe9:
		return n >= 5 && jump(s, address, next + relative(p, n, 4), 0);
	case 0xff:
		return at + 1 >= n || (p[at + 1] >> 3 & 7) != 4 ||
		       indirect(s, address, p + at, n - at, notrack);
	case 0x0f:
		return n < 6 || (p[at + 1] & 0xf0) != 0x80 ||
		       jump(s, address, next + relative(p, n, 4),
			    at ? p[at + 1] & 0x7f : p[at + 1]);
	default:
		return (p[at] & 0xf0) != 0x70 || jump(s, address, next + relative(p, n, 1), p[at]);
	}
}

static bool scan(struct scan *s, const struct func_code *c)
{
	for (size_t at = 0, n; at < c->size; at += n) {
		n = x86_insn_len(c->bytes + at, c->size - at);
		if (!n || !look(s, c->address + at, c->bytes + at, n))
			return false;
		s->after_add = is_add(c->bytes + at, n);
	}
	return true;
}

bool func_exits_find(const struct func_code *part, size_t cnt, uint64_t skip,
		     const struct func_starts *starts, struct func_exits *to)
{
	struct scan s = {.part = part, .part_cnt = cnt, .skip = skip, .starts = starts, .to = to};
	bool ok = true;

	memset(to, 0, sizeof(*to));
	for (int pass = 0; pass < 2; pass++) {
		s.returns = !pass;
		for (size_t i = 0; i < cnt && ok; i++)
			ok = scan(&s, &part[i]);
	}
	return ok && part[0].size;
}

size_t func_exits_block(const uint8_t *code, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		const uint8_t *p = code + at;

		n = x86_insn_len(p, len - at);
		if (!n)
			return 0;
		if (p[0] == 0xc3 || p[0] == 0xc2 || p[0] == 0xeb || p[0] == 0xe9 || p[0] == 0xf4 ||
		    p[0] == 0xcc || (n == 2 && p[0] == 0x0f && p[1] == 0x0b) ||
		    (n >= 2 && p[0] == 0xff && (p[1] >> 3 & 7) == 4))
			return at + n;
	}
	return 0;
}

#else

bool func_exits_possible(void)
{
	return false;
}

size_t func_exits_block(const uint8_t *code, size_t len)
{
	return 0;
}

bool func_exits_find(const struct func_code *part, size_t cnt, uint64_t skip,
		     const struct func_starts *starts, struct func_exits *to)
{
	return false;
}

#endif
