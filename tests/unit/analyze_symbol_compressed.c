/* SPDX-License-Identifier: BSD-2-Clause */
/* Debug sections compressed by zstd and zlib give the same chains as plain ones; wrong sizes and
 * cut streams give none. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "analyze/symbol/symbol.h"
#include "check.h"

#define FIXTURE "tests/fuzz/analyze_symbol/gcc5"

struct image {
	unsigned char data[65536];
	size_t sz;
};

static void load(struct image *im)
{
	int fd = open(FIXTURE, O_RDONLY);
	ssize_t n = read(fd, im->data, sizeof(im->data));

	CHECK(n > 64, "%s", FIXTURE);
	im->sz = n > 0 ? (size_t)n : 0;
	close(fd);
}

struct how {
	uint32_t type;
	int claim; /* added to the uncompressed size in the header */
	int cut;   /* bytes left out at the end of the stream */
};

/* Section s moves to the end of the image, compressed. */
static void compress_section(struct image *im, Elf64_Shdr *s, const struct how *how)
{
	static unsigned char out[65536];
	Elf64_Chdr h = {how->type, 0, s->sh_size + (uint64_t)how->claim, 1};
	uLongf len = sizeof(out);

	if (how->type == 2)
		len = ZSTD_compress(out, sizeof(out), im->data + s->sh_offset, s->sh_size, 1);
	else
		compress(out, &len, im->data + s->sh_offset, s->sh_size);
	len -= (uLongf)how->cut;
	s->sh_offset = im->sz;
	s->sh_size = sizeof(h) + len;
	s->sh_flags |= SHF_COMPRESSED;
	memcpy(im->data + im->sz, &h, sizeof(h));
	memcpy(im->data + im->sz + sizeof(h), out, len);
	im->sz += sizeof(h) + len;
}

static void compress_all(struct image *im, const struct how *how)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)im->data;
	Elf64_Shdr *s = (Elf64_Shdr *)(im->data + e->e_shoff);
	const char *names = (const char *)im->data + s[e->e_shstrndx].sh_offset;

	for (unsigned i = 1; i < e->e_shnum; i++)
		if (!strncmp(names + s[i].sh_name, ".debug_", 7))
			compress_section(im, &s[i], how);
}

static int open_image(void *ctx)
{
	const struct image *im = ctx;
	int fd = memfd_create("image", MFD_CLOEXEC);

	return write(fd, im->data, im->sz) == (ssize_t)im->sz ? fd : -EIO;
}

struct text {
	char s[65536];
	size_t len, frames;
};

static void print(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	struct text *t = ctx;

	for (size_t i = 0; i < cnt; i++)
		t->len += (size_t)sprintf(t->s + t->len, "%zu %s %s:%u\n", index, chain[i].name,
					  chain[i].file ? chain[i].file : "??", chain[i].line);
	t->frames += cnt;
}

static void look_up(struct image *im, struct text *t, const char *kind)
{
	struct symbolizer_opts opts = {.inlines = true};
	struct symbol_image *image;
	struct symbolizer *s;
	uint64_t addrs[64];
	Elf64_Ehdr *e = (Elf64_Ehdr *)im->data;

	*t = (struct text){0};
	for (unsigned i = 0; i < 64;
	     i++) /* the entry point is in the middle of the small program */
		addrs[i] = e->e_entry - 32 + i;
	CHECK(!symbolizer__new(&s, &opts), "new");
	CHECK(!symbolizer__image(s, NULL, NULL, open_image, im, &image), "image");
	CHECK(!symbolizer__resolve(s, image, addrs, 64, print, t), "resolve");
	CHECK(!strcmp(symbol_image__kind(image, NULL), kind), "%s, not %s",
	      symbol_image__kind(image, NULL), kind);
	symbolizer__free(s);
}

int main(void)
{
	static const struct {
		const char *cause;
		struct how how;
		bool good;
	} cases[] = {
		{"zlib", {ELFCOMPRESS_ZLIB, 0, 0}, true},
		{"zstd", {2, 0, 0}, true},
		{"zlib, larger than said", {ELFCOMPRESS_ZLIB, -1, 0}, false},
		{"zlib, smaller than said", {ELFCOMPRESS_ZLIB, 1, 0}, false},
		{"zlib, cut", {ELFCOMPRESS_ZLIB, 0, 5}, false},
		{"zstd, larger than said", {2, -1, 0}, false},
		{"zstd, smaller than said", {2, 1, 0}, false},
		{"zstd, cut", {2, 0, 5}, false},
		{"a claim beyond belief", {ELFCOMPRESS_ZLIB, 1 << 30, 0}, false},
		{"an unknown kind", {77, 0, 0}, false},
	};
	static struct image im;
	static struct text want, got;

	load(&im);
	look_up(&im, &want, "dwarf");
	CHECK(want.frames > 100, "%zu frames", want.frames);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		load(&im);
		compress_all(&im, &cases[i].how);
		look_up(&im, &got, cases[i].good ? "dwarf" : "symtab");
		CHECK(cases[i].good == !strcmp(want.s, got.s), "%s", cases[i].cause);
	}
	return failed;
}
