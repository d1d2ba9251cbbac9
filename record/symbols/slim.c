/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/slim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/symbols/slim_go.h"
#include "record/symbols/slim_layout.h"
#include "record/symbols/slim_mini.h"

/* DWARF 2 to 5 sections that the analyser reads. Omitted: .debug_loc and loclists (variables),
 * frame (stacks are already unwound), macro, pubnames, names and gdb_index (look-up by name). */
static const char *const dwarf_sections[] = {
	".debug_info",	   ".debug_types",  ".debug_abbrev",   ".debug_line",
	".debug_line_str", ".debug_str",    ".debug_aranges",  ".debug_str_offsets",
	".debug_addr",	   ".debug_ranges", ".debug_rnglists",
};

/* Returns the plain name of a listed ".debug_X" or ".zdebug_X", else NULL. */
static const char *dwarf_name(const char *name)
{
	if (name[0] != '.')
		return NULL;
	name += name[1] == 'z' ? 2 : 1;
	for (size_t i = 0; i < sizeof(dwarf_sections) / sizeof(*dwarf_sections); i++)
		if (!strcmp(name, dwarf_sections[i] + 1))
			return dwarf_sections[i];
	return NULL;
}

/* ---- selecting sections */

/* Assigns the source of a section's bytes. */
static bool fill(struct slim_section *to, const struct slim_elf *from, size_t index,
		 const char *name)
{
	if (!slim_part_of(&to->part, from, index))
		return false;
	to->h = from->shdrs[index];
	to->h.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
	to->name = name;
	return true;
}

/* Returns the place for a section of `from`: the base's own number, its empty counterpart in a
 * debug file, or a new one at the end. */
static struct slim_section *place_of(struct slim *s, const struct slim_elf *from, size_t index)
{
	const Elf64_Shdr *h = &from->shdrs[index];

	if (from == s->base)
		return &s->sections[index];
	for (size_t i = 1; i < s->base->shdr_cnt; i++)
		if ((h->sh_flags & SHF_ALLOC) && s->sections[i].name &&
		    s->sections[i].h.sh_addr == h->sh_addr &&
		    s->sections[i].h.sh_type == SHT_NOBITS &&
		    !strcmp(s->sections[i].name, slim_elf_name(from, index)))
			return &s->sections[i];
	return slim_append(s);
}

/* Takes a symbol table and its strings. False: `from` has no readable one of that type. */
static bool take_symbols(struct slim *s, const struct slim_elf *from, uint32_t type)
{
	size_t index = slim_elf_find_type(from, type), link, entry;
	struct slim_section *table, *strings;
	struct slim_part probe;

	if (!slim_elf_has_bytes(from, index))
		return false;
	link = from->shdrs[index].sh_link;
	entry = from->is32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym);
	if (link == index || from->shdrs[index].sh_entsize != entry ||
	    from->shdrs[index].sh_size <= entry || !slim_part_of(&probe, from, index) ||
	    !slim_part_of(&probe, from, link) || from->shdrs[link].sh_type != SHT_STRTAB)
		return false;
	strings = place_of(s, from, link);
	fill(strings, from, link, slim_elf_name(from, link));
	table = place_of(s, from, index);
	fill(table, from, index, slim_elf_name(from, index));
	table->h.sh_link = strings - s->sections;
	return true;
}

static void take_section(struct slim *s, const struct slim_elf *from, const char *name)
{
	size_t index = slim_elf_find(from, name);

	if (slim_elf_has_bytes(from, index))
		fill(place_of(s, from, index), from, index, name);
}

/* Copies the base's section table without contents: allocated sections keep their addresses, the
 * others become inactive. */
static void outline(struct slim *s)
{
	for (size_t i = 1; i < s->base->shdr_cnt; i++) {
		struct slim_section *to = &s->sections[i];

		if (!(s->base->shdrs[i].sh_flags & SHF_ALLOC))
			continue;
		to->h = s->base->shdrs[i];
		to->h.sh_type = SHT_NOBITS;
		to->h.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		to->h.sh_link = to->h.sh_info = 0;
		to->name = slim_elf_name(s->base, i);
	}
	s->cnt = s->base->shdr_cnt;
}

static uint64_t dwarf_size(const struct slim_elf *e)
{
	struct slim_part part;
	uint64_t sum = 0;

	for (size_t i = 1; i < e->shdr_cnt; i++)
		if (dwarf_name(slim_elf_name(e, i)) && slim_part_of(&part, e, i))
			sum += part.out_sz; /* at most 65,279 sections of at most 8 GiB: no
					     * overflow */
	return sum;
}

/* Has skeleton units: DW_UT_skeleton in DWARF 5, .debug_addr with DWARF 4 in the earlier GNU
 * format. */
static bool is_split(const struct slim_elf *e)
{
	size_t index = slim_elf_find(e, ".debug_info");
	unsigned char unit[8];
	struct slim_part part;
	uint16_t version;

	if (!slim_part_of(&part, e, index) || part.coding != SLIM_PLAIN ||
	    part.in_sz < sizeof(unit) || slim_elf_read(e, part.in_off, unit, sizeof(unit)))
		return false;
	memcpy(&version, unit + 4, sizeof(version));
	return version >= 5 ? unit[6] == 4 : slim_elf_find(e, ".debug_addr") != 0;
}

static void take_dwarf(struct slim *s, uint64_t dwarf_max)
{
	const struct slim_elf *e = s->base;

	if (!slim_elf_has_dwarf(e))
		return;
	s->info.dwarf_sz = dwarf_size(e);
	s->info.dwarf_too_big =
		dwarf_max && (s->info.dwarf_sz > dwarf_max || s->info.dwarf_sz > SLIM_MAX_SZ);
	if (!dwarf_max || s->info.dwarf_too_big)
		return;
	for (size_t i = 1; i < e->shdr_cnt; i++) {
		const char *name = dwarf_name(slim_elf_name(e, i));

		if (!name || (e->shdrs[i].sh_flags & SHF_ALLOC) || s->sections[i].name)
			continue;
		if (fill(&s->sections[i], e, i, name) && !strcmp(name, ".debug_info"))
			s->info.symbols = "dwarf";
		s->sections[i].h.sh_link = s->sections[i].h.sh_info = 0;
	}
	take_section(s, e, ".gnu_debugaltlink");
	s->info.split = is_split(e);
}

static void choose(struct slim *s, const struct slim_elf *binary, const struct slim_elf *debug,
		   uint64_t dwarf_max)
{
	bool symtab;

	s->info.symbols = "none";
	outline(s);
	if (take_symbols(s, binary, SHT_DYNSYM))
		s->info.symbols = "dynsym";
	symtab = take_symbols(s, s->base, SHT_SYMTAB) ||
		 (debug && take_symbols(s, binary, SHT_SYMTAB));
	if (!symtab && !slim_mini__open(&s->mini, binary))
		symtab = s->has_mini = true;
	else if (!symtab && !slim_go__open(&s->mini, binary, s->base))
		symtab = s->has_mini = s->info.from_go = true;
	if (s->has_mini)
		symtab = take_symbols(s, &s->mini, SHT_SYMTAB);
	if (symtab)
		s->info.symbols = "symtab";
	take_section(s, binary, ".note.gnu.build-id");
	take_dwarf(s, dwarf_max);
	if (strcmp(s->info.symbols, "dwarf"))
		take_section(s, binary, ".gnu_debuglink");
}

/* Sections of a real file do not overlap; without this check a small file could describe an
 * unlimited size. */
static bool sections_overlap(const struct slim *s, uint64_t file_sz)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->cnt; i++)
		sum += s->sections[i].part.in_sz;
	return sum > file_sz;
}

int slim__plan(struct slim **out, const struct slim_elf *binary, const struct slim_elf *debug,
	       uint64_t dwarf_max)
{
	struct slim *s = calloc(1, sizeof(*s));
	int err = -ENOMEM;

	if (!s)
		return err;
	s->base = debug ? debug : binary;
	s->sections = calloc(s->base->shdr_cnt + SLIM_EXTRA_SECTIONS, sizeof(*s->sections));
	if (!s->sections)
		goto fail;
	choose(s, binary, debug, dwarf_max);
	err = -EBADMSG;
	if (sections_overlap(s, binary->file_sz + (debug ? debug->file_sz : 0) +
					(s->has_mini ? s->mini.file_sz : 0)))
		goto fail;
	err = slim_lay_out(s);
	if (err)
		goto fail;
	*out = s;
	return 0;
fail:
	slim__free(s);
	return err;
}

static uint64_t table_size(const struct slim_elf *e)
{
	return e->shdr_cnt * sizeof(*e->shdrs) + e->phdr_cnt * sizeof(*e->phdrs) + e->names_sz;
}

/* Memory for decompressing the most demanding DWARF section. */
static uint64_t decoder_size(const struct slim_elf *e)
{
	struct slim_part part;
	uint64_t most = 0;

	for (size_t i = 1; i < e->shdr_cnt; i++)
		if (dwarf_name(slim_elf_name(e, i)) && slim_part_of(&part, e, i) &&
		    slim_part_memory(&part) > most)
			most = slim_part_memory(&part);
	return most;
}

uint64_t slim__memory(const struct slim_elf *binary, const struct slim_elf *debug, bool dwarf,
		      uint64_t sink_sz)
{
	const struct slim_elf *base = debug ? debug : binary;
	uint64_t writing = SLIM_PART_BLOCKS + (dwarf ? decoder_size(base) : 0) + sink_sz, mini = 0;

	if (!slim_elf_find_type(base, SHT_SYMTAB) && !slim_elf_find_type(binary, SHT_SYMTAB))
		mini = slim_elf_find(binary, ".gnu_debugdata") ? SLIM_MINI_MEMORY
							       : slim_go_memory(binary);
	return table_size(base) * 2 + (debug ? table_size(binary) : 0) +
	       base->shdr_cnt * sizeof(struct slim_section) + (writing > mini ? writing : mini);
}

struct slim_info slim__info(const struct slim *s)
{
	return s->info;
}

void slim__free(struct slim *s)
{
	if (!s)
		return;
	if (s->has_mini) {
		close(s->mini.fd);
		slim_elf__fini(&s->mini);
	}
	free(s->sections);
	free(s->names);
	free(s->head);
	free(s->tail);
	free(s);
}
