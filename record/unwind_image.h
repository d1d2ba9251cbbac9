/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an ELF image keeps what the row builder reads. Bytes belong to the Elf. */
#ifndef RECORD_UNWIND_IMAGE_H
#define RECORD_UNWIND_IMAGE_H

#include <stdbool.h>
#include <libelf.h>

#include "unwind_cfi.h"

#define IMAGE_CODE_MAX 16
#define IMAGE_STUBS_MAX 8

/* Code that nothing describes, known by where it lies. */
enum image_stub {
	STUB_CALLED,	/* has pushed nothing */
	STUB_LAZY,	/* x86-64: pushes an index on the way to the resolver */
	STUB_PUSHED,	/* arm64: x16 and the return address are pushed */
	STUB_SIGRETURN, /* arm64: the vDSO's way back from a signal handler */
};

struct unwind_image {
	Elf *elf;
	struct cfi_section eh_frame, debug_frame; /* data NULL: none */
	const uint8_t *gopclntab;
	size_t gopclntab_size;
	uint64_t go_text; /* address of .text, of which gopclntab's are offsets */
	uint64_t entry;
	struct {
		uint64_t start, end;
	} code[IMAGE_CODE_MAX]; /* executable segments, or sections where there are no segments */
	unsigned code_cnt;
	struct {
		uint64_t start, end;
		enum image_stub kind;
	} stubs[IMAGE_STUBS_MAX];
	unsigned stub_cnt;
	bool malformed; /* something was there that could not be read */
};

/* 0, or -ENODATA: not a little-endian ELF image of this processor. */
int unwind_image__open(struct unwind_image *im, Elf *elf);

/* Does [start, end) lie in code? */
bool unwind_image_has_code(const struct unwind_image *im, uint64_t start, uint64_t end);

#endif
