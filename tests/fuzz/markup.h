/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks that a program's output contains only its own markup, whatever names it was given: text
 * without control characters; only the program's own elements and attributes, all closed; only the
 * expected number of scripts. Aborts and prints the location on failure.
 */
#ifndef TESTS_MARKUP_H
#define TESTS_MARKUP_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *markup_report; /* NULL: stderr */

__attribute__((noreturn)) static inline void markup_fail(const char *why, const char *at,
							 const char *end)
{
	FILE *out = markup_report ? markup_report : stderr;
	size_t len = end - at < 120 ? end - at : 120;

	fprintf(out, "markup: %s, before: ", why);
	for (size_t i = 0; i < len; i++)
		fprintf(out, at[i] >= ' ' && at[i] < 127 ? "%c" : "\\x%02x", at[i] & 255);
	fputc('\n', out);
	fflush(out);
	abort();
}

/* Length of one UTF-8 character; 0: invalid. */
static inline size_t markup_char(const uint8_t *p, size_t left, uint32_t *code)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (!len || len > left || p[0] > 0xf4)
		return 0;
	*code = len == 1 ? p[0] : p[0] & (0x7f >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	return (len == 3 && *code < 0x800) || (len == 4 && *code < 0x10000) ||
			       (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff
		       ? 0
		       : len;
}

/* `allowed`: control characters that the format uses. */
static inline void check_text(const char *text, size_t len, const char *allowed)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + len;
	size_t n;

	for (uint32_t c; p < end; p += n) {
		n = markup_char(p, end - p, &c);
		if (!n)
			markup_fail("not UTF-8", (const char *)p, (const char *)end);
		if (c < 0x20 && c && strchr(allowed, c))
			continue;
		if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
		    (c >= 0x2066 && c <= 0x2069))
			markup_fail("a control character", (const char *)p, (const char *)end);
	}
}

/* Checks JSON values, one per line or a single one. */
static inline void check_json_syntax(const char *text, size_t len)
{
	struct json_tokener *t = json_tokener_new_ex(64);
	const char *p = text, *end = text + len;

	json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
	while (p < end) {
		struct json_object *o;

		if (*p == '\n' || *p == ' ') {
			p++;
			continue;
		}
		json_tokener_reset(t);
		o = json_tokener_parse_ex(t, p, end - p);
		if (json_tokener_get_error(t) != json_tokener_success)
			markup_fail("not JSON", p + json_tokener_get_parse_end(t), end);
		p += json_tokener_get_parse_end(t);
		json_object_put(o);
	}
	json_tokener_free(t);
}

static inline void check_json(const char *text, size_t len)
{
	check_text(text, len, "\n\t");
	check_json_syntax(text, len);
}

/* ---- markup ---- */

static inline bool markup_known(const char *list, const char *p, size_t len)
{
	char word[48];

	if (!len || len > sizeof(word) - 3)
		return false;
	snprintf(word, sizeof(word), " %.*s ", (int)len, p);
	return strstr(list, word);
}

static inline size_t markup_name(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && ((p[n] | 32) >= 'a' && (p[n] | 32) <= 'z' ? true
			       : p[n] >= '0' && p[n] <= '9'		? true
									: n && strchr("-:", p[n])))
		n++;
	return n;
}

/* Checks what follows an &. */
static inline void check_entity(const char *p, const char *end)
{
	static const char *const known[] = {"lt;", "gt;", "amp;", "quot;"};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if ((size_t)(end - p) >= strlen(known[i]) && !memcmp(p, known[i], strlen(known[i])))
			return;
	if (end - p > 2 && p[0] == '#' && p[1] >= '0' && p[1] <= '9')
		return;
	markup_fail("an & that is not escaped", p, end);
}

/* Checks attributes after an element's name; returns the position after its >. */
static inline const char *check_attributes(const char *p, const char *end, bool *empty)
{
	static const char known[] =
		" charset class content d data-diff data-grows data-unit data-v encoding fill "
		"height http-equiv id lang marker-end markerHeight markerUnits markerWidth name "
		"nonce orient refX refY rx scope stroke-width text-anchor title fill-opacity version viewBox "
		"width x xmlns y ";
	size_t n;

	*empty = false;
	for (;;) {
		while (p < end && (*p == ' ' || *p == '\n'))
			p++;
		if (p < end && *p == '>')
			return p + 1;
		if (end - p > 1 && p[0] == '/' && p[1] == '>') {
			*empty = true;
			return p + 2;
		}
		n = markup_name(p, end);
		if (!markup_known(known, p, n))
			markup_fail("an attribute", p, end);
		p += n;
		if (end - p < 2 || p[0] != '=' || p[1] != '"')
			markup_fail("an attribute without value", p, end);
		for (p += 2; p < end && *p != '"'; p++) {
			if (*p == '<')
				markup_fail("a < in an attribute", p, end);
			if (*p == '&')
				check_entity(p + 1, end);
		}
		p++;
	}
}

enum { MARKUP_DEPTH = 64 };

struct markup {
	const char *open[MARKUP_DEPTH];
	size_t len[MARKUP_DEPTH], depth;
	unsigned scripts;
};

/* Skips the content of a script or style element up to its end tag. */
static inline const char *skip_raw(const char *name, size_t len, const char *p, const char *end)
{
	char close[16];
	const char *at;

	snprintf(close, sizeof(close), "</%.*s>", (int)len, name);
	at = memmem(p, end - p, close, strlen(close));
	if (!at)
		markup_fail("not closed", p, end);
	return at;
}

static inline const char *check_element(struct markup *m, const char *p, const char *end)
{
	static const char known[] =
		" body dd defs div dl dt g h1 h2 h3 head header html main marker meta metadata nav "
		"p path pre rect script style svg table tbody td text th thead title tr ";
	bool close = p < end && *p == '/', empty;
	const char *name = p + close;
	size_t n = markup_name(name, end);

	if (!markup_known(known, name, n))
		markup_fail("an element", p, end);
	if (close) {
		if (!m->depth || m->len[m->depth - 1] != n ||
		    memcmp(m->open[m->depth - 1], name, n) || name + n >= end || name[n] != '>')
			markup_fail("closed in another order", p, end);
		m->depth--;
		return name + n + 1;
	}
	p = check_attributes(name + n, end, &empty);
	if (empty || (n == 4 && !memcmp(name, "meta", 4)))
		return p;
	if (m->depth == MARKUP_DEPTH)
		markup_fail("too deep", p, end);
	m->open[m->depth] = name;
	m->len[m->depth++] = n;
	m->scripts += n == 6 && !memcmp(name, "script", 6);
	if ((n == 6 && !memcmp(name, "script", 6)) || (n == 5 && !memcmp(name, "style", 5)))
		return skip_raw(name, n, p, end);
	return p;
}

/* Checks an HTML page or SVG with the given number of scripts. */
static inline void check_markup(const char *text, size_t len, unsigned scripts)
{
	static const char *const heads[] = {"<!DOCTYPE html>",
					    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"};
	const char *p = text, *end = text + len;
	struct markup m = {0};

	check_text(text, len, "\n\t");
	for (size_t i = 0; i < 2; i++)
		if (len > strlen(heads[i]) && !memcmp(text, heads[i], strlen(heads[i])))
			p += strlen(heads[i]);
	while (p < end) {
		if (*p == '&')
			check_entity(p + 1, end);
		if (*p == '<')
			p = check_element(&m, p + 1, end);
		else
			p++;
	}
	if (m.depth)
		markup_fail("an element is not closed", end, end);
	if (m.scripts != scripts)
		markup_fail("another number of scripts", text, end);
}

#endif
