/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/intake/event_text.h"

#include <string.h>

#include "format/redact/redact_command.h"

static void replace(char *p, size_t len, char from, char to)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] == from)
			p[i] = to;
}

static size_t command(char *p, size_t len)
{
	while (len && !p[len - 1])
		len--;
	redact_command(p, len);
	replace(p, len, 0, ' ');
	return len;
}

static size_t settings(char *p, size_t len)
{
	redact_settings(p, len);
	replace(p, len, 0, '=');
	return len;
}

struct span event_text(struct event_texts *t, enum rec_text how, struct span sent)
{
	static size_t (*const change[])(char *p, size_t len) = {
		[REC_TEXT_command] = command,
		[REC_TEXT_settings] = settings,
	};
	char *to = t->p + t->used;

	if (!change[how])
		return sent;
	if (sent.len > sizeof(t->p) - t->used)
		return (struct span){0};
	memcpy(to, sent.p, sent.len);
	t->used += sent.len;
	return (struct span){to, change[how](to, sent.len)};
}
