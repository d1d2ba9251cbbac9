/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds-checked reader for CFI bytes, and the pointer encodings of LSB Core 10.5. */
#include <dwarf.h>

#include "record/unwind/unwind_cfi.h"

uint64_t cursor_uint(struct cursor *c, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->p) < size) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)c->p[i] << (8 * i);
	c->p += size;
	return v;
}

int64_t cursor_sint(struct cursor *c, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (int64_t)(cursor_uint(c, size) << shift) >> shift;
}

uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = cursor_uint(c, 1);

		if (c->bad)
			return 0;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if ((shift == 63 && byte & 0x7e) || (shift > 63 && byte & 0x7f)) {
			c->bad = true;
			return 0;
		}
		if (!(byte & 0x80))
			return v;
	}
}

int64_t cursor_sleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_uint(c, 1);
		if (c->bad)
			return 0;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (shift > 140) { /* endless padding */
			c->bad = true;
			return 0;
		}
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~0ULL << shift;
	return (int64_t)v;
}

void cursor_skip(struct cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		n = c->end - c->p;
	}
	c->p += n;
}

struct cursor cursor_take(struct cursor *c, uint64_t n)
{
	struct cursor part = {c->p, c->p, false};

	cursor_skip(c, n);
	part.end = c->p;
	return part;
}

static uint64_t pointer_value(struct cursor *c, uint8_t enc, uint8_t address_size)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		return cursor_uint(c, address_size);
	case DW_EH_PE_uleb128:
		return cursor_uleb(c);
	case DW_EH_PE_udata2:
		return cursor_uint(c, 2);
	case DW_EH_PE_udata4:
		return cursor_uint(c, 4);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_uint(c, 8);
	case DW_EH_PE_sleb128:
		return cursor_sleb(c);
	case DW_EH_PE_sdata2:
		return cursor_sint(c, 2);
	case DW_EH_PE_sdata4:
		return cursor_sint(c, 4);
	}
	c->bad = true;
	return 0;
}

static uint64_t address_of(const struct cfi_section *s, const uint8_t *p)
{
	const struct cfi_piece *at;

	if (s->data)
		return s->address + (p - s->data);
	at = &s->file->cies;
	if (p < at->bytes || p > at->bytes + at->cnt)
		at = &s->file->entries;
	return s->address + at->from + (p - at->bytes);
}

uint64_t cfi_pointer(const struct cfi_section *s, struct cursor *c, uint8_t enc,
		     uint8_t address_size, uint64_t func)
{
	uint64_t here = address_of(s, c->p), v;

	if (enc == DW_EH_PE_omit)
		return 0;
	if ((enc & 0x70) == DW_EH_PE_aligned) {
		cursor_skip(c, -here & (address_size - 1));
		return cursor_uint(c, address_size);
	}
	v = pointer_value(c, enc, address_size);
	switch (enc & 0x70) {
	case DW_EH_PE_absptr:
		return v;
	case DW_EH_PE_pcrel:
		return v + here;
	case DW_EH_PE_textrel:
		return v + s->text;
	case DW_EH_PE_datarel:
		return v + s->datarel;
	case DW_EH_PE_funcrel:
		return v + func;
	}
	c->bad = true;
	return 0;
}
