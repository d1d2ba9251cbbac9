/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/dwarf/dwarf_split.h"

#include <limits.h>
#include <stdio.h>

static struct elf_image *open_at(const struct split_place *place, const char *path)
{
	return place->open ? place->open(place->ctx, path) : elf_image__open_path(path);
}

bool dwarf_package_open(struct dwarf_package *p, const struct split_place *place, struct meter *m)
{
	char full[4096];

	*p = (struct dwarf_package){0};
	if (!place->path ||
	    snprintf(full, sizeof(full), "%s.dwp", place->path) >= (int)sizeof(full))
		return false;
	p->elf = open_at(place, full);
	if (!p->elf)
		return false;
	budget_add_file(m->budget, elf_image__file(p->elf).len);
	dwarf_file_init(&p->file, p->elf, true, m);
	p->index = elf_image__debug(p->elf, "cu_index", m);
	p->type_index = elf_image__debug(p->elf, "tu_index", m);
	return true;
}

void dwarf_package_close(struct dwarf_package *p)
{
	elf_image__close(p->elf);
	*p = (struct dwarf_package){0};
}

/* .debug_cu_index: version, columns, units, slots; slots with hashes; slots with row numbers; a row
 * with section numbers; rows of offsets; rows of sizes. */
struct package_index {
	uint32_t version, columns, units, slots;
	struct bytes hashes, rows, sections, offsets, sizes;
};

static bool read_index(struct bytes b, struct package_index *x)
{
	struct cursor c = cursor_at(b, 0);
	uint64_t off = 16, row;

	x->version = cursor_u32(&c) & 0xffff; /* since version 5: 16 bits and padding */
	x->columns = cursor_u32(&c);
	x->units = cursor_u32(&c);
	x->slots = cursor_u32(&c);
	if (c.bad || (x->version != 2 && x->version != 5) || !x->slots ||
	    (x->slots & (x->slots - 1)) || x->columns > 16)
		return false;
	row = UINT64_C(4) * x->columns;
	x->hashes = bytes_sub(b, off, UINT64_C(8) * x->slots);
	off += UINT64_C(8) * x->slots;
	x->rows = bytes_sub(b, off, UINT64_C(4) * x->slots);
	off += UINT64_C(4) * x->slots;
	x->sections = bytes_sub(b, off, row);
	off += row;
	x->offsets = bytes_sub(b, off, row * x->units);
	off += row * x->units;
	x->sizes = bytes_sub(b, off, row * x->units);
	return x->hashes.p && x->rows.p && x->sections.p && x->offsets.p && x->sizes.p;
}

static uint32_t u32_at(struct bytes b, uint64_t index)
{
	struct cursor c = cursor_at(b, index * 4);

	return cursor_u32(&c);
}

/* Looks up id by open addressing, as the standard defines it; 0: not found. */
static uint32_t find_row(const struct package_index *x, uint64_t id, struct meter *m)
{
	uint64_t mask = x->slots - 1, slot = id & mask, step = (id >> 32 & mask) | 1;

	for (uint32_t n = 0; n < x->slots && meter_work(m, 1); n++, slot = (slot + step) & mask) {
		struct cursor c = cursor_at(x->hashes, slot * 8);
		uint32_t row = u32_at(x->rows, slot);

		if (cursor_u64(&c) == id && row && row <= x->units)
			return row;
		if (!row)
			return 0;
	}
	return 0;
}

static bool open_in_package(struct dwarf_split *s, const struct dwarf_package *p, uint64_t id,
			    struct meter *m)
{
	enum { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8 };
	struct package_index x;
	uint32_t row;

	if (!p->elf || !read_index(p->index, &x))
		return false;
	row = find_row(&x, id, m);
	if (!row)
		return false;
	s->file = p->file;
	for (uint32_t i = 0; i < x.columns; i++) {
		uint64_t cell = (uint64_t)(row - 1) * x.columns + i;
		uint64_t off = u32_at(x.offsets, cell), sz = u32_at(x.sizes, cell);
		struct dwarf_sections *sec = &s->file.sec;

		switch (u32_at(x.sections, i)) {
		case INFO:
			sec->info = bytes_sub(sec->info, off, sz);
			break;
		case ABBREV:
			sec->abbrev = bytes_sub(sec->abbrev, off, sz);
			break;
		case STR_OFFSETS:
			sec->str_offsets = bytes_sub(sec->str_offsets, off, sz);
			break;
		case RNGLISTS:
			if (x.version >= 5)
				sec->rnglists = bytes_sub(sec->rnglists, off, sz);
			break;
		}
	}
	return true;
}

/* Opening a file is charged several thousand steps, whether it exists or not, and the search for
 * its sections by name. */
static bool open_dwo(struct dwarf_split *s, const struct split_place *place, const char *path,
		     struct meter *m)
{
	if (!meter_work(m, 4096))
		return false;
	s->elf = open_at(place, path);
	if (!s->elf || !meter_work(m, elf_image__section_cnt(s->elf) * 64))
		return false;
	budget_add_file(m->budget, elf_image__file(s->elf).len);
	dwarf_file_init(&s->file, s->elf, true, m);
	return true;
}

static bool open_beside(struct dwarf_split *s, const struct split_place *place, const char *name,
			struct meter *m)
{
	const char *slash = place->path ? strrchr(place->path, '/') : NULL;
	const char *base = strrchr(name, '/');
	char full[4096];

	if (!slash || snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - place->path),
			       place->path, base ? base + 1 : name) >= (int)sizeof(full))
		return false;
	return open_dwo(s, place, full, m);
}

static bool open_file(struct dwarf_split *s, const struct dwarf_unit *skeleton,
		      const struct split_place *place, struct meter *m)
{
	const char *name = skeleton->dwo_name;
	const char *dir = name[0] != '/' && skeleton->comp_dir ? skeleton->comp_dir : "";
	char full[4096];

	if (snprintf(full, sizeof(full), "%s%s%s", dir, *dir ? "/" : "", name) <
		    (int)sizeof(full) &&
	    open_dwo(s, place, full, m))
		return true;
	return open_beside(s, place, name, m);
}

/* Limits the length of names from untrusted files. */
static bool fits_path(const char *name)
{
	return strnlen(name, PATH_MAX) < PATH_MAX;
}

static bool find_unit(struct dwarf_split *s, uint64_t id, struct meter *m)
{
	if (dwarf_file_load(&s->file, m))
		return false;
	for (size_t i = 0; i < s->file.unit_cnt && !s->unit; i++)
		if (s->file.units[i].has_id && s->file.units[i].id == id)
			s->unit = &s->file.units[i];
	return s->unit != NULL;
}

/* An object file has one section per type unit, all with the same name. */
static bool find_in_sections(struct dwarf_split *s, uint64_t id, struct meter *m)
{
	const struct elf_section *section;

	for (size_t i = 1; (section = elf_image__section(s->elf, i)) && meter_work(m, 16); i++) {
		if (strcmp(section->name, ".debug_info.dwo"))
			continue;
		dwarf_file_fini(&s->file);
		s->file.sec.info = elf_image__unpacked(s->elf, section, m);
		if (find_unit(s, id, m))
			return true;
	}
	return false;
}

bool dwarf_split_open(struct dwarf_split *s, const struct dwarf_package *p,
		      const struct dwarf_unit *skeleton, const struct split_place *place,
		      struct meter *m)
{
	bool found;

	*s = (struct dwarf_split){0};
	if (!skeleton->dwo_name || !skeleton->has_id || !fits_path(skeleton->dwo_name) ||
	    (skeleton->comp_dir && !fits_path(skeleton->comp_dir)))
		return false;
	if (open_in_package(s, p, skeleton->id, m))
		found = find_unit(s, skeleton->id, m);
	else if (open_file(s, skeleton, place, m))
		found = find_in_sections(s, skeleton->id, m);
	else
		found = false;
	if (!found) { /* or a file of another build */
		dwarf_split_close(s);
		return false;
	}
	s->unit->skeleton = skeleton;
	return true;
}

void dwarf_split_close(struct dwarf_split *s)
{
	dwarf_file_fini(&s->file);
	elf_image__close(s->elf);
	*s = (struct dwarf_split){0};
}
