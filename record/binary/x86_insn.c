/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 (formats) and
 * appendix A (opcode maps):
 *
 *   legacy prefixes | REX, VEX or EVEX | opcode of map 0..3 | ModRM | SIB | displacement | immediate
 */
#include <stdbool.h>

#include "record/binary/x86_insn.h"

enum { INSN_MAX = 15 };

/* Operand bytes that follow an opcode. */
enum operands {
	NONE = 0,
	M = 1,	  /* ModRM */
	B = 2,	  /* 1 byte */
	W = 4,	  /* 2 bytes */
	Z = 8,	  /* 4 bytes, 2 with operand size prefix */
	D = 16,	  /* 4 bytes */
	V = 32,	  /* as Z, 8 with REX.W */
	O = 64,	  /* an address: 8 bytes, 4 with address size prefix */
	BAD = 128 /* invalid in 64-bit mode; prefixes and escapes are consumed before */
};

static const uint8_t one_byte[256] = {
	/* 0 */ M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	/* 1 */ M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	/* 2 */ M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	/* 3 */ M, M, M, M, B, Z, BAD, BAD, M, M, M, M, B, Z, BAD, BAD,
	/* 4 */ BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	/* 5 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 6 */ BAD, BAD, BAD, M, BAD, BAD, BAD, BAD, Z, M | Z, B, M | B, 0, 0, 0, 0,
	/* 7 */ B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	/* 8 */ M | B, M | Z, BAD, M | B, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 9 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, BAD, 0, 0, 0, 0, 0,
	/* a */ O, O, O, O, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0,
	/* b */ B, B, B, B, B, B, B, B, V, V, V, V, V, V, V, V,
	/* c */ M | B, M | B, W, 0, BAD, BAD, M | B, M | Z, W | B, 0, W, 0, 0, B, BAD, 0,
	/* d */ M, M, M, M, BAD, BAD, BAD, 0, M, M, M, M, M, M, M, M,
	/* e */ B, B, B, B, B, B, B, B, D, D, BAD, B, 0, 0, 0, 0,
	/* f */ BAD, 0, BAD, BAD, 0, 0, M, M, 0, 0, 0, 0, 0, 0, M, M,
};

/* Two-byte opcodes (0f xx). */
static const uint8_t two_byte[256] = {
	/* 0 */ M, M, M, M, BAD, 0, 0, 0, 0, 0, BAD, 0, BAD, M, 0, M | B,
	/* 1 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 2 */ M, M, M, M, BAD, BAD, BAD, BAD, M, M, M, M, M, M, M, M,
	/* 3 */ 0, 0, 0, 0, 0, 0, BAD, 0, BAD, BAD, BAD, BAD, BAD, BAD, BAD, BAD,
	/* 4 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 5 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 6 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 7 */ M | B, M | B, M | B, M | B, M, M, M, 0, M, M, BAD, BAD, M, M, M, M,
	/* 8 */ D, D, D, D, D, D, D, D, D, D, D, D, D, D, D, D,
	/* 9 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* a */ 0, 0, 0, M, M | B, M, BAD, BAD, 0, 0, 0, M, M | B, M, M, M,
	/* b */ M, M, M, M, M, M, M, M, M, M, M | B, M, M, M, M, M,
	/* c */ M, M, M | B, M, M | B, M | B, M | B, M, 0, 0, 0, 0, 0, 0, 0, 0,
	/* d */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* e */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* f */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};

struct insn {
	const uint8_t *p;
	size_t avail, at;
	bool operand16, address32, wide;
	unsigned map;
	uint8_t opcode;
	bool bad;
};

static uint8_t next(struct insn *i)
{
	if (i->at < i->avail)
		return i->p[i->at++];
	i->bad = true;
	return 0;
}

static uint8_t read_prefixes(struct insn *i)
{
	for (;;) {
		uint8_t b = next(i);

		switch (b) {
		case 0x66:
			i->operand16 = true;
			continue;
		case 0x67:
			i->address32 = true;
			continue;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
		case 0xf2:
		case 0xf3:
			continue;
		default:
			return b;
		}
	}
}

/* Reads the opcode and its map; returns the operand flags. */
static uint8_t read_opcode(struct insn *i)
{
	uint8_t b = read_prefixes(i), first;

	if ((b & 0xf0) == 0x40) {
		i->wide = b & 8;
		b = next(i);
	}
	switch (b) {
	case 0xc5: /* VEX */
		next(i);
		i->map = 1;
		break;
	case 0xc4:
		first = next(i);
		next(i);
		i->map = first & 31;
		break;
	case 0x62: /* EVEX */
		first = next(i);
		next(i);
		next(i);
		i->map = first & 7;
		break;
	case 0x0f:
		b = next(i);
		i->map = b == 0x38 ? 2 : b == 0x3a ? 3 : 1;
		i->opcode = i->map > 1 ? next(i) : b;
		return i->map == 1 ? two_byte[b] : i->map == 2 ? M : M | B;
	default:
		i->opcode = b;
		return one_byte[b];
	}
	i->opcode = next(i);
	switch (i->map) {
	case 1:
		return two_byte[i->opcode] & ~D;
	case 2:
	case 5:
	case 6:
		return M;
	case 3:
		return M | B;
	default:
		return BAD;
	}
}

static uint8_t read_modrm(struct insn *i)
{
	uint8_t modrm = next(i), mod = modrm >> 6, rm = modrm & 7, base = rm;

	if (mod == 3)
		return modrm;
	if (rm == 4)
		base = next(i) & 7;
	if (mod == 1)
		i->at += 1;
	else if (mod == 2 || base == 5) /* mod 0: relative to rip, or SIB without base */
		i->at += 4;
	return modrm;
}

size_t x86_insn_len(const uint8_t *p, size_t avail)
{
	struct insn i = {.p = p, .avail = avail < INSN_MAX ? avail : INSN_MAX};
	uint8_t takes = read_opcode(&i), modrm = 0;

	if (i.bad || takes & BAD)
		return 0;
	if (takes & M)
		modrm = read_modrm(&i);
	/* test r/m, immediate has the same opcode as not, neg, mul and div. */
	if (!i.map && i.opcode == 0xf6 && !(modrm & 0x30))
		takes |= B;
	if (!i.map && i.opcode == 0xf7 && !(modrm & 0x30))
		takes |= Z;
	i.at += (takes & B ? 1 : 0) + (takes & W ? 2 : 0) + (takes & D ? 4 : 0);
	if (takes & (Z | V))
		i.at += takes & V && i.wide ? 8 : i.operand16 && !i.wide ? 2 : 4;
	if (takes & O)
		i.at += i.address32 ? 4 : 8;
	return i.bad || i.at > i.avail ? 0 : i.at;
}
