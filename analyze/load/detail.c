/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/detail.h"

#include <string.h>

const char *detail_value_end(const char *p, const char *end)
{
	unsigned depth = 0;
	bool text = false;

	for (; p < end; p++) {
		if (text && *p == '\\') {
			p++;
		} else if (text) {
			text = *p != '"';
		} else if (*p == '"') {
			text = true;
		} else if (*p == '{' || *p == '[') {
			depth++;
		} else if ((*p == ',' || *p == '}' || *p == ']') && !depth) {
			break;
		} else if (*p == '}' || *p == ']') {
			depth--;
		}
	}
	return p < end ? p : end;
}

bool detail_next(struct span *rest, struct span *key, struct span *value)
{
	const char *p = rest->p, *end = p + rest->len, *next, *colon;

	if (rest->len < 2)
		return false;
	p++; /* the brace, or the comma before the field */
	next = detail_value_end(p, end);
	*rest = (struct span){next, end - next};
	colon = next > p ? memchr(p, ':', next - p) : NULL;
	if (!colon || colon - p < 2)
		return false;
	*key = (struct span){p + 1, colon - p - 2};
	*value = (struct span){colon + 1, next - colon - 1};
	if (value->len > 1 && *value->p == '"')
		*value = (struct span){value->p + 1, value->len - 2};
	return true;
}

bool detail_find(struct span object, struct span key, struct span *value)
{
	struct span name;

	while (detail_next(&object, &name, value))
		if (name.len == key.len && !memcmp(name.p, key.p, key.len))
			return true;
	return false;
}
