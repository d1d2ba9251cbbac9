/* SPDX-License-Identifier: BSD-2-Clause */
/* Locates the sections of an ELF image that the row builder reads. Data in memory belongs to the
 * Elf. */
#ifndef RECORD_UNWIND_IMAGE_H
#define RECORD_UNWIND_IMAGE_H

#include <stdbool.h>
#include <libelf.h>

#include "record/unwind/unwind_cfi.h"

#define IMAGE_CODE_MAX 16
#define IMAGE_STUBS_MAX 8

/* Code without unwind information that is recognised by its location. */
enum image_stub {
	STUB_CALLED,	/* nothing pushed yet */
	STUB_LAZY,	/* x86-64: pushes an index before jumping to the resolver */
	STUB_PUSHED,	/* arm64: x16 and the return address are pushed */
	STUB_SIGRETURN, /* arm64: the vDSO's way back from a signal handler */
};

struct unwind_image {
	Elf *elf;
	struct image_frames {
		struct cfi_section s; /* size 0: none, or not yet opened */
		struct cfi_file file;
		Elf_Scn *scn;
		uint64_t offset, size; /* in the file */
		bool compressed, gnu;  /* gnu: .zdebug_ format */
	} eh_frame, debug_frame;
	Elf_Scn *gopclntab;
	size_t gopclntab_size;
	uint64_t go_text; /* address of .text; gopclntab has offsets to it */
	uint64_t entry;
	struct {
		uint64_t start, end;
	} code[IMAGE_CODE_MAX]; /* executable segments; without segments, executable sections */
	unsigned code_cnt;
	struct {
		uint64_t start, end;
		enum image_stub kind;
	} stubs[IMAGE_STUBS_MAX];
	unsigned stub_cnt;
	bool malformed; /* some part was unreadable */
};

/* Returns 0, or -ENODATA: not a little-endian ELF image for this processor. */
int unwind_image__open(struct unwind_image *im, Elf *elf);

/*
 * Makes the frame sections readable: piecewise from the file `fd` (-1: none) unless they are
 * compressed. Subtracts the memory used by them and by Go's table from *room; -E2BIG: more is
 * needed.
 */
int unwind_image__open_frames(struct unwind_image *im, int fd, uint64_t *room);
void unwind_image__close_frames(struct unwind_image *im);

/* Returns true if [start, end) is within code. */
bool unwind_image_has_code(const struct unwind_image *im, uint64_t start, uint64_t end);

#endif
