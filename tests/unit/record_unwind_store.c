/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store without BPF: many tables and processes published over and over stay within their bounds
 * and are read back right. And the ways in which an image holds its tables: no section headers,
 * .debug_frame alone, damage.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/unwind/unwind_runs.h"
#include "record/unwind/unwind_store.h"
#include "check.h"

static Elf *open_image(void *image, size_t size)
{
	elf_version(EV_CURRENT);
	return elf_memory(image, size);
}

static void *read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *p = NULL;

	if (fd >= 0 && !fstat(fd, &st)) {
		*size = st.st_size;
		p = malloc(*size);
		if (read(fd, p, *size) != (ssize_t)*size)
			exit(1);
		close(fd);
	}
	return p;
}

static int same_tables(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->row_cnt == b->row_cnt && a->page_cnt == b->page_cnt &&
	       a->rule_cnt == b->rule_cnt &&
	       (!a->row_cnt || !memcmp(a->rows, b->rows, a->row_cnt * sizeof(*a->rows))) &&
	       (!a->rule_cnt || !memcmp(a->rules, b->rules, a->rule_cnt * sizeof(*a->rules)));
}

/* The image as a file; the table may take that much. */
static int build_file(const void *image, size_t size, uint64_t room, struct unwind_table *t)
{
	int fd = memfd_create("image", MFD_CLOEXEC), err;
	Elf *elf;

	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		exit(1);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = unwind_table__build(elf, fd, room, t);
	elf_end(elf);
	close(fd);
	return err;
}

/* From a file, then in memory, where decompressing changes the image: it is the same, but for a
 * section that was cut short, which in memory is none. */
static int build(void *image, size_t size, struct unwind_table *t)
{
	struct unwind_table f;
	int from_file = build_file(image, size, UINT64_MAX, &f), err;
	Elf *elf = open_image(image, size);

	err = unwind_table__build(elf, -1, UINT64_MAX, t);
	elf_end(elf);
	CHECK(err == from_file && (same_tables(t, &f) || (err && !t->row_cnt)),
	      "%d, %zu rows; of the file %d, %zu rows", err, t->row_cnt, from_file, f.row_cnt);
	unwind_table__fini(&f);
	return err;
}

/* ---- images ---- */

static void test_without_sections(void)
{
	struct unwind_table with, without;
	size_t size;
	char *image = read_file("/lib/x86_64-linux-gnu/libc.so.6", &size);
	Elf64_Ehdr *eh = (Elf64_Ehdr *)image;

	if (!image)
		return;
	CHECK(!build(image, size, &with));
	eh->e_shoff = eh->e_shnum = eh->e_shstrndx = 0;
	CHECK(!build(image, size, &without));
	CHECK(same_tables(&with, &without), "%zu and %zu rows", with.row_cnt, without.row_cnt);
	unwind_table__fini(&with);
	unwind_table__fini(&without);
	free(image);
}

/* The image cut short anywhere gives an error or whole functions, and nothing is read outside it.
 */
static void test_cut(void)
{
	struct unwind_table t;
	size_t size;
	char *image = read_file("/lib/x86_64-linux-gnu/libm.so.6", &size);

	for (size_t cut = 0; image && cut < size; cut += size / 97) {
		char *copy = malloc(cut + 1);

		memcpy(copy, image, cut);
		build(copy, cut, &t);
		unwind_table__fini(&t);
		free(copy);
	}
	free(image);
}

static long peak_kib(void)
{
	char line[128];
	FILE *f = fopen("/proc/self/status", "re");
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void reset_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	malloc_trim(0);
	CHECK(fd >= 0 && write(fd, "5", 1) == 1);
	close(fd);
}

#define FUNCTIONS 400000
/* A CIE, then functions of two rows: 24 bytes each. */
static void *many_functions(size_t *size)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph;
		Elf64_Shdr sh[3];
		char names[24];
		uint8_t cie[24];
		struct fde {
			uint32_t len, cie;
			uint64_t start, cnt;
			uint8_t program[8];
		} fde[];
	} *im = calloc(1, *size = sizeof(*im) + FUNCTIONS * sizeof(struct fde));
	static const uint8_t cie[24] = {20, 0, 0,    0,	 0,    0, 0, 0,	   1,
					0,  1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
	static const uint8_t program[8] = {0x41, 0x0e, 16};

	memcpy(im->eh.e_ident, ELFMAG, SELFMAG);
	im->eh.e_ident[EI_CLASS] = ELFCLASS64;
	im->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	im->eh.e_ident[EI_VERSION] = im->eh.e_version = EV_CURRENT;
	im->eh.e_type = ET_DYN;
	im->eh.e_machine = UNWIND_ELF_MACHINE;
	im->eh.e_ehsize = sizeof(im->eh);
	im->eh.e_phoff = (char *)&im->ph - (char *)im;
	im->eh.e_phentsize = sizeof(im->ph);
	im->eh.e_phnum = 1;
	im->eh.e_shoff = (char *)im->sh - (char *)im;
	im->eh.e_shentsize = sizeof(im->sh[0]);
	im->eh.e_shnum = 3;
	im->eh.e_shstrndx = 1;
	im->ph = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_X | PF_R, .p_vaddr = 0x10000, .p_memsz = 1 << 28};
	strcpy(im->names + 1, ".shstrtab");
	strcpy(im->names + 11, ".eh_frame");
	im->sh[1] = (Elf64_Shdr){.sh_name = 1,
				 .sh_type = SHT_STRTAB,
				 .sh_offset = im->names - (char *)im,
				 .sh_size = sizeof(im->names)};
	im->sh[2] = (Elf64_Shdr){.sh_name = 11,
				 .sh_type = SHT_PROGBITS,
				 .sh_addr = 0x20000000,
				 .sh_offset = (char *)im->cie - (char *)im,
				 .sh_size = *size - sizeof(*im) + sizeof(im->cie)};
	memcpy(im->cie, cie, sizeof(cie));
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		struct fde *f = &im->fde[i];

		f->len = sizeof(*f) - 4;
		f->cie = (char *)&f->cie - (char *)im->cie;
		f->start = 0x10000 + 8 * i;
		f->cnt = 8;
		memcpy(f->program, program, sizeof(program));
	}
	return im;
}

/* What a large table takes while it is built: no more than it was given, and not much more than
 * there is to it in the end. */
static void test_room(void)
{
	/* the list of functions; the rows twice */
	const uint64_t list = FUNCTIONS * 16, rows = FUNCTIONS * 2 * 4,
		       need = list > 2 * rows ? list : 2 * rows;
	struct unwind_table t;
	size_t size;
	void *image = many_functions(&size);
	int fd = memfd_create("image", MFD_CLOEXEC);
	Elf *elf;
	long before;

	if (write(fd, image, size) != (ssize_t)size)
		exit(1);
	free(image);
	for (int i = 0; i < 3; i++) {
		uint64_t room = i == 0 ? UINT64_MAX : i == 1 ? need + need / 8 : need - need / 8;
		int err;

		elf = elf_begin(fd, ELF_C_READ, NULL);
		reset_peak();
		before = peak_kib();
		err = unwind_table__build(elf, fd, room, &t);
		CHECK(err == (i == 2 ? -E2BIG : 0), "%d with %llu", err, (unsigned long long)room);
		CHECK(i == 2 ? !t.rows : t.row_cnt >= 2 * FUNCTIONS, "%zu rows", t.row_cnt);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
		CHECK((uint64_t)(peak_kib() - before) << 10 < need + (1 << 20), "%ld KiB of %zu",
		      peak_kib() - before, (size_t)need >> 10);
#else
		(void)before;
#endif
		unwind_table__fini(&t);
		elf_end(elf);
	}
	close(fd);
}

/* The same functions with .eh_frame, and with .debug_frame alone, plain and compressed. */
static void test_debug_frame(void)
{
	static const char source[] =
		"int g(int); int f(int n) { volatile int v[9]; v[n] = n; return g(n) + v[n]; }\n"
		"int g(int n) { return n ? f(n - 1) * 3 : 1; }\n";
	static const char *const flags[] = {
		"-g", "-g -fno-asynchronous-unwind-tables -fno-unwind-tables",
		"-g -fno-asynchronous-unwind-tables -fno-unwind-tables -gz=zlib"};
	char dir[] = "/tmp/unwind.XXXXXX", command[512], path[64];
	struct unwind_table t[3];
	FILE *c;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/a.c", dir);
	c = fopen(path, "we");
	fputs(source, c);
	fclose(c);
	for (int i = 0; i < 3; i++) {
		size_t size;
		char *image;

		snprintf(command, sizeof(command),
			 "cc -O2 -shared -fPIC -nostdlib -Wl,--no-ld-generated-unwind-info %s -o "
			 "%s/a.so %s/a.c 2>/dev/null",
			 flags[i], dir, dir);
		snprintf(path, sizeof(path), "%s/a.so", dir);
		if (system(command) || !(image = read_file(path, &size))) {
			printf("no compiler: .debug_frame is not tested\n");
			memset(&t[i], 0, sizeof(t[i]));
			continue;
		}
		CHECK(!build(image, size, &t[i]), "%s", flags[i]);
		CHECK(!strcmp(t[i].source, i ? ".debug_frame" : ".eh_frame"), "%s", t[i].source);
		CHECK(t[i].fde_cnt >= 2 && same_tables(&t[0], &t[i]), "%zu and %zu rows",
		      t[0].row_cnt, t[i].row_cnt);
		free(image);
	}
	for (int i = 0; i < 3; i++)
		unwind_table__fini(&t[i]);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command));
}

/* ---- runs ---- */

static void test_runs(void)
{
	struct runs r;
	uint32_t pos[100], other;

	runs__init(&r, 100);
	CHECK(runs__alloc(&r, 1, &other) == -ENOSPC);
	runs__add_segment(&r, 0);
	runs__add_segment(&r, 1);
	for (int i = 0; i < 20; i++)
		CHECK(!runs__alloc(&r, 10, &pos[i]) && pos[i] / 100 == (pos[i] + 9) / 100);
	CHECK(runs__alloc(&r, 1, &other) == -ENOSPC);
	for (int i = 0; i < 20; i++)
		runs__retire(&r, (struct run){pos[i * 7 % 20], 10}, i);
	runs__reclaim(&r, 0);
	CHECK(runs__alloc(&r, 1, &other) == -ENOSPC, "nothing has rested long enough");
	runs__reclaim(&r, 100);
	CHECK(r.used == 0 && r.free_cnt == 2, "%zu free runs", r.free_cnt);
	CHECK(!runs__alloc(&r, 100, &other) && !runs__alloc(&r, 100, &other), "merged again");
	CHECK(runs__alloc(&r, 101, &other) == -ENOSPC);
	runs__fini(&r);
}

/* ---- the store ---- */

static const void *map(const struct unwind_store *s, enum unwind_memory what, uint32_t seg,
		       size_t *size)
{
	int fd = unwind_store__memory(s, what, seg, size);
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Every row, found the way BPF finds it, names the table's own rule. */
static void check_stored(const struct unwind_store *s, const struct unwind_table *t, uint32_t page0)
{
	size_t page_sz, rule_sz, row_sz, wrong = 0;
	const struct page *pages = map(s, UNWIND_MEM_PAGES, 0, &page_sz);
	const char *rules = map(s, UNWIND_MEM_RULES, 0, &rule_sz);

	for (size_t i = 0; i < t->page_cnt; i++) {
		const struct page *p = &pages[(uint32_t)(t->first_page + i) + page0];
		const struct row_seg *rows =
			p->row_cnt ? map(s, UNWIND_MEM_ROWS, p->seg, &row_sz) : NULL;

		CHECK(p->row_cnt == t->pages[i].cnt && p->first + p->row_cnt <= ROW_SEG_CNT);
		for (uint32_t k = 0; k < p->row_cnt; k++) {
			uint32_t ours = t->rows[t->pages[i].first + k],
				 theirs = rows->rows[p->first + k];

			wrong += ours >> 16 != theirs >> 16 ||
				 memcmp(&t->rules[ours & 0xffff],
					rules + (theirs & 0xffff) * RULE_STRIDE,
					sizeof(struct rule));
		}
		if (rows)
			munmap((void *)rows, row_sz);
	}
	CHECK(!wrong, "%zu rows", wrong);
	munmap((void *)pages, page_sz);
	munmap((void *)rules, rule_sz);
}

/* What is dropped rests, then its place is taken again: no more than what is there at a time. */
static void check_dropped(struct unwind_store *s, const struct unwind_table *t,
			  struct unwind_place *at, int cnt)
{
	struct unwind_store_stats full, st;

	unwind_store__reclaim(s, UINT64_MAX); /* what the last, that failed, had taken */
	full = unwind_store__stats(s);

	for (int i = 0; i < 4 * cnt; i++) {
		struct unwind_place *p = &at[i * 3 % cnt];

		unwind_store__drop(s, p);
		CHECK(unwind_store__add(s, t, p) == -ENOSPC, "it rests");
		unwind_store__reclaim(s, UINT64_MAX);
		CHECK(!unwind_store__add(s, t, p));
		check_stored(s, t, p->page0);
	}
	st = unwind_store__stats(s);
	CHECK(st.tables == full.tables && st.rows == full.rows && st.pages == full.pages &&
		      st.row_bytes == full.row_bytes,
	      "%lu %lu %lu %lu, were %lu %lu %lu %lu", st.tables, st.rows, st.pages, st.row_bytes,
	      full.tables, full.rows, full.pages, full.row_bytes);
	for (int i = 0; i < cnt; i++)
		unwind_store__drop(s, &at[i]);
	unwind_store__reclaim(s, UINT64_MAX);
	st = unwind_store__stats(s);
	CHECK(!st.tables && !st.rows && !st.pages, "%lu rows, %lu pages", (unsigned long)st.rows,
	      (unsigned long)st.pages);
}

static void test_tables(void)
{
	struct unwind_store_stats st;
	struct unwind_store *s;
	struct unwind_table t;
	struct unwind_place at[41];
	size_t size;
	char *image = read_file("/lib/x86_64-linux-gnu/libc.so.6", &size);
	int err = 0, n;

	if (!image || build(image, size, &t))
		return;
	CHECK(!unwind_store__new(&s, NULL, 2 << 20));
	for (n = 0; n < 40 && !err; n++) {
		err = unwind_store__add(s, &t, &at[n]);
		if (!err && n % 5 == 0)
			check_stored(s, &t, at[n].page0);
	}
	st = unwind_store__stats(s);
	CHECK(err == -ENOSPC && st.row_bytes <= 2 << 20, "%d, %lu bytes", err,
	      (unsigned long)st.row_bytes);
	CHECK(st.rules == t.rule_cnt, "rules are shared");
	/* 4 a row, an eighth for what ends of segments lose, 8 a page */
	CHECK((double)(st.row_bytes + 8 * st.pages) / st.rows < 5, "%.2f bytes a row",
	      (double)(st.row_bytes + 8 * st.pages) / st.rows);
	printf("%d tables, %.2f bytes a row\n", n - 1,
	       (double)(st.row_bytes + 8 * st.pages) / st.rows);
	check_stored(s, &t, at[0].page0);
	check_stored(s, &t, at[n - 2].page0);
	check_dropped(s, &t, at, n - 1);
	unwind_store__free(s);
	unwind_table__fini(&t);
	free(image);
}

static void test_processes(void)
{
	struct range ranges[RANGE_SEG_CNT] = {{0}};
	struct unwind_store_stats st;
	struct unwind_store *s;
	struct proc p, before;
	uint64_t now = 1;

	CHECK(!unwind_store__new(&s, NULL, 1 << 20));
	for (uint32_t i = 0; i < RANGE_SEG_CNT; i++)
		ranges[i] =
			(struct range){i * 0x1000ULL, i * 0x1000ULL + 0x800, i, i, i, RANGE_TABLE};
	CHECK(unwind_store__publish(s, 1, PROC_TARGET, 0, ranges, RANGE_SEG_CNT) == -E2BIG);
	CHECK(!unwind_store__proc(s, 1, &p));
	CHECK(!unwind_store__publish(s, 1, PROC_TARGET, 7, ranges, RANGE_SEG_CNT - 1));
	CHECK(!unwind_store__publish(s, 4097, PROC_TARGET | PROC_INHERIT, 0, NULL, 0),
	      "the same bucket");
	CHECK(unwind_store__proc(s, 1, &p) && p.jit_binary == 7 &&
	      p.range_cnt == RANGE_SEG_CNT - 1);
	CHECK(unwind_store__proc(s, 4097, &p) && !p.range_cnt && p.generation);
	for (int round = 0; round < 2000; round++) {
		uint32_t cnt = 1 + round * 37 % 300, tgid = 100 + round % 50;
		size_t size;
		const struct range_seg *seg;

		if (unwind_store__proc(s, tgid, &before))
			CHECK(before.generation);
		else
			before.generation = 0;
		CHECK(!unwind_store__publish(s, tgid, PROC_TARGET, 0, ranges + round, cnt));
		CHECK(unwind_store__proc(s, tgid, &p) && p.range_cnt == cnt &&
		      p.generation != before.generation);
		seg = map(s, UNWIND_MEM_RANGES, p.ranges >> RANGE_SEG_SHIFT, &size);
		CHECK(seg && seg->ranges[p.ranges % RANGE_SEG_CNT].bias == p.generation,
		      "the head");
		CHECK(seg && !memcmp(&seg->ranges[p.ranges % RANGE_SEG_CNT + 1], ranges + round,
				     cnt * sizeof(*ranges)));
		munmap((void *)seg, size);
		if (round % 100 == 99) /* a long time later */
			unwind_store__reclaim(s, UINT64_MAX);
	}
	CHECK(unwind_store__memory(s, UNWIND_MEM_RANGES, 12, &(size_t){0}) < 0,
	      "places are used again");
	for (uint32_t tgid = 1; tgid < 5000; tgid++)
		unwind_store__remove(s, tgid);
	CHECK(unwind_store__remove(s, 1) == -ENOENT);
	unwind_store__reclaim(s, now);
	unwind_store__reclaim(s, UINT64_MAX);
	st = unwind_store__stats(s);
	CHECK(!st.ranges, "%lu ranges left", (unsigned long)st.ranges);
	unwind_store__free(s);
}

/* Two processes fold to one place: the last one has it, and keeps it when the other goes. */
static void test_target_procs(void)
{
	const struct proc a = {1, 2, 3, 4, 5, 0}, b = {6, 7, 8, 9, 10, 0};
	const uint32_t tgid = 77, other = tgid + TARGET_PROCS;
	static struct target_proc procs[TARGET_PROCS];
	const struct target_proc *at = &procs[tgid];

	target_proc__note(procs, tgid, NULL);
	CHECK(!at->tgid && !at->proc.generation);
	target_proc__note(procs, tgid, &a);
	CHECK(at->tgid == tgid && !memcmp(&at->proc, &a, sizeof(a)));
	target_proc__note(procs, other, &b);
	CHECK(at->tgid == other && !memcmp(&at->proc, &b, sizeof(b)));
	target_proc__note(procs, tgid, NULL);
	CHECK(at->tgid == other && at->proc.generation == b.generation);
	target_proc__note(procs, other, NULL);
	CHECK(!at->proc.generation, "%u", at->proc.generation);
	for (size_t i = 0; i < TARGET_PROCS; i++)
		CHECK(i == tgid || !procs[i].tgid, "%zu", i);
}

int main(void)
{
	test_without_sections();
	test_cut();
	test_room();
	test_debug_frame();
	test_runs();
	test_tables();
	test_processes();
	test_target_procs();
	return failed;
}
