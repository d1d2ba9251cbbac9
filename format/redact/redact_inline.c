/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands in a line of text: inline commands of Redis, whose words may be quoted anywhere and
 * follow blanks (sds.c, sdssplitargs), and CONNECT of NATS.
 */
#include "format/redact/redact_inline.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "format/redact/redact_names.h"

enum { WORD_MAX = 32, COMMAND_MAX = 8 /* length of the longest command */ };

struct line {
	const uint8_t *p;
	size_t sz, at; /* available bytes; position of the next word */
	char word[WORD_MAX];
	size_t word_sz; /* may be longer than the stored part */
	bool cut, over; /* cut: the last word is incomplete; over: no more words */
};

static bool is_blank(uint8_t ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r' && ch != '\n');
}

static void push(struct line *l, uint8_t ch)
{
	if (l->word_sz < WORD_MAX)
		l->word[l->word_sz] = tolower(ch);
	l->word_sz++;
}

static unsigned hex(uint8_t ch)
{
	return ch <= '9' ? ch - '0' : (ch | 32) - 'a' + 10;
}

/* Parses an escape in double quotes: \xHH or a character. */
static void escape(struct line *l)
{
	const uint8_t *p = l->p + l->at;

	if (l->sz - l->at < 3) {
		l->at = l->sz;
	} else if (*p == 'x' && isxdigit(p[1]) && isxdigit(p[2])) {
		push(l, hex(p[1]) << 4 | hex(p[2]));
		l->at += 3;
	} else {
		push(l, *p);
		l->at++;
	}
}

/* Whether the line ends at the next character. A carriage return at the end of the available bytes
 * may be part of it. */
static bool is_end(const struct line *l)
{
	const uint8_t *p = l->p + l->at;

	return *p == '\n' || (*p == '\r' && (l->at + 1 == l->sz || p[1] == '\n'));
}

static bool cuts(const struct line *l)
{
	return l->at + 1 == l->sz && l->p[l->at] == '\r';
}

/* Reads the next word. The end of a word longer than `max` is not searched, because no such word
 * matters. */
static void next_word(struct line *l, size_t max)
{
	uint8_t quote = 0;

	l->word_sz = 0;
	while (l->at < l->sz && is_blank(l->p[l->at]) && !is_end(l))
		l->at++;
	l->over = l->at < l->sz && is_end(l) && !cuts(l);
	while (l->at < l->sz && !is_end(l) && l->word_sz <= max) {
		uint8_t ch = l->p[l->at];

		if (!quote && is_blank(ch))
			break;
		l->at++;
		if (ch == quote)
			quote = 0;
		else if (!quote && (ch == '"' || ch == '\''))
			quote = ch;
		else if (quote && ch == '\\')
			escape(l);
		else
			push(l, ch);
	}
	l->cut = l->at == l->sz || cuts(l);
}

/* Whether the word equals `want`, or may, when it is incomplete. */
static bool is(const struct line *l, const char *want)
{
	size_t n = strlen(want);

	return (l->cut ? l->word_sz <= n : l->word_sz == n) && !memcmp(l->word, want, l->word_sz);
}

/* Start of the secret: everything after a word and one blank. */
static int behind(const struct line *l)
{
	return l->cut ? REDACT_UNDECIDED : is_end(l) ? 0 : (int)l->at + 1;
}

bool redact_is_redis_secret(const char *name, size_t sz)
{
	static const char *const more[] = {"masterauth", "masteruser", "auth-user"};

	if (sz >= 4 && !memcmp(name + sz - 4, "pass", 4))
		return true;
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (sz == strlen(more[i]) && !memcmp(name, more[i], sz))
			return true;
	return redact_name_is_secret(name, sz);
}

/* The secret after the first word AUTH or AUTH2. */
static int auth_in(struct line *l)
{
	for (;;) {
		next_word(l, SIZE_MAX);
		if (l->over)
			return 0;
		if (is(l, "auth") || is(l, "auth2"))
			return behind(l);
		if (l->cut)
			return REDACT_UNDECIDED;
	}
}

/* The secret starts at the value of the first secret setting. */
static int settings(struct line *l)
{
	for (;;) {
		next_word(l, SIZE_MAX);
		if (l->over)
			return 0;
		if (l->cut)
			return REDACT_UNDECIDED;
		if (l->word_sz <= WORD_MAX && redact_is_redis_secret(l->word, l->word_sz))
			return behind(l);
		next_word(l, SIZE_MAX);
		if (l->over)
			return 0;
	}
}

static int subcommand(struct line *l, const char *name)
{
	next_word(l, SIZE_MAX);
	return l->over || !is(l, name) ? 0 : behind(l);
}

static int hello(struct line *l)
{
	next_word(l, SIZE_MAX);
	for (size_t i = 0; i < l->word_sz; i++)
		if (i >= WORD_MAX || !isdigit((uint8_t)l->word[i]))
			return 0;
	return l->over ? 0 : auth_in(l);
}

static int config(struct line *l)
{
	int at = subcommand(l, "set");

	return at > 0 ? settings(l) : at;
}

/* The name of the master precedes the setting. */
static int sentinel(struct line *l)
{
	int at;

	next_word(l, SIZE_MAX);
	if (l->over)
		return 0;
	if (is(l, "config"))
		return l->cut ? REDACT_UNDECIDED : config(l);
	at = is(l, "set") ? behind(l) : 0;
	if (at <= 0)
		return at;
	next_word(l, SIZE_MAX);
	return l->over ? 0 : settings(l);
}

static int acl(struct line *l)
{
	return subcommand(l, "setuser");
}

static int auth(struct line *l)
{
	return behind(l);
}

static const struct {
	const char *name;
	int (*secret_at)(struct line *l);
} commands[] = {{"auth", auth},	    {"hello", hello},	  {"acl", acl},
		{"config", config}, {"migrate", auth_in}, {"sentinel", sentinel}};

static int redis(struct line *l)
{
	bool undecided = false;

	next_word(l, COMMAND_MAX);
	if (l->over)
		return 0;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!is(l, commands[i].name))
			continue;
		if (!l->cut)
			return commands[i].secret_at(l);
		undecided = true;
	}
	return undecided ? REDACT_UNDECIDED : 0;
}

/* NATS: the space before the object is optional. */
static int nats(const uint8_t *p, size_t sz)
{
	static const char connect[] = "connect";
	size_t at = sizeof(connect) - 1;

	if (strncasecmp((const char *)p, connect, sz < at ? sz : at))
		return 0;
	while (at < sz && (p[at] == ' ' || p[at] == '\t'))
		at++;
	return at >= sz ? REDACT_UNDECIDED : p[at] == '{' ? (int)at + 1 : 0;
}

static uint32_t start_of(const void *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word | 0x20202020;
}

/* Fast check that rules out nearly all lines. */
static bool may_be_command(const uint8_t *p, size_t sz)
{
	uint32_t start;
	size_t at = 0;

	while (at < sz && is_blank(p[at]))
		at++;
	if (at == sz)
		return true;
	p += at;
	if (sz - at < 4 || redact_is_quoted(p))
		return strchr("ahcms\"'", *p | 32);
	start = start_of(p);
#define X(begins)                                                                                  \
	if (start == start_of(begins))                                                             \
		return true;
	REDACT_INLINE(X)
#undef X
	return false;
}

int redact_inline(const uint8_t *p, size_t sz)
{
	struct line l = {.p = p, .sz = sz};
	int at, connect;

	if (!may_be_command(p, sz))
		return 0;
	connect = (*p | 32) == 'c' ? nats(p, sz) : 0;
	at = sz >= 4 && start_of(p) == start_of("conn") ? 0 : redis(&l);
	if (at <= 0 && connect)
		at = connect;
	/* A line too long to be stored until it is decided is masked. */
	return at == REDACT_UNDECIDED && sz > REDACT_CARRIED ? (int)sz : at;
}
