/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>

#include "record/binary/uprobe_place.h"
#include "record/binary/x86_insn.h"

/* arch/x86/kernel/uprobes.c: push_setup_xol_ops(), branch_setup_xol_ops() */
static bool is_imitated(const uint8_t *code, size_t len, size_t at)
{
#if defined(__x86_64__)
	uint8_t b = at < len ? code[at] : 0, next = at + 1 < len ? code[at + 1] : 0;

	return (b & 0xf8) == 0x50 || (b == 0x41 && (next & 0xf8) == 0x50) || b == 0x90 ||
	       b == 0xe9 || b == 0xeb || b == 0xe8 || (b & 0xf0) == 0x70 ||
	       (b == 0x0f && (next & 0xf0) == 0x80);
#else
	return at < len;
#endif
}

/* Returns the length of an instruction that neither moves the stack pointer nor changes the
 * arguments, so that a probe may be placed after it; 0: any other instruction. */
static size_t before_probe(const uint8_t *code, size_t len, size_t at)
{
	static const struct {
		const char *bytes;
		size_t len;
	} known[] = {
		{"\xf3\x0f\x1e\xfa", 4}, /* endbr64 */
		{"\x48\x85\xff", 3},	 /* test rdi, rdi */
		{"\x45\x31\xc0", 3},	 /* xor r8d, r8d */
		{"\x31\xc9", 2},	 /* xor ecx, ecx */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (at + known[i].len <= len && !memcmp(code + at, known[i].bytes, known[i].len))
			return known[i].len;
	return 0;
}

bool uprobe_place(const uint8_t *code, size_t len, size_t *skip)
{
	size_t at = 0, n;

	while (!is_imitated(code, len, at) && (n = before_probe(code, len, at)))
		at += n;
	*skip = is_imitated(code, len, at) ? at : 0;
	return is_imitated(code, len, at);
}

#if defined(__x86_64__)

/* Registers by number that an instruction must leave alone, as bits: rsp; of arguments rdi, rsi,
 * rdx, rcx, r8, r9. */
enum { SPARE_SP = 1 << 4 };
static const unsigned spare_arg[] = {1 << 7, 1 << 6, 1 << 2, 1 << 1, 1 << 8, 1 << 9};

/* Whether the low bits of `number` name one of the registers; extended: by the bit of REX, then one
 * of r8 to r15. */
static bool is_one_of(unsigned spare, unsigned number, bool extended)
{
	return spare >> ((number & 7) + (extended ? 8 : 0)) & 1;
}

/* Of the two-byte opcodes: those of SSE that write no general register, endbr64, nop; and those
 * that write `reg`. */
static bool is_sse(uint8_t opcode)
{
	return (opcode >= 0x10 && opcode <= 0x17) || opcode == 0x1e || opcode == 0x1f ||
	       opcode == 0x28 || opcode == 0x29 || opcode == 0x2a || opcode == 0x2e ||
	       opcode == 0x2f || (opcode >= 0x51 && opcode <= 0x6f) || opcode == 0x7f ||
	       opcode == 0xd6 || opcode == 0xef;
}

static bool writes_reg(uint8_t opcode)
{
	return (opcode & 0xf0) == 0x40 || opcode == 0xaf || opcode == 0xb6 || opcode == 0xb7 ||
	       opcode == 0xbe || opcode == 0xbf;
}

/* Whether a ModRM instruction leaves the registers alone; `to_reg`: it writes `reg`, else r/m. */
static bool spares(unsigned spare, uint8_t modrm, uint8_t rex, bool to_reg)
{
	if (to_reg)
		return !is_one_of(spare, modrm >> 3, rex & 4);
	return modrm < 0xc0 || !is_one_of(spare, modrm, rex & 1);
}

/* Whether the instruction of n bytes certainly neither branches nor changes the registers. */
static bool is_plain(const uint8_t *p, size_t n, unsigned spare)
{
	uint8_t rex = 0, op, modrm;
	size_t at = 0;

	while (at < n &&
	       (p[at] == 0x66 || p[at] == 0xf2 || p[at] == 0xf3 || p[at] == 0x64 /* fs */))
		at++;
	if (at < n && (p[at] & 0xf0) == 0x40)
		rex = p[at++];
	if (at >= n)
		return false;
	op = p[at];
	modrm = at + 1 < n ? p[at + 1] : 0;
	if (op == 0x0f) {
		op = modrm;
		return is_sse(op) ||
		       (writes_reg(op) && at + 2 < n && spares(spare, p[at + 2], rex, true));
	}
	if (op >= 0x38 && op < 0x3c) /* cmp writes nothing */
		return true;
	if (op < 0x40 && (op & 6) == 4) /* likewise, with rax and a constant */
		return true;
	if (op < 0x40 && (op & 7) < 4) /* add, or, ... */
		return spares(spare, modrm, rex, op & 2);
	if ((op & 0xf0) == 0xb0)
		return !is_one_of(spare, op, rex & 1);
	switch (op) {
	case 0x63: /* movsxd */
	case 0x69:
	case 0x6b: /* imul */
	case 0x8a:
	case 0x8b:
	case 0x8d: /* lea */
		return spares(spare, modrm, rex, true);
	case 0x84:
	case 0x85: /* test */
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		if ((modrm >> 3 & 7) == 7) /* cmp */
			return true;
		return spares(spare, modrm, rex, false);
	case 0x88:
	case 0x89:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		return spares(spare, modrm, rex, false);
	case 0xf6:
	case 0xf7: /* mul and div write rdx */
		return !(modrm & 0x20 && is_one_of(spare, 2, false)) &&
		       spares(spare, modrm, rex, false);
	case 0xc5: /* VEX, of SSE's registers */
		return at + 2 < n && is_sse(p[at + 2]);
	default:
		return op == 0x98 || (op == 0x99 && !is_one_of(spare, 2, false));
	}
}

/* sub rsp, imm8 or imm32; 0: another instruction. */
static uint32_t lowers_sp(const uint8_t *p, size_t n)
{
	uint32_t by = 0;

	if (n == 4 && !memcmp(p, "\x48\x83\xec", 3))
		by = p[3] < 0x80 ? p[3] : 0;
	else if (n == 7 && !memcmp(p, "\x48\x81\xec", 3))
		memcpy(&by, p + 3, sizeof(by));
	return by % 8 || by >= 1 << 20 ? 0 : by;
}

bool uprobe_place_deep(const uint8_t *code, size_t len, size_t *skip, uint32_t *below)
{
	size_t at = 0, n;

	*skip = *below = 0;
	for (uint32_t by = 0, more; at < len; at += n, by += more) {
		if (is_imitated(code, len, at)) {
			*skip = at;
			*below = by;
			return true;
		}
		n = x86_insn_len(code + at, len - at);
		more = n ? lowers_sp(code + at, n) : 0;
		if (!n || (!more && !is_plain(code + at, n, SPARE_SP)))
			return false;
	}
	return false;
}

bool uprobe_place_args(const uint8_t *code, size_t len, unsigned args, size_t *skip)
{
	unsigned spare = SPARE_SP;

	*skip = 0;
	for (unsigned i = 0; i < args && i < sizeof(spare_arg) / sizeof(*spare_arg); i++)
		spare |= spare_arg[i];
	for (size_t at = 0, n; at < len; at += n) {
		if (is_imitated(code, len, at)) {
			*skip = at;
			return true;
		}
		n = x86_insn_len(code + at, len - at);
		if (!n || !is_plain(code + at, n, spare))
			return false;
	}
	return false;
}

#else

bool uprobe_place_args(const uint8_t *code, size_t len, unsigned args, size_t *skip)
{
	return uprobe_place(code, len, skip);
}

bool uprobe_place_deep(const uint8_t *code, size_t len, size_t *skip, uint32_t *below)
{
	*below = 0;
	return uprobe_place(code, len, skip);
}

#endif

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void uprobe_place_sort(uint64_t *patched, size_t cnt)
{
	if (cnt)
		qsort(patched, cnt, sizeof(*patched), by_offset);
}

void uprobe_place_patch(uint8_t *code, size_t len, uint64_t at, const uint64_t *patched, size_t cnt)
{
#if defined(__x86_64__)
	static const uint8_t breakpoint[] = {0xcc};
#else
	static const uint8_t breakpoint[] = {0xa0, 0x00, 0x20, 0xd4};
#endif

	for (size_t i = 0; i < len && cnt; i++) {
		uint64_t here = at + i;

		if (bsearch(&here, patched, cnt, sizeof(here), by_offset))
			for (size_t n = 0; n < sizeof(breakpoint) && i + n < len; n++)
				code[i + n] = breakpoint[n];
	}
}
