/* SPDX-License-Identifier: BSD-2-Clause */
/* Where an ELF image keeps what the row builder reads. What is in memory belongs to the Elf. */
#ifndef RECORD_UNWIND_IMAGE_H
#define RECORD_UNWIND_IMAGE_H

#include <stdbool.h>
#include <libelf.h>

#include "record/unwind/unwind_cfi.h"

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
	struct image_frames {
		struct cfi_section s; /* size 0: none, or not opened yet */
		struct cfi_file file;
		Elf_Scn *scn;
		uint64_t offset, size; /* in the file */
		bool compressed, gnu;  /* the GNU way */
	} eh_frame, debug_frame;
	Elf_Scn *gopclntab;
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

/*
 * Makes the sections of frames readable: from the file `fd` as they are gone through, where there
 * is one (else -1) and they are not compressed. What they and Go's table take of memory is taken
 * off *room; -E2BIG: they take more.
 */
int unwind_image__open_frames(struct unwind_image *im, int fd, uint64_t *room);
void unwind_image__close_frames(struct unwind_image *im);

/* Does [start, end) lie in code? */
bool unwind_image_has_code(const struct unwind_image *im, uint64_t start, uint64_t end);

#endif
