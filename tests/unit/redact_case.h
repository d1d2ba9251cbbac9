/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Test cases of masking, one row each: calls and their expected masked bytes. A case is a
 * connection; each call continues the previous one of its direction. Marked cases are also tested
 * with calls cut at every position into two and three calls, and must give the same bytes.
 */
#ifndef TESTS_REDACT_CASE_H
#define TESTS_REDACT_CASE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"

struct call {
	unsigned dir;
	const char *in, *out; /* out NULL: unchanged */
	size_t sz, kept;
};

struct row {
	const char *name;
	bool sql, cut;
	struct call calls[6];
};

#define SZ(s) (sizeof(s) - 1)
/* A call and its masked form; SAME: unchanged; KEPT: only the first n bytes were captured. */
#define C(i, o)                                                                                    \
	{                                                                                          \
		0, i, o, SZ(i) + 0 * sizeof(char[SZ(i) == SZ(o) ? 1 : -1]), SZ(i)                  \
	}
#define R(i, o)                                                                                    \
	{                                                                                          \
		1, i, o, SZ(i) + 0 * sizeof(char[SZ(i) == SZ(o) ? 1 : -1]), SZ(i)                  \
	}
#define SAME(i)                                                                                    \
	{                                                                                          \
		0, i, NULL, SZ(i), SZ(i)                                                           \
	}
#define RSAME(i)                                                                                   \
	{                                                                                          \
		1, i, NULL, SZ(i), SZ(i)                                                           \
	}
#define KEPT(i, n, o)                                                                              \
	{                                                                                          \
		0, i, o, SZ(i), n                                                                  \
	}

/* Processes one call, in a buffer of its exact size, so that ASan detects each read outside. */
static void apply(struct redact_conn **conn, bool sql, const struct call *c, uint64_t pos,
		  const char *in, size_t sz, size_t kept, char *out)
{
	uint8_t *p = malloc(kept ? kept : 1), *masked = malloc(kept ? kept : 1);
	struct redact_payload call = {c->dir, pos, sz, kept, p, masked};

	memcpy(p, in, kept);
	memcpy(out, redact__apply(conn, sql, &call) ? masked : p, kept);
	if (memcmp(p, in, kept))
		printf("the call's own bytes were written\n"), abort();
	free(p);
	free(masked);
}

static void show(const char *what, const char *p, size_t sz)
{
	printf("  %s ", what);
	for (size_t i = 0; i < sz; i++)
		printf(p[i] >= ' ' && p[i] <= '~' ? "%c" : "\\x%02x", (uint8_t)p[i]);
	printf("\n");
}

/* Checks the row's calls, with call `which` cut before a and b. */
static int check(const struct row *row, int which, size_t a, size_t b)
{
	struct redact_conn *conn = NULL;
	uint64_t pos[2] = {0, 0};
	int bad = 0;

	for (int i = 0; i < 6 && row->calls[i].in; i++) {
		const struct call *c = &row->calls[i];
		const char *want = c->out ? c->out : c->in;
		size_t cuts[4] = {0, i == which ? a : c->sz, i == which ? b : c->sz, c->sz};
		char got[512];

		for (int k = 0; k < 3; k++) {
			size_t sz = cuts[k + 1] - cuts[k], kept = which < 0 ? c->kept : sz;

			if (sz)
				apply(&conn, row->sql, c, pos[c->dir] + cuts[k], c->in + cuts[k],
				      sz, kept, got + cuts[k]);
		}
		pos[c->dir] += c->sz;
		if (memcmp(got, want, c->kept)) {
			printf("%s, call %d cut at %zu and %zu:\n", row->name, i, a, b);
			show("got   ", got, c->kept);
			show("wanted", want, c->kept);
			bad = 1;
		}
	}
	redact_conn__free(conn);
	return bad;
}

static int check_cuts(const struct row *row, size_t *cnt)
{
	for (int i = 0; i < 6 && row->calls[i].in; i++)
		for (size_t a = 0; a < row->calls[i].sz; a++)
			for (size_t b = a; b <= row->calls[i].sz; b++, ++*cnt)
				if (check(row, i, a, b))
					return 1;
	return 0;
}

static int check_rows(const struct row *rows, size_t row_cnt)
{
	size_t cnt = 0;
	int failed = 0;

	for (size_t i = 0; i < row_cnt; i++)
		failed += check(&rows[i], -1, 0, 0) || (rows[i].cut && check_cuts(&rows[i], &cnt));
	printf("%zu cases, cut in %zu ways, %d failed\n", row_cnt, cnt, failed);
	return failed != 0;
}

#endif
