/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Builds a table from the sections of an image: lists all functions with unwind information in
 * address order, then runs the program of each and writes its rows. Each function is taken from one
 * source: .eh_frame is preferred to .debug_frame, and that to Go's tables. If two functions
 * overlap, the start of the later one ends the earlier.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/unwind/unwind_go.h"
#include "record/unwind/unwind_image.h"
#include "record/unwind/unwind_rows.h"
#include "record/unwind/unwind_table.h"

#define ENTRY_CODE_MAX                                                                             \
	256 /* bytes of start code without unwind information that are taken to be the outermost   \
	       frame */

#define GIVE_BACK_CNT (64u << 10) /* number of functions: 1 MiB */

enum source { SOURCE_EH, SOURCE_DEBUG, SOURCE_GO, SOURCE_STUB, SOURCE_END, SOURCE_CNT };

/* A function: its range and the location of its description. */
struct function {
	uint64_t start;
	uint32_t size;
	uint32_t source : 3, off : 29; /* off: bytes into the section, or index */
};

struct functions {
	struct function *v;
	size_t cnt, cap;
	size_t gone; /* number of leading entries whose memory was released */
};

struct build {
	struct unwind_image image;
	struct unwind_table *table;
	struct functions functions;
	struct go_table go;
	struct cfi_cie cie[2]; /* the last CIE read of SOURCE_EH and SOURCE_DEBUG */
	struct cfi_rows rows;
	struct row_writer writer;
	uint64_t room; /* bytes for functions and rows */
	bool used[SOURCE_CNT];
	bool wants_rbx; /* the CFA of a frame depends on rbx */
};

static const struct rule rule_none, rule_end = {.cfa = CFA_END};

#if ARCH_ARM64
#define IN_LINK_REGISTER .saved = RULE_SAVED(SAVED_REG, SAVED_SAME), .ra_off = UNWIND_RA
static const struct rule stub_rules[] = {
	[STUB_CALLED] = {.cfa = CFA_REG, .reg = UNWIND_SP, IN_LINK_REGISTER},
	[STUB_PUSHED] = {.cfa = CFA_REG,
			 .reg = UNWIND_SP,
			 .saved = RULE_SAVED(SAVED_AT_CFA, SAVED_SAME),
			 .off = 16,
			 .ra_off = -8},
	/* sp, pc and x29 of struct sigcontext, at UNWIND_SIGCTX_OFF */
	[STUB_SIGRETURN] = {.cfa = CFA_DEREF | CFA_SIGNAL,
			    .reg = UNWIND_SP,
			    .saved = RULE_SAVED(SAVED_AT_SP, SAVED_AT_SP),
			    .off = UNWIND_SIGCTX_OFF + 31 * 8,
			    .ra_off = UNWIND_SIGCTX_OFF + 32 * 8,
			    .fp_off = UNWIND_SIGCTX_OFF + 29 * 8},
};
#else
#define AT_CALL                                                                                    \
	.reg = UNWIND_SP, .saved = RULE_SAVED(SAVED_AT_CFA, SAVED_SAME), .off = 8, .ra_off = -8
static const struct rule stub_rules[] = {
	[STUB_CALLED] = {.cfa = CFA_REG, AT_CALL},
	[STUB_LAZY] = {.cfa = CFA_PLT, .add = 11, AT_CALL},
};
#endif

static int function_add(struct build *b, uint64_t start, uint64_t end, enum source source,
			uint32_t off)
{
	struct functions *f = &b->functions;

	if (end - start > UINT32_MAX)
		return 0;
	if ((f->cnt + 1) * sizeof(*f->v) > b->room)
		return -E2BIG;
	if (f->cnt == f->cap) {
		size_t cap = f->cap ? f->cap + f->cap / 2 : 1024;
		struct function *v = realloc(f->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		f->v = v;
		f->cap = cap;
	}
	f->v[f->cnt++] = (struct function){start, end - start, source, off};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (int)x->source - (int)y->source;
}

static bool is_sorted(const struct functions *f)
{
	for (size_t i = 1; i < f->cnt; i++)
		if (by_start(&f->v[i - 1], &f->v[i]) > 0)
			return false;
	return true;
}

/* Linkers emit nearly sorted lists; checking a sorted list takes one pass. Removes functions with
 * equal start. */
static int sort(struct build *b)
{
	struct functions *f = &b->functions;
	size_t cnt = 0;

	if (!is_sorted(f)) {
		if (2 * f->cnt * sizeof(*f->v) > b->room) /* qsort() of glibc makes a copy */
			return -E2BIG;
		qsort(f->v, f->cnt, sizeof(*f->v), by_start);
	}
	for (size_t i = 0; i < f->cnt; i++)
		if (!cnt || f->v[cnt - 1].start != f->v[i].start)
			f->v[cnt++] = f->v[i];
	f->cnt = cnt;
	return 0;
}

/* Returns true if one of the first `cnt` (sorted) functions overlaps [start, end). */
static bool covered(const struct functions *f, size_t cnt, uint64_t start, uint64_t end)
{
	size_t lo = 0, hi = cnt;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->v[mid].start < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && f->v[lo - 1].start + f->v[lo - 1].size > start;
}

static const struct cfi_section *section_of(const struct build *b, enum source source)
{
	return source == SOURCE_EH ? &b->image.eh_frame.s : &b->image.debug_frame.s;
}

/* Lists functions of a section that are not covered yet. */
static int scan_section(struct build *b, enum source source)
{
	const struct cfi_section *s = section_of(b, source);
	struct cfi_cie *cie = &b->cie[source];
	size_t offset = 0, at, known = b->functions.cnt;
	struct cfi_fde fde;
	enum cfi_entry e;
	int err = 0;

	if (!s->size)
		return 0;
	do {
		at = offset;
		if (at >= 1u << 29)
			break;
		e = cfi_next(s, &offset, cie, &fde);
		if (e == CFI_BAD)
			b->image.malformed = true;
		if (e == CFI_FDE && unwind_image_has_code(&b->image, fde.start, fde.end) &&
		    !covered(&b->functions, known, fde.start, fde.end))
			err = function_add(b, fde.start, fde.end, source, at);
	} while (!err && e != CFI_END && offset > at);
	return err ? err : sort(b);
}

/* special: functions where a stack ends, which the other tables do not describe as such. */
static int scan_go(struct build *b, bool special)
{
	size_t known = b->functions.cnt;
	struct go_function f;
	int err = 0;

	if (!b->go.version)
		return 0;
	for (size_t i = 0; i < b->go.nfunc && !err; i++) {
		if (!go_table__function(&b->go, i, &f)) {
			b->image.malformed = true;
			continue;
		}
		/* returned to, not called: looked up at its start minus one */
		if (f.kind == GO_SIGNAL)
			f.start--;
		if (special == (f.kind != GO_NORMAL) &&
		    unwind_image_has_code(&b->image, f.start, f.end) &&
		    !covered(&b->functions, known, f.start, f.end))
			err = function_add(b, f.start, f.end, SOURCE_GO, i);
	}
	return err ? err : sort(b);
}

/* Code without unwind information, such as jump tables for indirect functions in static
 * programs. */
static int scan_stubs(struct build *b)
{
	const struct unwind_image *im = &b->image;
	size_t known = b->functions.cnt;
	int err = 0;

	for (unsigned i = 0; i < im->stub_cnt && !err; i++)
		if (unwind_image_has_code(im, im->stubs[i].start, im->stubs[i].end) &&
		    !covered(&b->functions, known, im->stubs[i].start, im->stubs[i].end))
			err = function_add(b, im->stubs[i].start, im->stubs[i].end, SOURCE_STUB, i);
	return err ? err : sort(b);
}

/* Start code often has no unwind information; it is the outermost frame. */
static int scan_entry(struct build *b)
{
	uint64_t start = b->image.entry, end = start + ENTRY_CODE_MAX;
	struct functions *f = &b->functions;
	int err;

	if (!start || !unwind_image_has_code(&b->image, start, start + 1) ||
	    covered(f, f->cnt, start, start + 1))
		return 0;
	for (size_t i = 0; i < f->cnt; i++) {
		if (f->v[i].start > start) {
			if (end > f->v[i].start)
				end = f->v[i].start;
			break;
		}
	}
	err = function_add(b, start, end, SOURCE_END, 0);
	return err ? err : sort(b);
}

static int run_function(struct build *b, const struct function *f)
{
	const struct cfi_section *s = section_of(b, f->source);
	struct go_function go;
	struct cfi_fde fde;
	size_t offset = f->off;

	b->rows.cnt = 0;
	if (f->source == SOURCE_END)
		return cfi_rows_add(&b->rows, f->start, &rule_end);
	if (f->source == SOURCE_STUB)
		return cfi_rows_add(&b->rows, f->start, &stub_rules[b->image.stubs[f->off].kind]);
	if (f->source == SOURCE_GO) {
		if (!go_table__function(&b->go, f->off, &go))
			return -EBADMSG;
		go.start = f->start;
		return go_table__run(&b->go, &go, &b->rows);
	}
	if (cfi_next(s, &offset, &b->cie[f->source], &fde) != CFI_FDE)
		return -EBADMSG;
	return cfi_run(s, &b->cie[f->source], &fde, &b->rows);
}

static int write_function(struct build *b, const struct function *f, uint64_t end)
{
	int err = run_function(b, f);

	if (err == -EBADMSG) { /* omitted completely */
		b->image.malformed = true;
		return row_writer__add(&b->writer, f->start, &rule_none);
	}
	for (size_t i = 0; !err && i < b->rows.cnt && b->rows.v[i].address < end; i++) {
		const struct rule *r = &b->rows.v[i].rule;

		b->wants_rbx |= r->cfa == CFA_REG && r->reg == UNWIND_RBX;
		err = row_writer__add(&b->writer, b->rows.v[i].address, r);
	}
	b->used[f->source] = true;
	b->table->fde_cnt++;
	return err;
}

/* Releases memory of functions already written while the rows grow. */
static void give_back(struct functions *f, size_t done)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), from, to;

	if (done - f->gone < GIVE_BACK_CNT)
		return;
	from = ((uintptr_t)(f->v + f->gone) + page - 1) & -page;
	to = (uintptr_t)(f->v + done) & -page;
	if (!madvise((void *)from, to - from, MADV_DONTNEED))
		f->gone = done;
}

/* Checks the limit for the remaining functions and the rows, and for twice the rows, as they will
 * be copied into the store. */
static bool has_room(const struct build *b)
{
	size_t rows = b->table->row_cnt * sizeof(*b->table->rows);

	return (b->functions.cnt - b->functions.gone) * sizeof(struct function) + rows <= b->room &&
	       2 * rows <= b->room;
}

static int write_rows(struct build *b)
{
	struct functions *f = &b->functions;
	uint64_t end = 0;
	int err = 0;

	for (size_t i = 0; i < f->cnt && !err; i++) {
		const struct function *cur = &f->v[i];
		bool last = i + 1 == f->cnt;

		end = cur->start + cur->size;
		if (!last && f->v[i + 1].start < end)
			end = f->v[i + 1].start;
		err = write_function(b, cur, end);
		if (!err && (last || f->v[i + 1].start > end))
			err = row_writer__add(&b->writer, end, &rule_none);
		if (!err && !has_room(b))
			err = -E2BIG;
		give_back(f, i + 1);
	}
	return err;
}

static const char *source_name(const struct build *b)
{
	static const char *const names[] = {".eh_frame", ".debug_frame", ".gopclntab"};
	const char *name = "none";

	for (int i = 0; i < SOURCE_STUB; i++) {
		if (!b->used[i])
			continue;
		if (strcmp(name, "none"))
			return "several";
		name = names[i];
	}
	return name;
}

static uint64_t highest_end(const struct functions *f)
{
	uint64_t end = 0;

	for (size_t i = 0; i < f->cnt; i++)
		if (f->v[i].start + f->v[i].size > end)
			end = f->v[i].start + f->v[i].size;
	return end;
}

static int list_functions(struct build *b)
{
	int err;

	b->functions.cnt = b->functions.gone = 0;
	go_table__open(&b->go, &b->image);
	if ((err = scan_section(b, SOURCE_EH)) || (err = scan_go(b, true)) ||
	    (err = scan_section(b, SOURCE_DEBUG)) || (err = scan_go(b, false)) ||
	    (err = scan_stubs(b)) || (err = scan_entry(b)))
		return err;
	if (!b->functions.cnt)
		return b->image.malformed ? -EBADMSG : -ENODATA;
	return 0;
}

static int write_table(struct build *b)
{
	struct functions *f = &b->functions;
	int err = row_writer__init(&b->writer, b->table, f->v[0].start, highest_end(f));

	if (err == -ERANGE)
		return -EBADMSG;
	return err ? err : write_rows(b);
}

static int build(struct build *b)
{
	int err = list_functions(b);

	if (!err)
		err = write_table(b);
	if (!err && b->wants_rbx) { /* the dynamic linker: run again with rules for rbx */
		row_writer__fini(&b->writer);
		unwind_table__fini(b->table);
		b->image.eh_frame.s.follow_rbx = b->image.debug_frame.s.follow_rbx = true;
		err = list_functions(b);
		err = err ? err : write_table(b);
	}
	if (err)
		return err;
	b->table->source = source_name(b);
	row_writer__finish(&b->writer);
	return b->image.malformed ? -EBADMSG : 0;
}

int unwind_table__build(Elf *elf, int fd, uint64_t room, struct unwind_table *t)
{
	struct build *b = calloc(1, sizeof(*b));
	int err;

	*t = (struct unwind_table){.source = "none"};
	if (!b)
		return -ENOMEM;
	b->table = t;
	b->room = room;
	err = unwind_image__open(&b->image, elf);
	if (!err)
		err = unwind_image__open_frames(&b->image, fd, &b->room);
	if (!err)
		err = build(b);
	row_writer__fini(&b->writer);
	unwind_image__close_frames(&b->image);
	free(b->functions.v);
	free(b->rows.v);
	free(b);
	if (err == -ENOMEM || err == -E2BIG)
		unwind_table__fini(t);
	return err;
}

void unwind_table__fini(struct unwind_table *t)
{
	free(t->rows);
	free(t->pages);
	free(t->rules);
	*t = (struct unwind_table){.source = "none"};
}

const struct rule *unwind_table__find(const struct unwind_table *t, uint64_t address)
{
	uint64_t page = (address >> PAGE_SHIFT_ELF) - t->first_page;
	uint32_t lo = 0, hi, low = address & 0xffff;
	const struct unwind_page *p;

	if (page >= t->page_cnt)
		return NULL;
	p = &t->pages[page];
	hi = p->cnt;
	if (!hi)
		return &t->rules[0];
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->rows[p->first + mid] >> 16 <= low)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &t->rules[t->rows[p->first + lo - 1] & 0xffff];
}
