/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds small ELF images in memory; the data of sections is stored one after the other. */
#ifndef TESTS_ELF_IMAGE_BUILD_H
#define TESTS_ELF_IMAGE_BUILD_H

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct buf {
	unsigned char *p;
	size_t len, cap;
};

static inline void put(struct buf *b, const void *p, size_t len)
{
	if (b->len + len > b->cap) {
		b->cap = (b->len + len) * 2;
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			abort();
	}
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

static inline void put_u8(struct buf *b, unsigned v)
{
	put(b, &(uint8_t){(uint8_t)v}, 1);
}

static inline void put_u16(struct buf *b, unsigned v)
{
	put(b, &(uint16_t){(uint16_t)v}, 2);
}

static inline void put_u32(struct buf *b, uint32_t v)
{
	put(b, &v, 4);
}

static inline void put_u64(struct buf *b, uint64_t v)
{
	put(b, &v, 8);
}

static inline void put_uleb(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_u8(b, (v & 0x7f) | 0x80);
	put_u8(b, (unsigned)v);
}

static inline void put_str(struct buf *b, const char *s)
{
	put(b, s, strlen(s) + 1);
}

static inline void put_fill(struct buf *b, int c, size_t len)
{
	while (len--)
		put_u8(b, (unsigned)c);
}

enum { IMAGE_SECTIONS = 24, IMAGE_CODE = 0x1000 };

struct image {
	struct buf data; /* of all sections, starting at the beginning of the file */
	struct buf names;
	Elf64_Shdr headers[IMAGE_SECTIONS];
	unsigned cnt;
};

/* An image with code_sz bytes of code at IMAGE_CODE, in section 1. */
static inline void image_init(struct image *im, uint64_t code_sz)
{
	*im = (struct image){.cnt = 1};
	put_fill(&im->data, 0, sizeof(Elf64_Ehdr));
	put_str(&im->names, "");
	im->headers[im->cnt++] = (Elf64_Shdr){.sh_name = (uint32_t)im->names.len,
					      .sh_type = SHT_NOBITS,
					      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					      .sh_addr = IMAGE_CODE,
					      .sh_size = code_sz};
	put_str(&im->names, ".text");
}

/* Adds a section; takes ownership of b's bytes. Returns its header, for unusual fields. */
static inline Elf64_Shdr *image_add(struct image *im, const char *name, uint32_t type,
				    struct buf *b)
{
	Elf64_Shdr *h = &im->headers[im->cnt++];

	put_fill(&im->data, 0, -im->data.len & 7);
	*h = (Elf64_Shdr){.sh_name = (uint32_t)im->names.len,
			  .sh_type = type,
			  .sh_offset = im->data.len,
			  .sh_size = b->len};
	put_str(&im->names, name);
	put(&im->data, b->p, b->len);
	free(b->p);
	*b = (struct buf){0};
	return h;
}

/* Adds cnt symbols, strings[offset], one per `step` bytes of code. */
static inline void image_add_symbols(struct image *im, struct buf *strings, unsigned cnt,
				     uint64_t step, uint32_t first, uint32_t apart)
{
	struct buf table = {0};
	Elf64_Shdr *h;

	put_fill(&table, 0, sizeof(Elf64_Sym));
	for (unsigned i = 0; i < cnt; i++)
		put(&table,
		    &(Elf64_Sym){.st_name = first + i * apart,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = 1,
				 .st_value = IMAGE_CODE + i * step,
				 .st_size = step},
		    sizeof(Elf64_Sym));
	h = image_add(im, ".symtab", SHT_SYMTAB, &table);
	h->sh_entsize = sizeof(Elf64_Sym);
	h->sh_link = im->cnt;
	image_add(im, ".strtab", SHT_STRTAB, strings);
}

/* Writes the section headers after the sections; the last one `repeat` more times. */
static inline void image_finish(struct image *im, unsigned repeat)
{
	Elf64_Ehdr e = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(e),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shstrndx = (uint16_t)im->cnt};
	Elf64_Shdr last = im->headers[im->cnt - 1];
	struct buf names = im->names;

	im->names = (struct buf){0};
	image_add(im, "", SHT_STRTAB, &names);
	free(im->names.p);
	put_fill(&im->data, 0, -im->data.len & 7);
	e.e_shoff = im->data.len;
	e.e_shnum = (uint16_t)(im->cnt + repeat);
	put(&im->data, im->headers, im->cnt * sizeof(*im->headers));
	while (repeat--)
		put(&im->data, &last, sizeof(last));
	memcpy(im->data.p, &e, sizeof(e));
}

static inline void image_free(struct image *im)
{
	free(im->data.p);
	*im = (struct image){0};
}

/* Callback for symbolizer__image(). */
static inline int image_open(void *ctx)
{
	const struct image *im = ctx;
	int fd = memfd_create("image", MFD_CLOEXEC);

	for (size_t at = 0; fd >= 0 && at < im->data.len;) {
		ssize_t n = write(fd, im->data.p + at, im->data.len - at);

		if (n <= 0)
			abort();
		at += (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

#endif
