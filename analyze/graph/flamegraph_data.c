/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The graph as data inside the SVG, from which flamegraph.js draws every view. Three <metadata>
 * elements:
 *
 *   strings  one a line; the first is empty
 *   frames   count, then of each: name, kind, binary, file (indices of strings), line, label
 *   boxes    count, then of each, in preorder: frame, number of children, self (of a diff: both)
 *
 * Label 0: the label is the name. Frame 0 is "(N small frames)", where N is stored in place of the
 * number of children.
 *
 * Numbers are base 64 with the digits A-Za-z0-9-_, five bits per digit, least significant first;
 * all digits but the last have 32 added. Nothing has to be escaped, and most numbers take one or
 * two digits.
 */
#include "analyze/graph/flamegraph_data.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/graph/flamegraph_name.h"

/* Approximate limit for all strings. Long ones are shortened as needed, but not below STRING_LEAST.
 * Labels are limited to LABELS_SZ in addition; the remaining boxes show the name. */
#define STRINGS_SZ (1u << 20)
#define LABELS_SZ (STRINGS_SZ / 4)
#define STRING_LEAST 64

static void add_number(struct strbuf *b, uint64_t v)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char text[16];
	size_t len = 0;

	do {
		uint64_t low = v & 31;

		v >>= 5;
		text[len++] = digits[low | (v ? 32 : 0)];
	} while (v);
	strbuf_add(b, text, len);
}

/* Ids in order of first use, so that frequently used ids tend to be short. */
struct ids {
	uint32_t *of; /* by old id; 0: none yet */
	uint32_t *list;
	uint32_t cnt;
};

static bool ids_init(struct ids *ids, size_t n)
{
	ids->of = calloc(n, sizeof(*ids->of));
	ids->list = malloc((n + 1) * sizeof(*ids->list));
	ids->cnt = 1; /* old id 0 stays 0 */
	return ids->of && ids->list;
}

static void ids_fini(struct ids *ids)
{
	free(ids->of);
	free(ids->list);
}

static uint32_t ids_get(struct ids *ids, uint32_t old)
{
	if (old && !ids->of[old]) {
		ids->list[ids->cnt] = old;
		ids->of[old] = ids->cnt++;
	}
	return ids->of[old];
}

static size_t shortened_sz(const struct flamegraph *f, const struct ids *strings, size_t max)
{
	size_t sum = 0;

	for (uint32_t i = 1; i < strings->cnt; i++) {
		size_t len = intern__get(f->strings, strings->list[i]).len;

		sum += (len < max ? len : max) + 1;
	}
	return sum;
}

/* Labels of boxes that differ from the name. They follow the other strings. */
struct labels {
	uint32_t *of; /* by function in the file: 0, or label number + 1 */
	uint32_t cnt;
	struct strbuf text; /* escaped, each after a newline */
};

static bool labels_make(struct labels *l, const struct flame_drawing *d, const struct ids *funcs)
{
	struct strbuf label = {0};

	l->of = calloc(funcs->cnt, sizeof(*l->of));
	for (uint32_t i = 1; l->of && i < funcs->cnt && l->text.len < LABELS_SZ; i++) {
		uint32_t func = funcs->list[i];
		struct span name = intern__get(d->f->strings, d->f->funcs[func].name);

		label.len = 0;
		flame_add_label(&label, d, func);
		if (label.len == name.len)
			continue;
		strbuf_add(&l->text, "\n", 1);
		flame_add_name(&l->text, (struct span){label.p, label.len}, FLAME_NAME_MAX);
		l->of[i] = ++l->cnt;
	}
	l->text.failed |= label.failed;
	strbuf_fini(&label);
	return l->of != NULL;
}

static void labels_fini(struct labels *l)
{
	free(l->of);
	strbuf_fini(&l->text);
}

static bool add_strings(struct flame_drawing *d, const struct ids *strings,
			const struct labels *labels)
{
	size_t max = FLAME_NAME_MAX;

	while (max > STRING_LEAST && shortened_sz(d->f, strings, max) > STRINGS_SZ)
		max -= max / 4;
	if (max <= STRING_LEAST && shortened_sz(d->f, strings, max) > STRINGS_SZ)
		return false;
	strbuf_addf(&d->out, "<metadata class=\"fg-strings\">");
	for (uint32_t i = 1; i < strings->cnt; i++) {
		strbuf_add(&d->out, "\n", 1);
		flame_add_name(&d->out, intern__get(d->f->strings, strings->list[i]), max);
	}
	strbuf_add(&d->out, labels->text.p, labels->text.len);
	d->out.failed |= labels->text.failed;
	strbuf_addf(&d->out, "</metadata>\n");
	return true;
}

/* All strings are numbered before the labels. */
static void number_strings(const struct flamegraph *f, const struct ids *funcs, struct ids *strings)
{
	for (uint32_t i = 0; i < funcs->cnt; i++) {
		const struct flame_func *fn = &f->funcs[i ? funcs->list[i] : FLAME_SMALL];

		ids_get(strings, fn->name);
		ids_get(strings, fn->binary);
		ids_get(strings, fn->file);
	}
}

static void add_frames(struct strbuf *b, const struct flamegraph *f, const struct ids *funcs,
		       struct ids *strings, const struct labels *labels)
{
	number_strings(f, funcs, strings);
	add_number(b, funcs->cnt);
	for (uint32_t i = 0; i < funcs->cnt; i++) {
		const struct flame_func *fn = &f->funcs[i ? funcs->list[i] : FLAME_SMALL];

		add_number(b, ids_get(strings, fn->name));
		add_number(b, fn->kind);
		add_number(b, ids_get(strings, fn->binary));
		add_number(b, ids_get(strings, fn->file));
		add_number(b, fn->line);
		add_number(b, labels->of[i] ? strings->cnt + labels->of[i] - 1 : 0);
	}
}

static void add_boxes(struct strbuf *b, const struct flame_layout *l, struct ids *funcs, bool diff)
{
	add_number(b, l->cnt);
	for (size_t i = 0; i < l->cnt; i++) {
		const struct flame_box *box = &l->boxes[i];

		add_number(b, ids_get(funcs, box->func));
		add_number(b, box->kids);
		add_number(b, box->self[0]);
		if (diff)
			add_number(b, box->self[1]);
	}
}

bool flame_add_data(struct flame_drawing *d)
{
	struct strbuf frames = {0}, boxes = {0};
	struct ids funcs = {0}, strings = {0};
	struct labels labels = {0};
	bool fits = false;

	if (!ids_init(&funcs, d->f->func_cnt) ||
	    !ids_init(&strings, intern__count(d->f->strings))) {
		d->out.failed = 1;
		goto cleanup;
	}
	add_boxes(&boxes, &d->layout, &funcs, d->style->diff);
	if (!labels_make(&labels, d, &funcs)) {
		d->out.failed = 1;
		goto cleanup;
	}
	add_frames(&frames, d->f, &funcs, &strings, &labels);
	fits = add_strings(d, &strings, &labels);
	if (!fits)
		goto cleanup;
	strbuf_addf(&d->out, "<metadata class=\"fg-frames\">");
	strbuf_add(&d->out, frames.p, frames.len);
	strbuf_addf(&d->out, "</metadata>\n<metadata class=\"fg-boxes\">");
	strbuf_add(&d->out, boxes.p, boxes.len);
	strbuf_addf(&d->out, "</metadata>\n");
	d->out.failed |= frames.failed | boxes.failed;
cleanup:
	strbuf_fini(&frames);
	strbuf_fini(&boxes);
	labels_fini(&labels);
	ids_fini(&funcs);
	ids_fini(&strings);
	return fits;
}
