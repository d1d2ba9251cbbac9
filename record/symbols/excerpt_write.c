/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes the selected units and DIEs as DWARF 5 with new abbreviations, strings and ranges. */
#include <dwarf.h>

#include "record/symbols/excerpt_impl.h"

/* Possible attributes of a DIE, in this order. References are offsets in .debug_info, because they
 * may lead to any unit. */
static const struct {
	uint8_t form;
	uint16_t name;
} copied[] = {
	{DW_FORM_strp, DW_AT_name},
	{DW_FORM_strp, DW_AT_linkage_name},
	{DW_FORM_ref_addr, DW_AT_abstract_origin},
	{DW_FORM_ref_addr, DW_AT_specification},
	{DW_FORM_udata, DW_AT_call_file},
	{DW_FORM_udata, DW_AT_call_line},
	{DW_FORM_addr, DW_AT_low_pc},
	{DW_FORM_udata, DW_AT_high_pc},
	{DW_FORM_sec_offset, DW_AT_ranges},
	{DW_FORM_strp, DW_AT_comp_dir},
	{DW_FORM_sec_offset, DW_AT_stmt_list},
	{DW_FORM_udata, DW_AT_language},
};

enum {
	HAS_NAME = 1 << 0,
	HAS_LINKAGE = 1 << 1,
	HAS_ORIGIN = 1 << 2,
	HAS_SPECIFICATION = 1 << 3,
	HAS_CALL_FILE = 1 << 4,
	HAS_CALL_LINE = 1 << 5,
	HAS_PC = 1 << 6 | 1 << 7,
	HAS_RANGES = 1 << 8,
	HAS_COMP_DIR = 1 << 9,
	HAS_LINES = 1 << 10,
	HAS_LANGUAGE = 1 << 11,
};

/* ---- sections */

int out_put(struct excerpt_work *x, struct out *o, const void *p, size_t len)
{
	if (len > UINT32_MAX / 2 - o->len || meter_grow(x->m, &o->p, &o->cap, o->len + len, 1))
		return meter_over(x->m) ? -E2BIG : -ENOMEM;
	if (len)
		memcpy(o->p + o->len, p, len);
	o->len += len;
	return 0;
}

int out_uint(struct excerpt_work *x, struct out *o, uint64_t v, unsigned sz)
{
	return out_put(x, o, &v, sz); /* little-endian, as all supported hosts */
}

int out_uleb(struct excerpt_work *x, struct out *o, uint64_t v)
{
	uint8_t b[10];
	size_t n = 0;

	do {
		b[n] = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		n++;
		v >>= 7;
	} while (v);
	return out_put(x, o, b, n);
}

int out_str(struct excerpt_work *x, struct out *o, const char *s)
{
	return out_put(x, o, s, strlen(s) + 1);
}

/* ---- deduplicated strings */

static struct name_slot *find_name(struct excerpt_work *x, const char *s)
{
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (const char *p = s; *p; p++)
		h = (h ^ (uint8_t)*p) * 1099511628211u;
	for (i = h & (x->name_cap - 1); x->names[i].s; i = (i + 1) & (x->name_cap - 1))
		if (!strcmp((const char *)x->str.p + x->names[i].off, s))
			break;
	return &x->names[i];
}

static int name_room(struct excerpt_work *x)
{
	struct name_slot *old = x->names;
	size_t old_cap = x->name_cap;

	if (x->name_cnt * 2 < x->name_cap)
		return 0;
	x->name_cap = old_cap ? 2 * old_cap : 1024;
	x->names = meter_calloc(x->m, x->name_cap, sizeof(*x->names));
	if (!x->names) {
		x->names = old;
		x->name_cap = old_cap;
		return meter_error(x->m);
	}
	for (size_t i = 0; i < old_cap; i++)
		if (old[i].s)
			*find_name(x, (const char *)x->str.p + old[i].off) = old[i];
	free(old);
	return 0;
}

static int put_name(struct excerpt_work *x, const char *s)
{
	struct name_slot *slot;
	int err = meter_work(x->m, strlen(s) / 8) ? name_room(x) : -E2BIG;

	if (err)
		return err;
	slot = find_name(x, s);
	if (!slot->s) {
		*slot = (struct name_slot){"", (uint32_t)x->str.len};
		x->name_cnt++;
		err = out_str(x, &x->str, s);
		if (err)
			return err;
	}
	return out_uint(x, &x->info, slot->off, 4);
}

/* ---- ranges */

struct range_writer {
	struct excerpt_work *x;
	struct range_list_of found;
};

static int note_range(void *ctx, uint64_t lo, uint64_t hi)
{
	struct range_writer *w = ctx;
	struct range_list_of *l = &w->found;

	if (!elf_image_has_code(w->x->file.elf, lo))
		return 0;
	if (meter_grow(w->x->m, &l->v, &l->cap, l->cnt + 1, sizeof(*l->v)))
		return meter_error(w->x->m);
	l->v[l->cnt++] = (struct excerpt_range){lo, hi};
	return 0;
}

/* One header for all lists: they are referred to by offset. */
static int put_ranges(struct excerpt_work *x, const struct range_list_of *l, uint64_t *at)
{
	static const uint8_t header[12] = {0, 0, 0, 0, 5, 0, 8, 0, 0, 0, 0, 0};
	int err = x->rnglists.len ? 0 : out_put(x, &x->rnglists, header, sizeof(header));

	*at = x->rnglists.len;
	for (size_t i = 0; i < l->cnt && !err; i++) {
		err = out_uint(x, &x->rnglists, DW_RLE_start_length, 1);
		if (!err)
			err = out_uint(x, &x->rnglists, l->v[i].lo, 8);
		if (!err)
			err = out_uleb(x, &x->rnglists, l->v[i].hi - l->v[i].lo);
	}
	return err ? err : out_uint(x, &x->rnglists, DW_RLE_end_of_list, 1);
}

/* ---- DIEs */

/* Returns the abbreviation code; 0: more kinds than in any real file. */
static unsigned declare(struct excerpt_work *x, uint16_t tag, uint16_t mask, bool children,
			int *err)
{
	unsigned i;

	for (i = 0; i < x->decl_cnt; i++)
		if (x->decls[i].tag == tag && x->decls[i].mask == mask &&
		    x->decls[i].children == children)
			return i + 1;
	if (i == EXCERPT_ABBREVS)
		return 0;
	x->decls[i].tag = tag;
	x->decls[i].mask = mask;
	x->decls[i].children = children;
	x->decl_cnt++;
	*err = out_uleb(x, &x->abbrev, i + 1);
	if (!*err)
		*err = out_uleb(x, &x->abbrev, tag);
	if (!*err)
		*err = out_uint(x, &x->abbrev, children, 1);
	for (size_t k = 0; k < sizeof(copied) / sizeof(*copied) && !*err; k++) {
		if (!(mask >> k & 1))
			continue;
		*err = out_uleb(x, &x->abbrev, copied[k].name);
		if (!*err)
			*err = out_uleb(x, &x->abbrev, copied[k].form);
	}
	if (!*err)
		*err = out_uint(x, &x->abbrev, 0, 2);
	return i + 1;
}

struct values {
	const char *name, *linkage, *comp_dir;
	struct src_file *origin, *specification;
	uint64_t origin_off, specification_off, call_file, call_line, lo, sz, ranges, lines,
		language;
	uint16_t mask;
};

static bool leads_to(struct excerpt_work *x, const struct dwarf_unit *u, const struct attr_value *v,
		     struct src_file **f, uint64_t *off)
{
	struct src_unit *su;

	*f = excerpt_target(x, u, v);
	*off = v->u;
	su = *f ? excerpt_unit_at(x, *f, v->u) : NULL;
	return su && excerpt_kept(su, v->u);
}

static void note_file(struct src_unit *su, uint64_t number)
{
	if (number / 8 < su->used_cnt)
		su->used_files[number / 8] |= 1u << number % 8;
}

static int function_values(struct excerpt_work *x, struct src_unit *su, const struct die_copy *d,
			   struct values *v)
{
	struct range_writer w = {.x = x};
	int err;

	if (d->call_file.cls == ATTR_CONST) {
		v->mask |= HAS_CALL_FILE;
		v->call_file = d->call_file.u;
		note_file(su, v->call_file);
	}
	if (d->call_line.cls == ATTR_CONST) {
		v->mask |= HAS_CALL_LINE;
		v->call_line = d->call_line.u;
	}
	if (!d->has_pc || !su->wanted)
		return 0;
	err = dwarf_ranges(su->u, &d->ranges, x->m, note_range, &w);
	if (!err && w.found.cnt == 1) {
		v->mask |= HAS_PC;
		v->lo = w.found.v[0].lo;
		v->sz = w.found.v[0].hi - w.found.v[0].lo;
	} else if (!err && w.found.cnt) {
		v->mask |= HAS_RANGES;
		err = put_ranges(x, &w.found, &v->ranges);
	}
	free(w.found.v);
	return err;
}

static int unit_values(struct excerpt_work *x, struct src_unit *su, struct values *v)
{
	v->comp_dir = su->skeleton->comp_dir;
	if (v->comp_dir)
		v->mask |= HAS_COMP_DIR;
	if (!su->wanted)
		return 0;
	if (su->skeleton->has_line) {
		v->mask |= HAS_LINES;
		v->lines = x->line.len;
	}
	if (!su->ranges.cnt)
		return 0;
	v->mask |= HAS_RANGES;
	return put_ranges(x, &su->ranges, &v->ranges);
}

static int values_of(struct excerpt_work *x, struct src_unit *su, const struct die_copy *d,
		     bool root, struct values *v)
{
	*v = (struct values){.name = dwarf_attr_string(su->u, &d->name),
			     .linkage = dwarf_attr_string(su->u, &d->linkage)};
	if (v->name)
		v->mask |= HAS_NAME;
	if (v->linkage)
		v->mask |= HAS_LINKAGE;
	if (leads_to(x, su->u, &d->origin, &v->origin, &v->origin_off))
		v->mask |= HAS_ORIGIN;
	if (leads_to(x, su->u, &d->specification, &v->specification, &v->specification_off))
		v->mask |= HAS_SPECIFICATION;
	if (d->language.cls == ATTR_CONST) {
		v->mask |= HAS_LANGUAGE;
		v->language = d->language.u;
	}
	return root ? unit_values(x, su, v) : function_values(x, su, d, v);
}

static int put_reference(struct excerpt_work *x, struct src_file *f, uint64_t off)
{
	if (meter_grow(x->m, &x->fixups, &x->fixup_cap, x->fixup_cnt + 1, sizeof(*x->fixups)))
		return meter_error(x->m);
	x->fixups[x->fixup_cnt++] = (struct ref_fixup){x->info.len, f, off};
	return out_uint(x, &x->info, 0, 4);
}

static int put_value(struct excerpt_work *x, const struct values *v, uint16_t bit)
{
	struct out *o = &x->info;

	switch (bit) {
	case HAS_NAME:
		return put_name(x, v->name);
	case HAS_LINKAGE:
		return put_name(x, v->linkage);
	case HAS_ORIGIN:
		return put_reference(x, v->origin, v->origin_off);
	case HAS_SPECIFICATION:
		return put_reference(x, v->specification, v->specification_off);
	case HAS_CALL_FILE:
		return out_uleb(x, o, v->call_file);
	case HAS_CALL_LINE:
		return out_uleb(x, o, v->call_line);
	case 1 << 6:
		return out_uint(x, o, v->lo, 8);
	case 1 << 7:
		return out_uleb(x, o, v->sz);
	case HAS_RANGES:
		return out_uint(x, o, v->ranges, 4);
	case HAS_COMP_DIR:
		return put_name(x, v->comp_dir);
	case HAS_LINES:
		return out_uint(x, o, v->lines, 4);
	default:
		return out_uleb(x, o, v->language);
	}
}

static int put_die(struct excerpt_work *x, struct src_unit *su, struct kept_die *k, bool children)
{
	struct die_copy d;
	struct values v;
	unsigned code;
	int err = 0;

	if (!excerpt_read_die(x, su->u, k->off, &d))
		d = (struct die_copy){.tag = DW_TAG_lexical_block};
	if (!k->parent)
		d.tag = DW_TAG_compile_unit;
	err = values_of(x, su, &d, !k->parent, &v);
	if (err)
		return err;
	k->at = (uint32_t)x->info.len;
	code = declare(x, d.tag, v.mask, children, &err);
	if (!code)
		return -EBADMSG;
	if (!err)
		err = out_uleb(x, &x->info, code);
	for (unsigned i = 0; i < sizeof(copied) / sizeof(*copied) && !err; i++)
		if (v.mask >> i & 1)
			err = put_value(x, &v, (uint16_t)(1 << i));
	return err;
}

/* Kept DIEs are in file order: children follow their parent. */
static int put_dies(struct excerpt_work *x, struct src_unit *su)
{
	struct u64_list open = {0};
	int err = 0;

	for (size_t i = 0; i < su->kept_cnt && !err; i++) {
		struct kept_die *k = &su->kept[i];
		bool children = i + 1 < su->kept_cnt && su->kept[i + 1].parent == k->off;

		for (; open.cnt && open.v[open.cnt - 1] != k->parent && !err; open.cnt--)
			err = out_uint(x, &x->info, 0, 1);
		if (!err)
			err = put_die(x, su, k, children);
		if (err || !children)
			continue;
		if (meter_grow(x->m, &open.v, &open.cap, open.cnt + 1, sizeof(*open.v)))
			err = meter_error(x->m);
		else
			open.v[open.cnt++] = k->off;
	}
	for (; open.cnt && !err; open.cnt--)
		err = out_uint(x, &x->info, 0, 1);
	free(open.v);
	return err;
}

static int put_unit(struct excerpt_work *x, struct src_unit *su)
{
	static const uint8_t header[12] = {0, 0, 0, 0, 5, 0, DW_UT_compile, 8, 0, 0, 0, 0};
	size_t at = x->info.len;
	uint32_t len;
	int err = 0;

	if (!su->kept_cnt)
		return 0;
	if (su->wanted && su->skeleton->has_line) {
		su->used_cnt = 8192;
		su->used_files = meter_calloc(x->m, su->used_cnt, 1);
		err = su->used_files ? 0 : meter_error(x->m);
	}
	if (!err)
		err = out_put(x, &x->info, header, sizeof(header));
	if (!err)
		err = put_dies(x, su);
	if (err)
		return err;
	len = (uint32_t)(x->info.len - at - 4);
	memcpy(x->info.p + at, &len, sizeof(len));
	if (su->used_files)
		err = excerpt_write_lines(x, su);
	free(su->used_files);
	su->used_files = NULL;
	return err;
}

static void resolve_references(struct excerpt_work *x)
{
	for (size_t i = 0; i < x->fixup_cnt; i++) {
		const struct ref_fixup *f = &x->fixups[i];
		struct src_unit *su = excerpt_unit_at(x, f->file, f->off);
		const struct kept_die *k = su ? excerpt_kept(su, f->off) : NULL;

		if (k)
			memcpy(x->info.p + f->at, &k->at, sizeof(k->at));
	}
}

int excerpt_write_units(struct excerpt_work *x)
{
	uint32_t len;
	int err = 0;

	for (size_t i = 0; i < x->file_cnt && !err; i++)
		for (size_t k = 0; k < x->files[i]->f->unit_cnt && !err; k++)
			if (x->files[i]->units[k])
				err = put_unit(x, x->files[i]->units[k]);
	if (!err)
		err = out_uint(x, &x->abbrev, 0, 1);
	if (err)
		return err;
	resolve_references(x);
	if (x->rnglists.len) {
		len = (uint32_t)(x->rnglists.len - 4);
		memcpy(x->rnglists.p, &len, sizeof(len));
	}
	return 0;
}
