/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls in, masked bytes out; one row a case. A case is a connection; each call goes on where the
 * one before ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../record/redact.h"

struct call {
	const char *in, *out;
	size_t sz, kept; /* kept 0: all */
};

struct row {
	const char *name;
	bool sql;
	struct call calls[4];
};

/* A call and what is left of it; KEPT: only the first n bytes were kept. */
#define C(i, o)                                                                                    \
	{                                                                                          \
		.in = i, .out = o, .sz = sizeof(i) - 1                                             \
	}
#define KEPT(i, n, o)                                                                              \
	{                                                                                          \
		.in = i, .out = o, .sz = sizeof(i) - 1, .kept = n                                  \
	}

static const struct row rows[] = {
	{"http request",
	 false,
	 {C("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s3cret\r\nX: y\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a\r\nAuthorization:***************\nX: y\r\n\r\n")}},
	{"http response, any case",
	 false,
	 {C("HTTP/1.1 200 OK\r\nset-COOKIE: a=b\r\n\r\nbody",
	    "HTTP/1.1 200 OK\r\nset-COOKIE:*****\n\r\nbody")}},
	{"a name split over calls",
	 false,
	 {C("GET / HTTP/1.1\r\nAuthori", "GET / HTTP/1.1\r\nAuthori"),
	  C("zation: Basic abc\r\nHost: h\r\n\r\n", "")}},
	{"a value split over calls",
	 false,
	 {C("GET / HTTP/1.1\r\nCookie: abc", ""), C("defghi", "******"),
	  C("jkl\r\nHost: h\r\n\r\n", "")}},
	{"after bytes that were not kept",
	 false,
	 {KEPT("GET / HTTP/1.1\r\nCookie: abcdefghijkl", 20, ""),
	  C("rest-of-the-secret\r\nHost: h\r\n\r\n", "")}},
	{"the next request after such bytes",
	 false,
	 {KEPT("GET / HTTP/1.1\r\nX: abcdefghijkl", 21, "GET / HTTP/1.1\r\nX: ab"),
	  C("GET /2 HTTP/1.1\r\n\r\n", "GET /2 HTTP/1.1\r\n\r\n")}},
	{"redis auth",
	 false,
	 {C("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$3\r\npwd\r\n*1\r\n$4\r\nPING\r\n",
	    "*3\r\n$4\r\nAUTH\r\n$1\r\n*\r\n$3\r\n***\r\n*1\r\n$4\r\nPING\r\n")}},
	{"redis hello",
	 false,
	 {C("*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nauth\r\n$1\r\nu\r\n$3\r\npwd\r\n",
	    "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nauth\r\n$1\r\n*\r\n$3\r\n***\r\n")}},
	{"redis password in the next call",
	 false,
	 {C("*2\r\n$4\r\nAUTH\r\n$6\r\nsec", "*2\r\n$4\r\nAUTH\r\n$6\r\n***"),
	  C("ret\r\n*1\r\n$4\r\nPING\r\n", "***\r\n*1\r\n$4\r\nPING\r\n")}},
	{"redis get stays",
	 false,
	 {C("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n", "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n")}},
	{"redis inline", false, {C("AUTH hunter2\r\n", "AUTH ********\n")}},
	{"postgresql password", false, {C("p\0\0\0\x0asecret", "p\0\0\0\x0a******")}},
	{"postgresql literals",
	 true,
	 {C("Q\0\0\0\x2cselect * from t1 where a='x y' and b=12\0",
	    "Q\0\0\0\x2cselect * from t1 where a='***' and b=?"
	    "?\0")}},
	{"literals stay without sql",
	 false,
	 {C("Q\0\0\0\x2cselect * from t1 where a='x y' and b=12\0",
	    "Q\0\0\0\x2cselect * from t1 where a='x y' and b=12\0")}},
	{"mysql login and challenge",
	 false,
	 {C("\x2a\0\0\x01\x85\xa6\xff\x01\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	    "\0me\0\x06secret",
	    "\x2a\0\0\x01\x85\xa6\xff\x01\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	    "\0me\0*******"),
	  C("\x06\0\0\x03secret", "\x06\0\0\x03******"),
	  C("\x09\0\0\0\x03select 1", "\x09\0\0\0\x03select 1")}},
	/* :method GET, then authorization (static 23, not indexed): "s3cret" plain, then cookie
	   Huffman "no-cache" */
	{"http/2 header blocks",
	 false,
	 {C("PRI * "
	    "HTTP/"
	    "2."
	    "0\r\n\r\nSM\r\n\r\n\0\0\x12\x01\x04\0\0\0\x01\x82\x1f\x08\x06s3cret\x60\x86\xa8\xeb"
	    "\x10\x64\x9c\xbf",
	    "PRI * "
	    "HTTP/"
	    "2.0\r\n\r\nSM\r\n\r\n\0\0\x12\x01\x04\0\0\0\x01\x82\x1f\x08\x06******"
	    "\x60\x86\xf9\xf9\xf9\xf9\xf9\xf9")}},
	{"http/2 frames stay",
	 false,
	 {C("\0\0\x04\x08\0\0\0\0\0\0\0\x10\0", "\0\0\x04\x08\0\0\0\0\0\0\0\x10\0")}},
};

static int check(const struct row *row, unsigned i)
{
	struct redact *r;
	uint64_t pos = 0;
	int bad = 0;

	if (redact__new(&r, row->sql))
		return 1;
	for (const struct call *c = row->calls; c < row->calls + 4 && c->in; c++) {
		size_t sz = c->sz, kept = c->kept ? c->kept : sz;
		char *got = malloc(sz + 1);

		memcpy(got, c->in, sz);
		got[sz] = 0;
		redact__apply(r, i, 0, pos, sz, (uint8_t *)got, kept);
		/* An empty expectation: no secret may be left. */
		if (*c->out ? memcmp(got, c->out, kept) != 0
			    : memmem(got, kept, "abc", 3) || memmem(got, kept, "secret", 6) ||
				      memmem(got, kept, "jkl", 3)) {
			printf("%s: got\n%.*s\n", row->name, (int)kept, got);
			bad = 1;
		}
		pos += sz;
		free(got);
	}
	redact__free(r);
	return bad;
}

int main(void)
{
	int failed = 0;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		failed += check(&rows[i], i);
	printf("%zu cases, %d failed\n", sizeof(rows) / sizeof(rows[0]), failed);
	return failed != 0;
}
