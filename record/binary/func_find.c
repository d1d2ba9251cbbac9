/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/elf_functions.h"
#include "record/binary/func_find.h"
#include "record/binary/func_pattern.h"
#include "record/binary/go_code.h"
#include "record/binary/tls_sites.h"
#include "record/binary/uprobe_place.h"
#include "record/elf/elf_open.h"

enum {
	NAMES_MAX = 16 * FUNC_MAX, /* found, with aliases */
	COLD_MAX = 64 << 10,
	CODE_MAX_SZ = 1 << 20,
	PARTS_MAX = 16,
	BLOCK_MAX_SZ = 4096,
	STARTS_MAX = 1 << 20,
};

struct named {
	uint64_t address, size;
	uint32_t pattern, matches;
	bool exact;
	bool twin; /* another function has the same name */
	char *name;
};

struct list {
	struct named *item;
	size_t cnt, cap, max, left_out;
};

struct finder {
	int fd;
	Elf *elf;
	struct func_pattern pattern[FUNC_PATTERNS_MAX];
	size_t pattern_cnt;
	uint64_t how; /* FUNC_FIND_* */
	struct list found, cold;
	uint64_t *starts; /* of all functions */
	size_t start_cnt, start_cap;
	uint64_t entry;	       /* of the program */
	uint32_t indirect;     /* patterns that match indirect functions */
	struct func_site site; /* large */
};

/* ---- symbols ---- */

static void keep(struct list *l, const Elf64_Sym *sym, const char *name, uint32_t matches,
		 bool exact)
{
	size_t cap = l->cap ? 2 * l->cap : 64;
	struct named *more;

	if (l->cnt == l->max) {
		l->left_out++;
		return;
	}
	if (l->cnt == l->cap) {
		more = realloc(l->item, cap * sizeof(*more));
		if (!more) {
			l->left_out++;
			return;
		}
		l->item = more;
		l->cap = cap;
	}
	more = &l->item[l->cnt];
	*more = (struct named){.address = sym->st_value,
			       .size = sym->st_size,
			       .pattern = __builtin_ctz(matches),
			       .matches = matches,
			       .exact = exact,
			       .name = strdup(name)};
	l->cnt += !!more->name;
}

static void keep_start(struct finder *f, uint64_t address)
{
	size_t cap = f->start_cap ? 2 * f->start_cap : 1024;
	uint64_t *more = f->start_cnt < f->start_cap ? f->starts
			 : cap > STARTS_MAX	     ? NULL
						     : realloc(f->starts, cap * sizeof(*more));

	if (!more)
		return;
	f->start_cap = f->start_cnt < f->start_cap ? f->start_cap : cap;
	f->starts = more;
	f->starts[f->start_cnt++] = address;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Code that is not called, so that no return address is on top of the stack. */
static bool is_called(const struct finder *f, uint64_t address, const char *name)
{
	static const char *const not [] = {"_start", "_dl_start_user", "__restore_rt"};

	for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
		if (!strcmp(name, not [i]))
			return false;
	return address != f->entry;
}

/* Functions that keep their return address for later, or have more than it on the stack. */
static bool is_pinned(const char *name)
{
	static const char *const names[] = {
		"setjmp",     "_setjmp",     "sigsetjmp",	    "__sigsetjmp",
		"getcontext", "swapcontext", "_dl_runtime_resolve", "_dl_runtime_profile",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool match(void *ctx, const Elf64_Sym *sym, const char *name)
{
	struct finder *f = ctx;
	uint32_t matches = 0;

	if (strstr(name, ".cold")) {
		keep(&f->cold, sym, name, 1, false);
		return true;
	}
	if (ELF64_ST_TYPE(sym->st_info) != STT_GNU_IFUNC)
		keep_start(f, sym->st_value);
	if (!is_called(f, sym->st_value, name))
		return true;
	for (size_t i = 0; i < f->pattern_cnt; i++)
		if (!(f->how & FUNC_FIND_USDT(i)) && func_pattern_matches(&f->pattern[i], name))
			matches |= 1u << i;
	if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		f->indirect |= matches;
	else if (matches)
		keep(&f->found, sym, name, matches, f->pattern[__builtin_ctz(matches)].exact);
	return true;
}

/* Go's own table, which strip leaves. */
static void match_go(void *ctx, const struct go_function *g)
{
	match(ctx, &(Elf64_Sym){.st_value = g->start, .st_size = g->end - g->start}, g->name);
}

/* The preferred one of several names of a function comes first. */
static int by_address(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	size_t x_len = strlen(x->name), y_len = strlen(y->name);

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->exact != y->exact)
		return x->exact ? -1 : 1;
	return x_len != y_len ? (x_len < y_len ? -1 : 1) : strcmp(x->name, y->name);
}

static void list_fini(struct list *l)
{
	for (size_t i = 0; i < l->cnt; i++)
		free(l->item[i].name);
	free(l->item);
}

/* ---- places ---- */

static void drop_code(struct func_code *part, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free((void *)part[i].bytes);
}

static uint64_t section_end(const struct finder *f, uint64_t address)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR &&
		    address - sh.sh_addr < sh.sh_size)
			return sh.sh_addr + sh.sh_size;
	return address;
}

/* Symbols of code written in assembler may have no size: it ends where the next function begins. */
static uint64_t size_of(const struct finder *f, const struct named *n)
{
	uint64_t end = n->size ? 0 : section_end(f, n->address);

	for (size_t i = 0; end && i < f->start_cnt && f->starts[i] < end; i++)
		if (f->starts[i] > n->address)
			end = f->starts[i];
	if (n->size)
		return n->size;
	return end - n->address < BLOCK_MAX_SZ ? end - n->address : BLOCK_MAX_SZ;
}

static bool read_code(struct finder *f, const struct named *n, struct func_code *c)
{
	uint64_t offset;
	uint8_t *bytes;

	if (!n->size || n->size > CODE_MAX_SZ || !tls_file_offset(f->elf, n->address, &offset))
		return false;
	bytes = malloc(n->size);
	if (!bytes || !elf_functions_read(f->fd, offset, bytes, n->size)) {
		free(bytes);
		return false;
	}
	*c = (struct func_code){.address = n->address, .size = n->size, .bytes = bytes};
	return true;
}

static bool is_part(const struct named *cold, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(cold->name, name, len) && !strncmp(cold->name + len, ".cold", 5);
}

/* Stripped files do not tell where the cold part of a function is: it is the code that conditional
 * jumps lead to and where no function begins. Returns whether there is more of it. */
static bool add_blocks(struct finder *f, const struct func_exits *e, struct func_code *part,
		       size_t *cnt)
{
	size_t before = *cnt;

	for (uint32_t i = 0; i < e->beyond_cnt && *cnt < PARTS_MAX; i++) {
		struct named n = {.address = e->beyond[i], .size = BLOCK_MAX_SZ};
		struct func_code *c = &part[*cnt];

		while (n.size && !read_code(f, &n, c)) /* it may be the last of the file */
			n.size /= 2;
		if (!n.size)
			continue;
		c->size = func_exits_block(c->bytes, c->size);
		if (c->size)
			++*cnt;
		else
			free((void *)c->bytes);
	}
	return *cnt > before;
}

static bool to_offsets(const struct finder *f, uint64_t *at, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++)
		if (!tls_file_offset(f->elf, at[i], &at[i]))
			return false;
	return true;
}

/* Finds the exits of a function that is probed `skip` bytes behind its start. */
static bool find_exits(struct finder *f, const struct named *n, bool go, struct func_exits *to,
		       uint64_t skip)
{
	const struct named sized = {.address = n->address, .size = size_of(f, n)};
	struct func_code part[PARTS_MAX];
	size_t cnt = read_code(f, &sized, &part[0]);
	const struct func_starts starts = {f->starts, f->start_cnt};
	bool ok = cnt;

	part[0].again = go;
	for (size_t i = 0; i < f->cold.cnt && cnt && cnt < PARTS_MAX; i++)
		if (is_part(&f->cold.item[i], n->name))
			cnt += read_code(f, &f->cold.item[i], &part[cnt]);
	do
		ok = ok && func_exits_find(part, cnt, skip, &starts, to);
	while (ok && add_blocks(f, to, part, &cnt));
	drop_code(part, cnt);
	return ok && to_offsets(f, to->at, to->returns + to->jumps) &&
	       to_offsets(f, to->if_at, to->ifs);
}

/* Chooses the place of the entry, and finds those of the exits. */
static bool find_place(struct finder *f, const struct named *n)
{
	struct func_site *s = &f->site;
	uint8_t code[UPROBE_CODE_SZ];
	uint64_t offset;
	size_t skip;
	ssize_t len;
	bool known;

	memset(s, 0, sizeof(*s));
	s->pattern = n->pattern;
	s->matches = n->matches;
	if (!tls_file_offset(f->elf, n->address, &offset))
		return false;
	len = pread(f->fd, code, sizeof(code), offset);
	if (len <= 0)
		return false;
	if (n->size && (uint64_t)len > n->size)
		len = n->size;
	skip = go_code_check(code, len);
	s->go = skip;
	if (s->go)
		s->step = false;
	else if (f->how / FUNC_FIND_ARGS(0) & n->matches)
		s->step = !uprobe_place_args(code, len, FUNC_ARGS, &skip);
	else
		s->step = !uprobe_place_deep(code, len, &skip, &s->below);
	known = find_exits(f, n, s->go, &s->exits, skip);
	s->pinned = is_pinned(n->name);
	s->by_return = !known || (f->how & FUNC_FIND_URETPROBES && !s->pinned);
	if (s->by_return && s->below) { /* the return address must be on top of the stack */
		s->step = !uprobe_place(code, len, &skip);
		s->below = 0;
	}
	/* It would be entered again and again, or may be. */
	if ((known ? s->exits.restarts : skip && !s->go) || s->below >= FUNC_BELOW_MAX) {
		s->step = true;
		skip = s->below = 0;
	}
	s->loops = known && s->exits.loops;
	if (s->by_return)
		memset(&s->exits, 0, sizeof(s->exits));
	s->entry = offset + skip;
	s->place.position = s->entry & 0xfff;
	len = pread(f->fd, s->place.code, sizeof(s->place.code), s->entry + FUNC_CODE_AT);
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct named *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* Joins the names of each function. */
static void join_names(struct list *l)
{
	size_t cnt = 0;

	qsort(l->item, l->cnt, sizeof(*l->item), by_address);
	for (size_t i = 0; i < l->cnt; i++) {
		struct named *last = cnt ? &l->item[cnt - 1] : NULL;

		if (last && last->address == l->item[i].address) {
			last->matches |= l->item[i].matches;
			last->pattern = __builtin_ctz(last->matches);
			free(l->item[i].name);
		} else {
			l->item[cnt++] = l->item[i];
		}
	}
	l->cnt = cnt;
}

static void add_address(struct named *n)
{
	char *name;

	if (asprintf(&name, "%s@%#llx", n->name, (unsigned long long)n->address) < 0)
		return;
	free(n->name);
	n->name = name;
}

/* Static functions of several source files may have one name, and versions of a library's. */
static void find_twins(struct list *l)
{
	struct named **sorted = calloc(l->cnt, sizeof(*sorted));

	for (size_t i = 0; i < l->cnt && sorted; i++)
		sorted[i] = &l->item[i];
	if (sorted)
		qsort(sorted, l->cnt, sizeof(*sorted), by_name);
	for (size_t i = 0, same; i < l->cnt && sorted; i = same) {
		for (same = i + 1; same < l->cnt && !by_name(&sorted[i], &sorted[same]);)
			same++;
		for (size_t n = i; same - i > 1 && n < same; n++)
			sorted[n]->twin = true;
	}
	free(sorted);
}

size_t func_find(int fd, const char *const *patterns, size_t cnt, uint64_t how,
		 bool (*fn)(void *ctx, const struct func_site *site), void *ctx, uint32_t *indirect)
{
	struct finder *f = calloc(1, sizeof(*f));
	size_t told = 0, left_out = 0;
	GElf_Ehdr head;

	*indirect = 0;
	if (!f)
		return 0;
	f->fd = fd;
	f->pattern_cnt = cnt < FUNC_PATTERNS_MAX ? cnt : FUNC_PATTERNS_MAX;
	for (size_t i = 0; i < f->pattern_cnt; i++)
		func_pattern_init(&f->pattern[i], patterns[i]);
	f->how = how;
	f->found.max = NAMES_MAX;
	f->cold.max = COLD_MAX;
	f->elf = elf_open(fd);
	if (f->elf && gelf_getehdr(f->elf, &head))
		f->entry = head.e_entry;
	if (f->elf && gelf_getclass(f->elf) == ELFCLASS64)
		elf_functions_each_kind(fd, f->elf, match, f);
	if (f->elf && !f->found.cnt)
		go_code_each(f->elf, match_go, f);
	if (f->start_cnt)
		qsort(f->starts, f->start_cnt, sizeof(*f->starts), by_number);
	if (f->found.cnt) {
		join_names(&f->found);
		find_twins(&f->found);
	}
	for (size_t i = 0; i < f->found.cnt; i++) {
		struct named *n = &f->found.item[i];

		if (told == FUNC_MAX)
			left_out++;
		else if (find_place(f, n)) {
			told++;
			if (n->twin)
				add_address(n);
			f->site.name = n->name;
			if (!fn(ctx, &f->site))
				break;
		}
	}
	left_out += f->found.left_out;
	*indirect = f->indirect;
	list_fini(&f->found);
	list_fini(&f->cold);
	free(f->starts);
	elf_end(f->elf);
	free(f);
	return left_out;
}
