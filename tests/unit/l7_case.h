/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads conversations of tests/l7/PROTOCOL/CASE.in into memory; analyze_l7.c describes the format.
 */
#ifndef TESTS_UNIT_L7_CASE_H
#define TESTS_UNIT_L7_CASE_H

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/engine/l7.h"

/* One call. `data` is a separate allocation, so that reads past its end are detected. */
struct l7_call {
	struct l7_piece piece;
	bool lost;
};

struct l7_case {
	struct l7_call *v;
	size_t cnt;
	enum l7_role role;
	uint16_t port;
	bool datagrams, open;
	struct l7_arg args[4]; /* strings owned by method */
	size_t arg_cnt;
	char also[32]; /* another protocol the part may use: HTTP/1 when it refuses HTTP/2 */
};

/* Resolves C escapes; the result is never longer than the text. */
static inline size_t l7_case_unescape(const char *s, char *dst)
{
	size_t n = 0;

	for (; *s && *s != '\n'; s++) {
		static const char from[] = "rnt0\\", to[] = "\r\n\t\0\\";
		const char *at;

		if (*s != '\\') {
			dst[n++] = *s;
		} else if (s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
			   isxdigit((unsigned char)s[3])) {
			char hex[3] = {s[2], s[3], 0};

			dst[n++] = strtoul(hex, NULL, 16);
			s += 3;
		} else if (s[1] && (at = strchr(from, s[1]))) {
			dst[n++] = to[at - from];
			s++;
		}
	}
	return n;
}

static inline void l7_case_line(struct l7_case *c, char *text, uint64_t pos[2])
{
	enum l7_dir dir = *text == '>' ? L7_SENT : L7_RECEIVED;
	unsigned long long keep = -1ULL;
	struct l7_call *call;
	char *p = text + 1, *bytes;

	c->v = realloc(c->v, (c->cnt + 1) * sizeof(*c->v));
	if (!c->v)
		exit(1);
	call = &c->v[c->cnt++];
	*call = (struct l7_call){
		.piece = {.dir = dir, .pos = pos[dir], .ts_ns = 1000000 * (uint64_t)c->cnt}};
	if (*p == '!') {
		call->lost = true;
		call->piece.len = strtoull(p + 1, NULL, 10);
		pos[dir] += call->piece.len;
		return;
	}
	if (isdigit((unsigned char)*p))
		keep = strtoull(p, &p, 10);
	bytes = p + (*p == ' ');
	call->piece.datagram = c->datagrams;
	call->piece.len = call->piece.data.len = l7_case_unescape(bytes, bytes);
	call->piece.data.p =
		memcpy(malloc(call->piece.len + !call->piece.len), bytes, call->piece.len);
	if (call->piece.data.len > keep)
		call->piece.data.len = keep;
	pos[dir] += call->piece.len;
}

/* METHOD PATH NAME */
static inline void l7_case_arg(struct l7_case *c, const char *text)
{
	char *copy = strdup(text), *at = copy;
	const char **word[] = {&c->args[c->arg_cnt].method, &c->args[c->arg_cnt].path,
			       &c->args[c->arg_cnt].name};

	for (int i = 0; i < 3; i++)
		*word[i] = strsep(&at, " \n");
	c->arg_cnt++;
}

/* False: no such file. */
static inline bool l7_case_read(struct l7_case *c, const char *path)
{
	uint64_t pos[2] = {0, 0};
	FILE *in = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;

	*c = (struct l7_case){0};
	if (!in)
		return false;
	while (getline(&line, &cap, in) > 0) {
		if (!strncmp(line, "role ", 5))
			c->role = line[5] == 'c' ? L7_CLIENT : L7_SERVER;
		else if (!strncmp(line, "port ", 5))
			c->port = atoi(line + 5);
		else if (!strncmp(line, "datagrams", 9))
			c->datagrams = true;
		else if (!strncmp(line, "open", 4))
			c->open = true;
		else if (!strncmp(line, "arg ", 4) && c->arg_cnt < 4)
			l7_case_arg(c, line + 4);
		else if (!strncmp(line, "also ", 5))
			snprintf(c->also, sizeof(c->also), "%.*s", (int)strcspn(line + 5, "\n"),
				 line + 5);
		if (*line == '>' || *line == '<')
			l7_case_line(c, line, pos);
	}
	free(line);
	fclose(in);
	return true;
}

static inline void l7_case_fini(struct l7_case *c)
{
	for (size_t i = 0; i < c->cnt; i++)
		free((void *)c->v[i].piece.data.p);
	free(c->v);
	for (size_t i = 0; i < c->arg_cnt; i++)
		free((void *)c->args[i].method);
}

#endif
