/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/graph/flamegraph_name.h"

#include <string.h>

#include "analyze/base/name_short.h"

void flame_add_name(struct strbuf *b, struct span name, size_t max)
{
	size_t len = name.len;
	char line[FLAME_NAME_MAX];

	if (max > sizeof(line))
		max = sizeof(line);
	if (len > max) {
		len = max ? max - 1 : 0;
		while (len && ((unsigned char)name.p[len] & 0xc0) == 0x80)
			len--;
	}
	for (size_t i = 0; i < len; i++) /* a name is a single line */
		line[i] = strchr("\n\r\t", name.p[i]) && name.p[i] ? ' ' : name.p[i];
	strbuf_escape(b, ESCAPE_XML, (struct span){line, len});
	if (len < name.len)
		strbuf_add(b, "\xe2\x80\xa6", 3);
}

void flame_add_label(struct strbuf *b, const struct flame_drawing *d, uint32_t func)
{
	const struct flame_func *fn = &d->f->funcs[func];
	struct span name = intern__get(d->f->strings, fn->name);

	if (!d->style->full_names && (fn->kind == PROFILE_USER || fn->kind == PROFILE_INLINED))
		name_short(b, name);
	else
		strbuf_add(b, name.p, name.len);
}
