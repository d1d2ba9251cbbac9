/* SPDX-License-Identifier: BSD-2-Clause */
/* Secrets in lines: HTTP/1 header fields and Redis commands. */
#include <strings.h>

#include "redact_impl.h"

static const char *const secret_headers[] = {
	"authorization", "proxy-authorization", "cookie", "set-cookie",
	"x-api-key",	 "x-auth-token",	NULL};
static const char *const methods[] = {"GET ",	 "POST ",    "PUT ",   "HEAD ",
				      "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ",
				      "TRACE ",	 "HTTP/1.",  NULL};

static bool begins_message(const uint8_t *p, size_t sz)
{
	for (const char *const *m = methods; *m; m++)
		if (sz >= strlen(*m) && !memcmp(p, *m, strlen(*m)))
			return true;
	return false;
}

/* Length of "name:" when the line is a secret's, else 0. */
static size_t secret_name(const char *line, size_t sz)
{
	if (!sz || !strchr("aApPcCsSxX", *line))
		return 0;
	for (const char *const *h = secret_headers; *h; h++) {
		size_t n = strlen(*h);

		if (sz > n && line[n] == ':' && !strncasecmp(line, *h, n))
			return n + 1;
	}
	return 0;
}

/* The part of a line that continues what an earlier call began; returns where the next line begins.
 */
static size_t continue_line(struct redact_side *s, struct redact_call *c)
{
	const uint8_t *nl = memchr(c->p, '\n', c->kept);
	size_t end = nl ? (size_t)(nl - c->p) : c->kept, name;
	char joined[2 * LINE_PREFIX];
	size_t take = end < LINE_PREFIX ? end : LINE_PREFIX;

	if (s->masking || s->gap) {
		redact_mask(c, 0, end, '*');
	} else {
		memcpy(joined, s->prefix, s->prefix_sz);
		memcpy(joined + s->prefix_sz, c->p, take);
		name = secret_name(joined, s->prefix_sz + take);
		if (name) {
			redact_mask(c, name > s->prefix_sz ? name - s->prefix_sz : 0, end, '*');
			s->masking = true;
		}
	}
	if (!nl)
		return c->kept;
	s->masking = s->gap = false;
	return end + 1;
}

/* Masks whole lines from `at`; what the last one leaves open goes to *open. True when the head
 * ended. */
static bool mask_lines(struct redact_call *c, size_t at, struct redact_side *open)
{
	bool ended = false;

	*open = (struct redact_side){0};
	while (at < c->kept) {
		const uint8_t *nl = memchr(c->p + at, '\n', c->kept - at);
		size_t end = nl ? (size_t)(nl - c->p) : c->kept;
		size_t name = secret_name((char *)c->p + at, end - at);

		if (name)
			redact_mask(c, at + name, end, '*');
		if (!nl) {
			open->masking = name;
			open->prefix_sz = end - at < LINE_PREFIX ? end - at : LINE_PREFIX;
			memcpy(open->prefix, c->p + at, open->prefix_sz);
			return false;
		}
		ended = end == at || (end == at + 1 && c->p[at] == '\r');
		at = end + 1;
	}
	return ended;
}

void redact_http1(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c)
{
	struct redact_side *s = conn ? &conn->side[dir] : NULL, open;
	bool begins = begins_message(c->p, c->kept), inside = s && s->in_head && !begins, ended;
	size_t at = 0;

	if (!c->kept || (!begins && !inside))
		return;
	if (inside) {
		s->gap |= c->pos != s->next;
		if (s->masking || s->gap || s->prefix_sz)
			at = continue_line(s, c);
		if (at == c->kept && (s->masking || s->gap)) {
			s->gap |= c->kept < c->len;
			return;
		}
	}
	ended = mask_lines(c, at, &open);
	if (!s && (!ended || c->kept < c->len)) {
		conn = redact_state(r, connection);
		s = conn ? &conn->side[dir] : NULL;
	}
	if (!s)
		return;
	/* Bytes that were not kept may hold the end of the head, or the beginning of a secret. */
	s->in_head = !ended;
	s->masking = open.masking;
	s->gap = !ended && c->kept < c->len;
	s->prefix_sz = open.prefix_sz;
	memcpy(s->prefix, open.prefix, sizeof(s->prefix));
}

/* ---- Redis ---- */

/* "$N\r\n": N, and *at moves behind it; -1: something else, or cut. */
static long bulk_size(const struct redact_call *c, size_t *at)
{
	long n = 0;
	size_t i = *at;

	if (i >= c->kept || c->p[i] != '$')
		return -1;
	for (i++; i < c->kept && c->p[i] >= '0' && c->p[i] <= '9' && n < 1 << 29; i++)
		n = n * 10 + c->p[i] - '0';
	if (i + 2 > c->kept || c->p[i] != '\r' || c->p[i + 1] != '\n')
		return -1;
	*at = i + 2;
	return n;
}

/* The next `cnt` bulk strings; one that goes on is masked in the calls to come. */
static void mask_bulks(struct redact *r, uint32_t connection, unsigned dir, struct redact_call *c,
		       size_t at, unsigned cnt)
{
	while (cnt--) {
		long n = bulk_size(c, &at);

		if (n < 0)
			return;
		redact_mask(c, at, at + n, '*');
		if (at + n > c->kept) {
			struct redact_conn *conn = redact_state(r, connection);

			if (conn)
				conn->side[dir].mask_until = c->pos + at + n;
			return;
		}
		at += n + 2;
	}
}

static bool word_at(const struct redact_call *c, size_t at, const char *word)
{
	size_t n = strlen(word);

	return at + n <= c->kept && !strncasecmp((char *)c->p + at, word, n);
}

static void inline_auth(struct redact_call *c)
{
	const uint8_t *nl = memchr(c->p, '\n', c->kept);

	if (word_at(c, 0, "auth "))
		redact_mask(c, 5, nl ? (size_t)(nl - c->p) : c->kept, '*');
}

/* AUTH [user] password, also inside HELLO; CONFIG SET requirepass password; ACL SETUSER user
 * >password. */
void redact_redis(struct redact *r, uint32_t connection, struct redact_conn *conn, unsigned dir,
		  struct redact_call *c)
{
	static const struct {
		const char *text;
		unsigned secrets;
	} words[] = {{"auth\r\n", 2},
		     {"requirepass\r\n", 1},
		     {"masterauth\r\n", 1},
		     {"setuser\r\n", 16}};
	const uint8_t *p = c->p, *end = c->p + c->kept;

	(void)conn;
	inline_auth(c);
	while (p < end && (p = memchr(p, '$', end - p))) {
		size_t at = p - c->p;

		p++;
		if (bulk_size(c, &at) < 0)
			continue;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (word_at(c, at, words[i].text))
				mask_bulks(r, connection, dir, c, at + strlen(words[i].text),
					   words[i].secrets);
	}
}
