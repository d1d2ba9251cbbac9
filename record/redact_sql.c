/* SPDX-License-Identifier: BSD-2-Clause */
/* Logins of MySQL and PostgreSQL; with --redact=sql, what statements carry: literals and
 * parameters. */
#include <ctype.h>

#include "redact_impl.h"

static uint32_t le24(const uint8_t *p)
{
	return p[0] | p[1] << 8 | (uint32_t)p[2] << 16;
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

/* Quoted strings and numbers; names with digits in them stay. */
static void mask_literals(struct redact_call *c, size_t from, size_t to)
{
	bool word = false;

	if (to > c->kept)
		to = c->kept;
	for (size_t i = from; i < to; i++) {
		uint8_t ch = c->p[i];

		if (ch == '\'' || ch == '"') {
			size_t begin = ++i;

			while (i < to && c->p[i] != ch)
				i += 1 + (c->p[i] == '\\');
			redact_mask(c, begin, i < to ? i : to, '*');
			word = false;
		} else if (isdigit(ch) && !word) {
			size_t begin = i;

			while (i < to && (isalnum(c->p[i]) || c->p[i] == '.'))
				i++;
			redact_mask(c, begin, i, '?');
			i--;
		} else {
			word = isalnum(ch) || ch == '_' || ch == '$' || ch == '`' || ch >= 0x80;
		}
	}
}

/* ---- MySQL: packets of length (3, little endian), sequence (1), body ---- */

enum { COM_QUERY = 3, COM_CHANGE_USER = 0x11, COM_STMT_PREPARE = 0x16, COM_STMT_EXECUTE = 0x17 };

/* Everything behind the NUL-terminated name at `at`. */
static void mask_after_name(struct redact_call *c, size_t at)
{
	const uint8_t *nul = at < c->kept ? memchr(c->p + at, 0, c->kept - at) : NULL;

	if (nul)
		redact_mask(c, nul + 1 - c->p, c->kept, '*');
}

/* HandshakeResponse41: capabilities 4, max packet 4, charset 1, 23 zeros, user NUL, ... */
static bool is_login(const struct redact_call *c)
{
	static const uint8_t zeros[19];

	return c->kept >= 38 && c->p[3] == 1 && le24(c->p) + 4 >= c->len &&
	       !memcmp(c->p + 13, zeros, sizeof(zeros));
}

static void statement(struct redact_call *c)
{
	if (c->p[4] == COM_QUERY || c->p[4] == COM_STMT_PREPARE)
		mask_literals(c, 5, c->kept);
	else if (c->p[4] == COM_STMT_EXECUTE)
		redact_mask(c, 14, c->kept, '*');
}

void redact_mysql(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c)
{
	if (c->kept < 6)
		return;
	if (is_login(c)) {
		mask_after_name(c, 36);
		conn = redact_state(r, connection);
		if (conn) {
			conn->mysql_login = true;
			conn->login_dir = dir;
		}
		return;
	}
	/* Answers to the server's challenges, until the first command. */
	if (conn && conn->mysql_login && dir == conn->login_dir) {
		if (c->p[3])
			redact_mask(c, 4, c->kept, '*');
		else
			conn->mysql_login = false;
	}
	if (c->p[3] || le24(c->p) + 4 < c->len)
		return;
	if (c->p[4] == COM_CHANGE_USER && le24(c->p) + 4 == c->len)
		mask_after_name(c, 5);
	else if (c->sql)
		statement(c);
}

/* ---- PostgreSQL: type (1), length with itself (4, big endian), body ---- */

/* Bind: portal NUL, statement NUL, formats, then the values, each with its length. */
static void mask_bind(struct redact_call *c, size_t at, size_t end)
{
	unsigned cnt;

	if (end > c->kept)
		end = c->kept;
	for (int i = 0; i < 2; i++) {
		const uint8_t *nul = at < end ? memchr(c->p + at, 0, end - at) : NULL;

		if (!nul)
			return;
		at = nul + 1 - c->p;
	}
	if (at + 2 > end)
		return;
	at += 2 + 2 * (c->p[at] << 8 | c->p[at + 1]);
	if (at + 2 > end)
		return;
	cnt = c->p[at] << 8 | c->p[at + 1];
	at += 2;
	while (cnt-- && at + 4 <= end) {
		uint32_t sz = be32(c->p + at);

		at += 4;
		if (sz == UINT32_MAX)
			continue;
		redact_mask(c, at, at + (sz < end - at ? sz : end - at), '*');
		if (sz > end - at)
			return;
		at += sz;
	}
}

void redact_postgresql(struct redact *r, uint32_t connection, unsigned dir, struct redact_call *c)
{
	size_t at = 0;

	(void)r, (void)connection, (void)dir;
	if (c->kept >= 5 && *c->p == 'p' && (uint64_t)be32(c->p + 1) + 1 == c->len) {
		redact_mask(c, 5, c->kept, '*');
		return;
	}
	if (!c->sql || c->kept < 5 || !strchr("QPB", *c->p))
		return;
	while (at + 5 <= c->kept && isalpha(c->p[at])) {
		uint64_t end = at + 1 + (uint64_t)be32(c->p + at + 1);

		if (end < at + 5 || end > c->len)
			return;
		if (c->p[at] == 'Q' || c->p[at] == 'P')
			mask_literals(c, at + 5, end);
		else if (c->p[at] == 'B')
			mask_bind(c, at + 5, end);
		at = end;
	}
}
