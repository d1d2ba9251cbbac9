/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Small binaries that describe one long thing many times over: reading them takes time in
 * proportion to their size all the same. Each in a process of its own, so that one without a bound
 * ends with a limit of the kernel.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "record/elf/elf_open.h"
#include "record/symbols/slim.h"
#include "record/unwind/unwind_table.h"
#include "check.h"
#include "elf_image_build.h"

enum {
	CODE = 1 << 28,
	HOLE = 32 << 20,
	MEMORY_MAX = 512 << 20,
};

/* Of the processor, for reading: each takes a fraction of a second now, and took 5 to 1000. What
 * runs beside it on a processor's other thread, and a hypervisor, make it longer. */
#ifdef __SANITIZE_ADDRESS__
enum { CPU_SECONDS_MAX = 60 };
#else
enum { CPU_SECONDS_MAX = 10 };
#endif

/* ---- binaries */

/* Sections of code with one string of megabytes for a name, each a byte longer. */
static void long_names(struct image *im)
{
	struct buf b = {0};

	put_fill(&im->names, 'n', 3 << 20);
	image_add(im, ".last", SHT_NOBITS, &b)->sh_flags = SHF_ALLOC;
	im->headers[im->cnt - 1].sh_name = 20;
	image_finish(im, 60000);
}

/* The names of sections reach into a hole. */
static void names_in_hole(struct image *im)
{
	Elf64_Shdr *names;
	Elf64_Ehdr e;

	image_finish(im, 0);
	memcpy(&e, im->data.p, sizeof(e));
	names = (Elf64_Shdr *)(im->data.p + e.e_shoff) + e.e_shstrndx;
	names->sh_size = HOLE;
}

/* One executable segment over the code, behind the rest. */
static void add_code_segment(struct image *im)
{
	Elf64_Ehdr e;

	memcpy(&e, im->data.p, sizeof(e));
	e.e_phoff = im->data.len;
	e.e_phentsize = sizeof(Elf64_Phdr);
	e.e_phnum = 1;
	memcpy(im->data.p, &e, sizeof(e));
	put(&im->data,
	    &(Elf64_Phdr){.p_type = PT_LOAD,
			  .p_flags = PF_X | PF_R,
			  .p_vaddr = IMAGE_CODE,
			  .p_memsz = CODE},
	    sizeof(Elf64_Phdr));
}

/* Section 0 counts sections that lie in a hole. */
static void counted_sections(struct image *im)
{
	Elf64_Ehdr e;

	image_finish(im, 0);
	memcpy(&e, im->data.p, sizeof(e));
	e.e_shnum = 0;
	memcpy(im->data.p, &e, sizeof(e));
	((Elf64_Shdr *)(im->data.p + e.e_shoff))->sh_size = HOLE / sizeof(Elf64_Shdr);
	add_code_segment(im);
}

/* As many notes as can be, over the same bytes. */
static void notes(struct image *im)
{
	struct buf b = {0};

	for (unsigned i = 0; i < 5000; i++) {
		put_u32(&b, 0);
		put_u64(&b, 0);
	}
	image_add(im, ".note", SHT_NOTE, &b)->sh_flags = SHF_ALLOC;
	image_finish(im, 60000);
}

/* Program headers of notes, each to be looked for among all sections. */
static void note_segments(struct image *im)
{
	enum { SEGMENTS = 60000 };
	struct buf b = {0};
	Elf64_Ehdr e;

	image_add(im, ".last", SHT_NOBITS, &b)->sh_flags = SHF_ALLOC;
	image_finish(im, 60000);
	memcpy(&e, im->data.p, sizeof(e));
	e.e_phoff = im->data.len;
	e.e_phentsize = sizeof(Elf64_Phdr);
	e.e_phnum = SEGMENTS;
	memcpy(im->data.p, &e, sizeof(e));
	for (unsigned i = 0; i < SEGMENTS; i++)
		put(&im->data, &(Elf64_Phdr){.p_type = PT_NOTE}, sizeof(Elf64_Phdr));
}

static void finish_frames(struct image *im, struct buf *frames)
{
	put_u32(frames, 0);
	image_add(im, ".eh_frame", SHT_PROGBITS, frames)->sh_flags = SHF_ALLOC;
	image_finish(im, 0);
	add_code_segment(im);
}

/* A CIE whose augmentation is "R" (absolute addresses of 8 bytes), with `len` bytes of op. */
static size_t put_cie(struct buf *b, unsigned op, unsigned len)
{
	size_t at = b->len;

	put_u32(b, 4 + 1 + 3 + 3 + 2 + len);
	put_u32(b, 0);
	put_u8(b, 1);
	put_str(b, "zR");
	put_u8(b, 1);
	put_u8(b, 0x78);
	put_u8(b, 16);
	put_u8(b, 1);
	put_u8(b, DW_EH_PE_absptr);
	put_fill(b, (int)op, len);
	return at;
}

static void put_fde(struct buf *b, size_t cie, uint64_t start, uint64_t sz)
{
	put_u32(b, 4 + 8 + 8 + 1);
	put_u32(b, (uint32_t)(b->len - cie));
	put_u64(b, start);
	put_u64(b, sz);
	put_u8(b, 0);
}

/* All entries share a head with a long program. */
static void shared_cie(struct image *im)
{
	struct buf frames = {0};
	size_t cie = put_cie(&frames, DW_CFA_nop, 250 << 10);

	for (unsigned i = 0; i < 200000; i++)
		put_fde(&frames, cie, IMAGE_CODE + 16 * i, 16);
	finish_frames(im, &frames);
}

/* And by turns, so that each is read anew. */
static void alternate_cies(struct image *im)
{
	struct buf frames = {0};
	size_t cie[2] = {put_cie(&frames, DW_CFA_nop, 250 << 10),
			 put_cie(&frames, DW_CFA_nop, 250 << 10)};

	for (unsigned i = 0; i < 200000; i++)
		put_fde(&frames, cie[i % 2], IMAGE_CODE + 16 * i, 16);
	finish_frames(im, &frames);
}

/* Go functions that share a name without end, or one table of stack depths without change. */
static void go_functions(struct image *im, bool names)
{
	enum { FUNCTIONS = 300000, LONG = 16 << 20, HEAD = 8 + 8 * 8 };
	struct buf b = {0};
	uint64_t functab = HEAD, func = 8 * (uint64_t)FUNCTIONS + 8, tables = functab + func + 64;

	put_u32(&b, 0xfffffff1);
	put_u16(&b, 0);
	put_u8(&b, 1);
	put_u8(&b, 8);
	put_u64(&b, FUNCTIONS);
	put_u64(&b, 0);
	put_u64(&b, IMAGE_CODE);
	put_u64(&b, tables); /* names */
	put_u64(&b, 0);
	put_u64(&b, 0);
	put_u64(&b, tables); /* depths */
	put_u64(&b, functab);
	for (unsigned i = 0; i <= FUNCTIONS; i++) { /* start, offset; the end is the next one's */
		put_u32(&b, i % 2 ? CODE - 1 : i);
		put_u32(&b, (uint32_t)func);
	}
	put_u32(&b, 0);
	put_u32(&b, names ? 2 : 0);
	put_u64(&b, 0);
	put_u32(&b, names ? 0 : 2);
	put_fill(&b, 0, tables - b.len);
	put_u8(&b, 'f');
	put_u8(&b, 0);
	if (names) {
		put_fill(&b, 'n', LONG);
	} else { /* no change of depth, one byte on */
		put_u8(&b, 2);
		put_u8(&b, 1);
		for (unsigned i = 0; i < LONG / 2; i++) {
			put_u8(&b, i % 2 ? 1 : 2);
			put_u8(&b, 1);
		}
	}
	image_add(im, ".gopclntab", SHT_PROGBITS, &b)->sh_flags = SHF_ALLOC;
	image_finish(im, 0);
	add_code_segment(im);
}

static void go_names(struct image *im)
{
	go_functions(im, true);
}

static void go_depths(struct image *im)
{
	go_functions(im, false);
}

/* ---- what is made of them: anything, in time */

static int drop(void *ctx, const void *p, size_t len)
{
	(void)p;
	*(uint64_t *)ctx += len;
	return 0;
}

static void read_slim(int fd)
{
	char hex[BUILD_ID_HEX_SZ];
	struct slim_elf e;
	struct slim *s;
	uint64_t sz = 0;
	int err;

	CHECK(!slim_elf__load(&e, fd), "load");
	slim_elf_build_id(&e, hex);
	CHECK(!*hex, "%s", hex);
	err = slim__plan(&s, &e, NULL, 1 << 20);
	CHECK(!err || err == -EBADMSG, "error %d", err);
	if (!err) {
		CHECK(!slim__write(s, drop, &sz) && sz, "write");
		slim__free(s);
	}
	slim_elf__fini(&e);
}

static void read_frames(int fd)
{
	struct unwind_table t;
	Elf *elf = elf_open(fd);

	CHECK(elf, "elf");
	unwind_table__build(elf, fd, 64 << 20, &t);
	unwind_table__fini(&t);
	elf_end(elf);
}

static void read_not(int fd)
{
	CHECK(!ftruncate(fd, 2 * HOLE), "ftruncate");
	CHECK(!elf_open(fd), "opened");
}

static void read_no_headers(int fd)
{
	CHECK(!ftruncate(fd, 2 * HOLE), "ftruncate");
	CHECK(!elf_open_headers(fd), "opened");
}

static const struct bomb {
	const char *name;
	void (*build)(struct image *im);
	void (*read)(int fd);
} bombs[] = {
	{"long names", long_names, read_slim},
	{"notes", notes, read_slim},
	{"note segments", note_segments, read_slim},
	{"a shared CIE", shared_cie, read_frames},
	{"CIEs by turns", alternate_cies, read_frames},
	{"Go names", go_names, read_frames},
	{"Go depths", go_depths, read_frames},
	{"names in a hole", names_in_hole, read_not},
	{"sections in a hole", counted_sections, read_no_headers},
};

static int run(const struct bomb *b)
{
	struct rlimit cpu, as = {MEMORY_MAX, MEMORY_MAX};
	struct rusage built;
	struct image im;
	int fd;

	failed = 0;
	image_init(&im, CODE);
	b->build(&im);
	fd = image_open(&im);
	image_free(&im);
	getrusage(RUSAGE_SELF, &built);
	cpu.rlim_cur = built.ru_utime.tv_sec + built.ru_stime.tv_sec + 2 + CPU_SECONDS_MAX;
	cpu.rlim_max = cpu.rlim_cur;
	setrlimit(RLIMIT_CPU, &cpu);
#ifndef __SANITIZE_ADDRESS__ /* its shadow takes terabytes of address space */
	setrlimit(RLIMIT_AS, &as);
#else
	(void)as;
#endif
	b->read(fd);
	close(fd);
	return failed;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(bombs) / sizeof(*bombs); i++) {
		int status = 0;
		pid_t pid;

		if (argc > 1 && strcmp(argv[1], bombs[i].name))
			continue;
		fflush(stdout);
		pid = fork();
		if (!pid) {
			int rc = run(&bombs[i]);

			fflush(stdout);
			_exit(rc);
		}
		waitpid(pid, &status, 0);
		CHECK(!status, "%s: status %#x", bombs[i].name, status);
	}
	return failed;
}
