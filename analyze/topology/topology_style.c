/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/topology/topology_style.h"

#include <math.h>
#include <stdbool.h>

const struct error_level error_levels[] = {
	{"e1", "errors < 1%", 0.01, 96, "#b7791f", "#e3c878"},
	{"e2", "< 5%", 0.05, 58, "#dd6b20", "#f5a524"},
	{"e3", "< 20%", 0.2, 64, "#dc2626", "#fb7a4a"},
	{"e4", "more", INFINITY, 62, "#7f1d1d", "#ff5c5c"},
	{0},
};

const char *error_level(int64_t errors, int64_t calls)
{
	const struct error_level *level = error_levels;

	if (!errors)
		return NULL;
	while ((double)errors >= level->below * calls)
		level++;
	return level->cls;
}

/* Colours and fonts of flamegraph.css. Inside a page the rules apply to this drawing only. Boxes
 * and what is in them keep their contrast in dark mode. */
static const char style[] =
	".topology{background:#ffffff;width:100%;height:auto}"
	".topology text{font:11px ui-monospace,Menlo,Consolas,\"DejaVu Sans Mono\",monospace;"
	"fill:#1c1917}"
	".topology .title{font:600 15px system-ui,\"Segoe UI\",Helvetica,Arial,\"DejaVu "
	"Sans\",sans-serif}"
	".topology .dim,.topology .rates,.topology .label{fill:#57534e;font:11px system-ui,\"Segoe "
	"UI\",Helvetica,Arial,\"DejaVu Sans\",sans-serif}"
	".topology .rates{fill:#292524}"
	".topology .label{font-size:10px;fill:#292524;paint-order:stroke;stroke:#ffffff;"
	"stroke-width:3px;stroke-linejoin:round}"
	".topology .name{font-weight:600}.topology rect{stroke:#6b6560;stroke-width:.6}"
	".topology .serves{fill:#f7c48f}.topology .calls{fill:#9cc9ec}"
	".topology rect.place{fill:#78716c;fill-opacity:.06;stroke-dasharray:4 3}"
	".topology rect.cover{fill:#ffffff;stroke:none}"
	".topology text.place{font-weight:600;fill:#57534e}"
	".topology .edge{fill:none;stroke:#78716c;opacity:.8}.topology .to{fill:#78716c}"
	".topology g:hover>.edge{stroke:#1d4ed8;opacity:1}";

static const char dark_style[] =
	".topology{background:#191817}.topology text{fill:#f0ede9}"
	".topology .dim,.topology text.place{fill:#b5aea6}.topology .name,.topology "
	".rates{fill:#1c1917}"
	".topology .label{fill:#e4dfd9;stroke:#191817}.topology rect{stroke:#a39c94}"
	".topology .serves{fill:#d79a5c}.topology .calls{fill:#72a5cc}"
	".topology rect.place{fill:#a39c94}.topology rect.cover{fill:#191817}"
	".topology .edge{stroke:#a39c94}.topology .to{fill:#a39c94}"
	".topology g:hover>.edge{stroke:#8ab4f8}";

static void put_level_style(FILE *out, bool dark)
{
	for (const struct error_level *l = error_levels; l->cls; l++) {
		const char *colour = dark ? l->dark : l->light;

		fprintf(out,
			".topology .edge.%s,.topology rect.%s{stroke:%s}.topology marker "
			".%s{fill:%s}",
			l->cls, l->cls, colour, l->cls, colour);
		if (!dark)
			fprintf(out, ".topology rect.%s{stroke-width:2}", l->cls);
	}
}

static void put_style(FILE *out)
{
	fprintf(out, "<style>%s", style);
	put_level_style(out, false);
	fprintf(out, "@media (prefers-color-scheme:dark){%s", dark_style);
	put_level_style(out, true);
	fprintf(out, "}</style>\n");
}

/* id: also the class */
static void put_marker(FILE *out, const char *id, int arrow)
{
	fprintf(out,
		"<marker id=\"%s\" viewBox=\"0 0 9 8\" refX=\"9\" refY=\"4\" markerWidth=\"%d\" "
		"markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
		"<path d=\"M0 0L9 4L0 8z\" class=\"%s\"/></marker>",
		id, arrow, id);
}

void topology_style(FILE *out, int arrow)
{
	put_style(out);
	fprintf(out, "<defs>");
	put_marker(out, "to", arrow);
	for (const struct error_level *l = error_levels; l->cls; l++)
		put_marker(out, l->cls, arrow);
	fprintf(out, "</defs>\n");
}
