/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/redact/redact_conn.h"

#include <stdlib.h>

struct redact_side *redact_side(struct redact_call *c)
{
	if (!*c->conn)
		*c->conn = calloc(1, sizeof(**c->conn));
	return *c->conn ? &(*c->conn)->side[c->dir] : NULL;
}

struct redact_first *redact_first(struct redact_call *c)
{
	struct redact_side *s = redact_side(c);

	if (s && !s->first)
		s->first = calloc(1, sizeof(*s->first));
	return s ? s->first : NULL;
}

void *redact_own(struct redact_call *c, enum redactor who, size_t sz)
{
	if (!redact_side(c))
		return NULL;
	if (!(*c->conn)->own[who])
		(*c->conn)->own[who] = calloc(1, sz);
	return (*c->conn)->own[who];
}

void redact_disown(struct redact_call *c, enum redactor who)
{
	free((*c->conn)->own[who]);
	(*c->conn)->own[who] = NULL;
}
