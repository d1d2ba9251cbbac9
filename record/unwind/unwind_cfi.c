/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the headers of CIEs and FDEs. unwind_cfi_run.c runs their programs. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/unwind/unwind_cfi.h"

/* Sections are read in order or, if functions were reordered, at random; a larger piece would then
 * be read for each entry. */
#define PIECE_SZ (8u << 10)
#define CIE_PIECE_SZ 512u
/* Larger entries are not read; programs in real files are far smaller. */
#define ENTRY_MAX_SZ (256u << 10)
/* A CIE is parsed again for each of its FDEs; real ones have fewer than 100 bytes. */
#define CIE_MAX_SZ 1024u

struct entry {
	struct cursor body; /* after the CIE id or pointer */
	size_t next;	    /* 0: cannot continue from here */
	uint64_t id;	    /* as read */
	size_t id_offset;   /* its offset */
	bool is_cie;
};

void cfi_file__fini(struct cfi_file *f)
{
	free(f->entries.bytes);
	free(f->cies.bytes);
	*f = (struct cfi_file){.fd = -1};
}

/* Reads [from, from + len) into the piece, or as much of it as exists. */
static void read_piece(const struct cfi_section *s, struct cfi_piece *p, size_t from, size_t len,
		       size_t usual)
{
	size_t cap = len > usual ? len : usual, want = s->size - from;
	uint8_t *bytes;
	ssize_t n;

	p->from = from;
	p->cnt = 0;
	if (cap > p->cap) {
		bytes = realloc(p->bytes, cap);
		if (!bytes)
			return;
		p->bytes = bytes;
		p->cap = cap;
	}
	n = pread(s->file->fd, p->bytes, want < cap ? want : cap, s->file->offset + from);
	p->cnt = n < 0 ? 0 : n;
}

/* Returns at most `len` bytes of the section at `from`, fewer at its end. Overwrites the previous
 * bytes of the same kind, CIE or other. */
static struct cursor bytes_at(const struct cfi_section *s, size_t from, size_t len, bool cie)
{
	struct cfi_piece *p;

	if (len > s->size - from)
		len = s->size - from;
	if (s->data)
		return (struct cursor){s->data + from, s->data + from + len, false};
	p = cie ? &s->file->cies : &s->file->entries;
	if (len <= ENTRY_MAX_SZ && (from < p->from || from + len > p->from + p->cnt))
		read_piece(s, p, from, len, cie ? CIE_PIECE_SZ : PIECE_SZ);
	if (from < p->from || from + len > p->from + p->cnt)
		return (struct cursor){NULL, NULL, true};
	return (struct cursor){p->bytes + (from - p->from), p->bytes + (from - p->from) + len,
			       false};
}

/* Reads length and id. Returns CFI_END, CFI_BAD, or another value on success. */
static enum cfi_entry entry_head(const struct cfi_section *s, size_t offset, bool cie,
				 struct entry *e)
{
	struct cursor c = bytes_at(s, offset, 12, cie);
	const uint8_t *head = c.p;
	uint64_t len;
	bool wide = false;

	e->next = 0;
	if (offset == s->size)
		return CFI_END;
	len = cursor_uint(&c, 4);
	if (len == 0xffffffff) {
		wide = true;
		len = cursor_uint(&c, 8);
	}
	offset += c.p - head;
	if (c.bad || len > s->size - offset)
		return CFI_BAD;
	e->id_offset = offset;
	e->next = offset + len;
	if (!len) {
		e->is_cie = false;
		return s->until_zero ? CFI_END : CFI_CIE;
	}
	if (cie && len > CIE_MAX_SZ)
		return CFI_BAD;
	e->body = bytes_at(s, offset, len, cie);
	if (e->body.bad)
		return CFI_BAD;
	/* .eh_frame has a 4-byte pointer even with a 64-bit length */
	e->id = cursor_uint(&e->body, wide && s->debug_frame ? 8 : 4);
	e->is_cie = s->debug_frame ? e->id == (wide ? ~0ULL : 0xffffffffULL) : e->id == 0;
	if (!e->body.bad)
		return CFI_FDE;
	e->next = 0;
	return CFI_BAD;
}

/* Reads the augmentation data; the string lists its fields. False: cannot be skipped. */
static bool read_augmentation(const struct cfi_section *s, const char *aug, struct cursor *c,
			      struct cfi_cie *cie)
{
	struct cursor data;
	uint8_t enc;

	if (!*aug)
		return true;
	if (*aug != 'z')
		return false;
	cie->augmented = true;
	data = cursor_take(c, cursor_uleb(c));
	for (aug++; *aug; aug++) {
		switch (*aug) {
		case 'R':
			cie->pointer_enc = cursor_uint(&data, 1);
			break;
		case 'P':
			enc = cursor_uint(&data, 1);
			cfi_pointer(s, &data, enc & ~DW_EH_PE_indirect, cie->address_size, 0);
			break;
		case 'L':
			cursor_uint(&data, 1);
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* pointer authentication, aarch64 */
			break;
		default: /* an unknown field and all that follow are skipped by the length */
			return !c->bad && !data.bad;
		}
	}
	return !c->bad && !data.bad;
}

static bool read_cie(const struct cfi_section *s, size_t offset, struct cfi_cie *cie)
{
	struct cursor *c;
	struct entry e;
	const char *aug;
	const uint8_t *nul;
	uint8_t version;

	if (offset >= s->size || entry_head(s, offset, true, &e) != CFI_FDE || !e.is_cie)
		return false;
	c = &e.body;
	memset(cie, 0, sizeof(*cie));
	cie->offset = offset;
	cie->address_size = 8;
	version = cursor_uint(c, 1);
	if (version != 1 && version != 3 && version != 4)
		return false;
	aug = (const char *)c->p;
	nul = memchr(c->p, 0, c->end - c->p);
	if (!nul)
		return false;
	c->p = nul + 1;
	if (version == 4) {
		cie->address_size = cursor_uint(c, 1);
		if (cie->address_size != 8 || cursor_uint(c, 1)) /* segment selectors */
			return false;
	}
	cie->code_align = cursor_uleb(c);
	cie->data_align = cursor_sleb(c);
	cie->ra_reg = version == 1 ? cursor_uint(c, 1) : cursor_uleb(c);
	if (!read_augmentation(s, aug, c, cie))
		return false;
	cie->program = *c;
	return !c->bad;
}

static bool read_fde(const struct cfi_section *s, struct entry *e, const struct cfi_cie *cie,
		     struct cfi_fde *fde)
{
	struct cursor *c = &e->body;
	uint64_t len;

	if (cie->pointer_enc & DW_EH_PE_indirect)
		return false;
	fde->start = cfi_pointer(s, c, cie->pointer_enc, cie->address_size, 0);
	len = cfi_pointer(s, c, cie->pointer_enc & 0x0f, cie->address_size, 0);
	if (cie->augmented)
		cursor_skip(c, cursor_uleb(c));
	if (c->bad || fde->start + len < fde->start)
		return false;
	fde->end = fde->start + len;
	fde->program = *c;
	return true;
}

enum cfi_entry cfi_next(const struct cfi_section *s, size_t *offset, struct cfi_cie *cie,
			struct cfi_fde *fde)
{
	struct entry e;
	size_t at;

	switch (entry_head(s, *offset, false, &e)) {
	case CFI_END:
		return CFI_END;
	case CFI_BAD:
		if (e.next)
			*offset = e.next;
		return CFI_BAD;
	case CFI_CIE: /* a terminator in the middle: left by partial links */
		*offset = e.next;
		return CFI_CIE;
	default:
		break;
	}
	*offset = e.next;
	if (e.is_cie)
		return CFI_CIE;
	if (s->debug_frame) {
		at = e.id;
	} else {
		if (e.id > e.id_offset)
			return CFI_BAD;
		at = e.id_offset - e.id;
	}
	if ((!cie->program.p || cie->offset != at) && !read_cie(s, at, cie)) {
		cie->program.p = NULL;
		return CFI_BAD;
	}
	return read_fde(s, &e, cie, fde) ? CFI_FDE : CFI_BAD;
}
