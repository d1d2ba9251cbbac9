/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/graph/flamegraph_name.h"

#include <string.h>

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
	for (size_t i = 0; i < len; i++) /* a name is one line */
		line[i] = strchr("\n\r\t", name.p[i]) && name.p[i] ? ' ' : name.p[i];
	strbuf_escape(b, ESCAPE_XML, (struct span){line, len});
	if (len < name.len)
		strbuf_add(b, "\xe2\x80\xa6", 3);
}
