/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/symtab.h"

#include <elf.h>

struct symtab_entry {
	uint64_t addr, sz;
	const char *name;
	uint32_t file; /* 1 + index in files; 0: not a local symbol */
};

struct raw_symbol {
	uint32_t name;
	uint8_t info;
	uint16_t shndx;
	uint64_t value, sz;
};

static void read_symbol(bool is64, struct cursor *c, struct raw_symbol *s)
{
	s->name = cursor_u32(c);
	if (!is64) {
		s->value = cursor_u32(c);
		s->sz = cursor_u32(c);
	}
	s->info = cursor_u8(c);
	cursor_u8(c);
	s->shndx = cursor_u16(c);
	if (is64) {
		s->value = cursor_u64(c);
		s->sz = cursor_u64(c);
	}
}

/* ARM's ELF ABI marks code and data within functions by local symbols $a, $d, $t, $x. */
static bool is_mapping_symbol(const struct elf_image *e, const char *name)
{
	uint16_t machine = elf_image__machine(e);

	return name[0] == '$' && (machine == EM_AARCH64 || machine == EM_ARM);
}

static bool wanted(const struct elf_image *e, const struct raw_symbol *s, const char *name)
{
	const struct elf_section *section;

	switch (ELF64_ST_TYPE(s->info)) {
	case STT_NOTYPE:
	case STT_FUNC:
	case STT_OBJECT:
	case STT_GNU_IFUNC:
		break;
	default:
		return false;
	}
	if (!name || !*name || is_mapping_symbol(e, name) || s->shndx == SHN_UNDEF)
		return false;
	if (s->shndx >= SHN_LORESERVE)
		return s->shndx == SHN_XINDEX;
	section = elf_image__section(e, s->shndx);
	return !section || (section->flags & SHF_ALLOC);
}

/* An entry to be sorted: its address and number. */
struct place {
	uint64_t addr;
	size_t at;
};

/* One pass of a radix sort, by byte `digit` of the address. Returns false if all have the same. */
static bool sort_by(struct place *to, const struct place *from, size_t cnt, unsigned digit)
{
	size_t next[256] = {0}, sum = 0;

	for (size_t i = 0; i < cnt; i++)
		next[from[i].addr >> 8 * digit & 0xff]++;
	if (next[from[0].addr >> 8 * digit & 0xff] == cnt)
		return false;
	for (size_t i = 0; i < 256; i++) {
		size_t n = next[i];

		next[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < cnt; i++)
		to[next[from[i].addr >> 8 * digit & 0xff]++] = from[i];
	return true;
}

/* Sorts by address. Of several entries at one, keeps the largest, of equal ones the last. */
static int sort(struct symtab *t)
{
	struct place *v = malloc(2 * t->cnt * sizeof(*v)), *from = v, *to;
	struct symtab_entry *sorted = malloc(t->cnt * sizeof(*sorted));
	size_t n = 0;

	if (!v || !sorted) {
		free(v);
		free(sorted);
		return -ENOMEM;
	}
	to = v + t->cnt;
	for (size_t i = 0; i < t->cnt; i++)
		v[i] = (struct place){t->entries[i].addr, i};
	for (unsigned digit = 0; digit < sizeof(v->addr); digit++)
		if (sort_by(to, from, t->cnt, digit)) {
			struct place *other = from;

			from = to;
			to = other;
		}
	for (size_t i = 0; i < t->cnt; i++) {
		const struct symtab_entry *e = &t->entries[from[i].at];
		bool again = n && sorted[n - 1].addr == e->addr;

		if (again && e->sz < sorted[n - 1].sz)
			continue;
		n -= again;
		sorted[n++] = *e;
	}
	free(v);
	free(t->entries);
	t->entries = sorted;
	t->cnt = n;
	return 0;
}

static int load_table(struct symtab *t, struct elf_image *e, const struct elf_section *s,
		      struct meter *m)
{
	const size_t entsize = elf_image__is64(e) ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct bytes data = elf_image__data(e, s);
	struct bytes strings = bytes_strings(elf_image__data(e, elf_image__section(e, s->link)));
	struct cursor c = cursor_at(data, 0);
	size_t cap = 0, file_cap = 0;
	int err = 0;

	while (!err && cursor_left(&c) >= entsize) {
		struct raw_symbol sym = {0};
		const char *name;

		read_symbol(elf_image__is64(e), &c, &sym);
		name = bytes_str(strings, sym.name);
		if (ELF64_ST_TYPE(sym.info) == STT_FILE) {
			err = meter_grow(m, &t->files, &file_cap, t->file_cnt + 1,
					 sizeof(*t->files));
			if (!err)
				t->files[t->file_cnt++] = name ? name : "";
		} else if (wanted(e, &sym, name)) {
			err = meter_grow(m, &t->entries, &cap, t->cnt + 1, sizeof(*t->entries));
			if (!err)
				t->entries[t->cnt++] = (struct symtab_entry){
					.addr = sym.value,
					.sz = sym.sz,
					.name = name,
					.file = ELF64_ST_BIND(sym.info) == STB_LOCAL
							? (uint32_t)t->file_cnt
							: 0,
				};
		}
	}
	if (!err && !meter_sort(m, t->cnt))
		err = -E2BIG;
	return t->cnt && !err ? sort(t) : err;
}

int symtab_load(struct symtab *t, struct elf_image *e, struct meter *m)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	int err = 0;

	*t = (struct symtab){0};
	for (unsigned k = 0; k < 2 && !t->cnt && !err; k++) {
		for (size_t i = 1; i < elf_image__section_cnt(e); i++) {
			const struct elf_section *s = elf_image__section(e, i);

			if (s->type != types[k])
				continue;
			err = load_table(t, e, s, m);
			t->dynamic = k == 1;
			break;
		}
	}
	if (err)
		symtab_fini(t);
	return err;
}

void symtab_fini(struct symtab *t)
{
	free(t->entries);
	free(t->files);
	*t = (struct symtab){0};
}

void symtab_find(const struct symtab *t, uint64_t addr, struct symtab_hit *hit)
{
	size_t lo = 0, hi = t->cnt;
	const struct symtab_entry *s;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->entries[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	*hit = (struct symtab_hit){.hi = lo < t->cnt ? t->entries[lo].addr : UINT64_MAX};
	if (!lo)
		return;
	s = &t->entries[lo - 1];
	if (s->sz && addr - s->addr >= s->sz) {
		hit->lo = s->addr + s->sz;
		return;
	}
	hit->lo = s->addr;
	if (s->sz && s->addr + s->sz > s->addr && s->addr + s->sz < hit->hi)
		hit->hi = s->addr + s->sz;
	hit->name = s->name;
	if (s->file && s->file <= t->file_cnt && *t->files[s->file - 1])
		hit->file = t->files[s->file - 1];
}
