/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks the password, token, JWT and signature in the JSON object of NATS CONNECT. Other fields are
 * not masked, because `verbose` determines which responses follow. A name with an escape counts as
 * secret.
 */
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_names.h"

static bool is_secret(const struct redact_json *j)
{
	static const char *const names[] = {"pass", "auth_token", "jwt",
					    "sig",  "password",	  "token"};

	if (j->odd)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (j->name_sz == strlen(names[i]) && !strncasecmp(j->name, names[i], j->name_sz))
			return true;
	return j->name_sz <= sizeof(j->name) && redact_name_is_secret(j->name, j->name_sz);
}

/* Processes a character within quotes. */
static uint8_t quoted(struct redact_json *j, uint8_t ch)
{
	if (ch == '"' && !j->escaped) {
		j->quoted = false;
		return ch;
	}
	j->escaped = ch == '\\' && !j->escaped;
	if (j->value)
		return j->secret ? '*' : ch;
	j->odd |= ch == '\\';
	if (j->name_sz < sizeof(j->name))
		j->name[j->name_sz] = ch;
	j->name_sz += j->name_sz < UINT8_MAX;
	return ch;
}

static uint8_t one_byte(struct redact_json *j, uint8_t ch)
{
	if (j->quoted)
		return quoted(j, ch);
	switch (ch) {
	case '"':
		j->quoted = true;
		if (!j->value) {
			j->name_sz = 0;
			j->odd = false;
		}
		return ch;
	case ':':
		j->value = true;
		j->secret = is_secret(j);
		return ch;
	case ',':
	case '{':
	case '}':
		j->value = false;
		return ch;
	case ' ':
	case '\r':
	case '\t':
		return ch;
	}
	return j->value && j->secret ? '*' : ch;
}

size_t redact_nats(struct redact_json *j, struct redact_call *c, size_t at)
{
	for (j->inside = true; at < c->kept; at++) {
		uint8_t ch = c->p[at];

		if (ch < ' ' && ch != '\r' && ch != '\t') {
			*j = (struct redact_json){0};
			break;
		}
		redact_put(c, at, one_byte(j, ch));
	}
	return at;
}
