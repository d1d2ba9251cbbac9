/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Payload without a name: conversations in, what is handed on out: a call's direction and bytes, or
 * '-' where its bytes were left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"
#include "record/traffic/unnamed.h"
#include "check.h"

#define S(text)                                                                                    \
	{                                                                                          \
		0, text, sizeof(text) - 1                                                          \
	}
#define R(text)                                                                                    \
	{                                                                                          \
		1, text, sizeof(text) - 1                                                          \
	}

static const struct {
	const char *name;
	bool named;
	struct call {
		unsigned dir;
		const char *p;
		size_t sz;
	} calls[8];
} rows[] = {
	/* ---- of which nobody knows where their secrets are ---- */
	{"ftp",
	 false,
	 {R("220 ready\r\n"), S("USER me\r\n"), R("331 password\r\n"), S("PASS s3cret\r\n"),
	  R("230 in\r\n")}},
	{"smtp",
	 false,
	 {R("220 h ESMTP\r\n"), S("EHLO a\r\n"), R("250-h\r\n250 AUTH PLAIN\r\n"),
	  S("AUTH PLAIN AG1lAHMzY3JldA==\r\n"), R("235 ok\r\n")}},
	{"pop3",
	 false,
	 {R("+OK ready\r\n"), S("USER me\r\n"), R("+OK\r\n"), S("PASS s3cret\r\n"),
	  R("-ERR no\r\n"), S("PASS s4cret\r\n"), R("+OK\r\n"), S("STAT\r\n")}},
	{"imap", false, {R("* OK ready\r\n"), S("a1 LOGIN me s3cret\r\n"), R("a1 OK\r\n")}},
	{"irc",
	 false,
	 {S("PASS s3cret\r\nNICK me\r\n"), R(":h 001 me :hi\r\n"), R("PING :h\r\n"),
	  S("PONG :h\r\n")}},
	{"ldap",
	 false,
	 {S("\x30\x19\2\1\1\x60\x14\2\1\3\4\7cn=root\x80\6s3cret"),
	  R("\x30\x0c\2\1\1\x61\7\x0a\1\0\4\0\4\0")}},
	{"telnet",
	 false,
	 {R("\xff\xfd\x18login: "), S("m"), S("e"), S("\r"), R("Password: "), S("s"), S("3"),
	  S("c")}},
	{"socks5", false, {S("\5\1\2"), R("\5\2"), S("\1\2me\6s3cret"), R("\1\0")}},
	/* ---- protocols of format/protocols.def, from their beginning or joined later ---- */
	{"http1", true, {S("GET / HTTP/1.1\r\n\r\n")}},
	{"http1, an answer", true, {S("PROPFIND / HTTP/1.1\r\n\r\n"), R("HTTP/1.1 207 M\r\n\r\n")}},
	{"http1, behind a body",
	 true,
	 {R("<p>the rest of a page</p>"), S("GET / HTTP/1.1\r\n\r\n")}},
	{"http1, cut", true, {S("GE"), S("T / HTTP/1.1\r\n\r\n")}},
	{"http2", true, {S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")}},
	{"http2, later", true, {S("\0\0\3\1\5\0\0\0\1\x82\x84\x86"), R("\0\0\1\1\4\0\0\0\1\x88")}},
	{"redis", true, {S("*1\r\n$4\r\nPING\r\n")}},
	{"redis, a login by hand",
	 true,
	 {S("AUTH s3cret\r\n"), R("+OK\r\n"), S("*1\r\n$4\r\nPING\r\n")}},
	{"mysql",
	 true,
	 {R("\x0e\0\0\0\x0a"
	    "8.0.1\0saltsal")}},
	{"mysql, later", true, {S("\1\0\0\0\x0e"), R("\7\0\0\1\0\0\0\2\0\0\0")}},
	{"postgresql", true, {S("\0\0\0\x11\0\3\0\0user\0me\0\0")}},
	{"postgresql, later", true, {S("Q\0\0\0\x0dSELECT 1\0"), R("T\0\0\0\6\0\0Z\0\0\0\5I")}},
	{"kafka", true, {S("\0\0\0\x0c\0\x12\0\0\0\0\0\1\0\2me")}},
	{"kafka, two requests in one call",
	 true,
	 {S("\0\0\0\x0c\0\x12\0\0\0\0\0\1\0\2me"
	    "\0\0\0\x0c\0\3\0\0\0\0\0\2\0\2me")}},
	{"kafka, a client without a name",
	 true,
	 {S("\0\0\0\x0a\0\x0c\0\4\0\0\0\1\xff\xff"), S("\0\0\0\x0a\0\x0c\0\4\0\0\0\2\xff\xff")}},
	{"thrift", true, {S("\x80\1\0\1\0\0\0\4ping\0\0\0\0\0")}},
	{"thrift, its older form, framed",
	 true,
	 {S("\0\0\0\x0d\0\0\0\4ping\1\0\0\0\1"), R("\0\0\0\x0d"), R("\0\0\0\4ping\2\0\0\0\1")}},
	{"brpc", true, {S("PRPC\0\0\0\0\0\0\0\0")}},
	{"mongodb", true, {S("\x10\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0")}},
	{"amqp", true, {S("AMQP\0\0\x09\1")}},
	{"dubbo", true, {S("\xda\xbb\xc2\0\0\0\0\0\0\0\0\1\0\0\0\0")}},
	{"mqtt", true, {S("\x10\x0e\0\4MQTT\4\2\0\x3c\0\2me")}},
	{"mqtt, later", true, {S("\x30\4\0\1t!"), S("\xc0\0")}},
	{"memcached", true, {S("get a\r\n")}},
	{"nats", true, {R("INFO {\"a\":1}\r\n")}},
	{"nats, later", true, {R("PING\r\n"), S("PONG\r\n")}},
	{"cassandra", true, {S("\4\0\0\1\5\0\0\0\0"), R("\x84\0\0\1\6\0\0\0\2\0\0")}},
	{"dns",
	 true,
	 {S("\0\x11\0\1\1\0\0\1\0\0\0\0\0\0\0\0\1\0\1"),
	  R("\0\x11\0\1\x81\x80\0\1\0\0\0\0\0\0\0\0\1\0\1")}},
	{"tls", true, {S("\x16\3\1\0\2\1\0")}},
};

static char out[1 << 12];
static size_t calls, bare;

static void on_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow)
{
	(void)ctx, (void)flow;
	CHECK(p->len && p->kept <= p->len);
	CHECK(!p->kept == !!(p->flags & PAYLOAD_UNNAMED));
	calls++;
	bare += !p->kept;
	if (strlen(out) < sizeof(out) - 64)
		sprintf(out + strlen(out), "%u@%llu%s ", p->dir, (unsigned long long)p->pos,
			p->kept ? "" : "-");
}

static void give(struct unnamed *u, struct payload_flow *flow, unsigned dir, uint64_t pos,
		 const void *data, size_t sz, uint32_t flags)
{
	struct wire_payload *p = calloc(1, sizeof(*p) + sz);

	p->dir = dir;
	p->pos = pos;
	p->len = p->kept = sz;
	p->flags = flags;
	memcpy(p->data, data, sz);
	unnamed__put(u, p, flow);
	free(p);
}

static void test_row(struct unnamed *u, size_t r)
{
	struct payload_flow flow = {0};
	char want[256] = "";
	uint64_t pos[2] = {0};

	*out = 0;
	for (int i = 0; i < 8 && rows[r].calls[i].p; i++) {
		const struct call *c = &rows[r].calls[i];

		give(u, &flow, c->dir, pos[c->dir], c->p, c->sz, 0);
		sprintf(want + strlen(want), "%u@%llu%s ", c->dir, (unsigned long long)pos[c->dir],
			rows[r].named ? "" : "-");
		pos[c->dir] += c->sz;
	}
	CHECK(rows[r].named == flow.named, "%s", rows[r].name);
	unnamed__end(u, &flow);
	CHECK(!strcmp(out, want), "%s: got %s, wanted %s", rows[r].name, out, want);
}

/* However much comes, of one connection or of many. */
static void test_bounds(struct unnamed *u)
{
	enum { FLOWS = 2000, EACH_SZ = 8000 };
	static struct payload_flow flows[FLOWS];
	static char noise[EACH_SZ];
	struct payload_flow one = {0};

	memset(noise, '.', sizeof(noise));
	calls = bare = 0;
	for (int i = 0; i < 100; i++)
		give(u, &one, 0, i * EACH_SZ, noise, EACH_SZ, 0);
	CHECK(calls >= 98 && calls == bare, "%zu of 100 handed on, %zu bare", calls, bare);
	give(u, &one, 0, 100 * EACH_SZ, "GET / HTTP/1.1\r\n\r\n", 18, 0);
	give(u, &one, 1, 0, "HTTP/1.1 200 OK\r\n\r\n", 19, 0);
	unnamed__end(u, &one);
	CHECK(calls == 102, "%zu of 102", calls);
	calls = bare = 0;
	for (int i = 0; i < FLOWS; i++)
		give(u, &flows[i], 0, 0, noise, EACH_SZ, 0);
	CHECK(calls == bare && (FLOWS - calls) * EACH_SZ <= UNNAMED_MAX && calls < FLOWS,
	      "%zu handed on", calls);
	for (int i = 0; i < FLOWS; i++)
		unnamed__end(u, &flows[i]);
	CHECK(calls == FLOWS && bare == FLOWS, "%zu, %zu bare", calls, bare);
}

static void test_datagrams(struct unnamed *u)
{
	static const char query[] = "\0\1\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1",
			  snmp[] = "\x30\x13\2\1\0\4\6public\xa0\6\2\1\1\2\1\0";
	struct payload_flow alone = {0};

	*out = 0;
	give(u, &alone, 0, 0, query, sizeof(query) - 1, PAYLOAD_DATAGRAM);
	give(u, &alone, 0, 1, snmp, sizeof(snmp) - 1, PAYLOAD_DATAGRAM);
	CHECK(!strcmp(out, "0@0 0@1- "), "got %s", out);
	CHECK(!alone.unnamed);
}

int main(void)
{
	struct unnamed *u;

	CHECK(!unnamed__new(&u, on_payload, NULL));
	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++)
		test_row(u, r);
	test_bounds(u);
	test_datagrams(u);
	unnamed__free(u);
	return failed;
}
