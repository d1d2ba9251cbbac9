/* SPDX-License-Identifier: BSD-2-Clause */
/* The SVG document around the frames: header, style, data, script. */
#include <errno.h>
#include <string.h>

#include "analyze/graph/flamegraph_data.h"
#include "analyze/graph/flamegraph_static.h"

const char flamegraph_css[] = {
#include "flamegraph.css.h"
};
const char flamegraph_js[] = {
#include "flamegraph.js.h"
};

/* Maximum boxes in the data, of about 5 bytes each; in a page, which may have a dozen graphs. */
#define BOXES_MAX 200000
#define BOXES_MAX_EMBEDDED 25000
#define HEAD_HEIGHT 72

static const struct {
	char letter;
	const char *text;
} legend[] = {
	[PROFILE_USER] = {'u', "user"},	    [PROFILE_INLINED] = {'i', "inlined"},
	[PROFILE_KERNEL] = {'k', "kernel"}, [PROFILE_JIT] = {'j', "JIT"},
	[PROFILE_GROUP] = {'g', "group"},   [PROFILE_NOTE] = {'n', "merged, cut"},
};

static double legend_entry(struct strbuf *out, double x, const char *class, const char *text)
{
	strbuf_addf(out,
		    "<rect x=\"%g\" y=\"52\" width=\"11\" height=\"11\" class=\"%s\"/>"
		    "<text x=\"%g\" y=\"62\" class=\"fg-dim\">%s</text>",
		    x, class, x + 16, text);
	return x + 16 + 6.7 * strlen(text) + 16;
}

static void add_legend(struct flame_drawing *d)
{
	unsigned seen = 0;
	double x = FLAME_PAD;

	if (d->style->diff) {
		x = legend_entry(&d->out, x, "d8", "grew");
		x = legend_entry(&d->out, x, "d4", "same");
		x = legend_entry(&d->out, x, "d0", "shrank");
	}
	for (size_t i = 1; i < d->layout.cnt; i++)
		seen |= 1u << d->f->funcs[d->layout.boxes[i].func].kind;
	if (d->style->diff)
		seen &= 1u << PROFILE_NOTE;
	for (size_t k = 0; k < sizeof(legend) / sizeof(*legend); k++)
		if (seen & 1u << k)
			x = legend_entry(&d->out, x, (char[]){legend[k].letter, '1', 0},
					 legend[k].text);
}

static void add_text(struct strbuf *out, const char *class, int y, const char *text,
		     const char *more)
{
	strbuf_addf(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", FLAME_PAD, y, class);
	strbuf_escape(out, ESCAPE_XML, span_of(text));
	strbuf_addf(out, "%s</text>\n", more);
}

/* Description of the drawing beyond the subtitle. */
static void describe(const struct flame_drawing *d, char *text, size_t sz)
{
	char left[24], all[24], cut[24];
	size_t len = 0;

	*text = 0;
	if (d->layout.left_out)
		len += snprintf(
			text + len, sz - len, " \xc2\xb7 the lightest %s of %s frames are merged",
			format_count(left, d->layout.left_out), format_count(all, d->f->node_cnt));
	if (d->f->cut_cnt && len < sz)
		snprintf(text + len, sz - len, " \xc2\xb7 %s stacks cut for memory",
			 format_count(cut, d->f->cut_cnt));
}

static void add_head(struct flame_drawing *d)
{
	char notes[160];

	describe(d, notes, sizeof(notes));
	strbuf_addf(&d->out,
		    "<g class=\"fg-head\"><rect class=\"fg-bg\" width=\"100%%\" height=\"%d\"/>\n",
		    HEAD_HEIGHT - 4);
	add_text(&d->out, "fg-title", 22, d->style->title ? d->style->title : "Flame graph", "");
	add_text(&d->out, "fg-dim fg-subtitle", 42, d->style->subtitle ? d->style->subtitle : "",
		 notes);
	strbuf_addf(&d->out, "<g class=\"fg-legend\">");
	add_legend(d);
	strbuf_addf(&d->out, "</g></g>\n");
}

static void open_svg(struct flame_drawing *d, double height)
{
	const struct flame_style *s = d->style;

	if (!s->embedded)
		strbuf_addf(&d->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	strbuf_addf(&d->out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flamegraph\" width=\"%d\" "
		    "height=\"%g\" viewBox=\"0 0 %d %g\" data-unit=\"",
		    FLAME_WIDTH, height, FLAME_WIDTH, height);
	strbuf_escape(&d->out, ESCAPE_XML, span_of(s->unit ? s->unit : "samples"));
	strbuf_addf(&d->out, "\" data-grows=\"%s\"%s>\n", flame_grows_down(d) ? "down" : "up",
		    s->diff ? " data-diff=\"1\"" : "");
	if (!s->embedded)
		strbuf_addf(&d->out, "<style>%s</style>\n", flamegraph_css);
	strbuf_addf(&d->out, "<rect class=\"fg-bg\" width=\"100%%\" height=\"100%%\"/>\n");
}

/* Writes the whole document. False: the names exceed the size limit. */
static bool compose(struct flame_drawing *d)
{
	bool fits;

	d->out.len = 0;
	open_svg(d, HEAD_HEIGHT + flame_draw_static(d, HEAD_HEIGHT, true) + FLAME_PAD);
	strbuf_addf(&d->out, "<g class=\"fg-frames-view\">\n");
	flame_draw_static(d, HEAD_HEIGHT, false);
	strbuf_addf(&d->out, "</g>\n");
	add_head(d);
	fits = flame_add_data(d);
	if (!d->style->embedded)
		strbuf_addf(&d->out, "<script>//<![CDATA[\n%s\n//]]></script>\n", flamegraph_js);
	strbuf_addf(&d->out, "</svg>\n");
	return fits;
}

int flamegraph__write_svg(const struct flamegraph *f, const struct flame_style *style, FILE *out)
{
	struct flame_drawing d = {.f = f, .style = style};
	size_t boxes = style->embedded ? BOXES_MAX_EMBEDDED : BOXES_MAX;
	bool fits;
	int err;

	do {
		err = flame_layout_make(&d.layout, f, boxes);
		if (err)
			goto cleanup;
		fits = compose(&d);
		if (d.out.failed)
			err = -ENOMEM;
		if (!fits && !err)
			flame_layout_fini(&d.layout);
		boxes /= 2;
	} while (!fits && !err);
	if (!err && (fwrite(d.out.p, 1, d.out.len, out) != d.out.len || fflush(out)))
		err = errno ? -errno : -EIO;
cleanup:
	flame_layout_fini(&d.layout);
	strbuf_fini(&d.out);
	return err;
}
