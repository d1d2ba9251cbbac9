/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets in, records out: each row of `cases` is a capture and what comes of it, named for its
 * cause. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pcap/pcap_import.h"
#include "format/text.h"
#include "check.h"

/* ---- a capture file in memory ---- */

enum {
	LINK_NULL = 0,
	LINK_EN10MB = 1,
	LINK_RAW = 101,
	LINK_LOOP = 108,
	LINK_LINUX_SLL = 113,
	LINK_LINUX_SLL2 = 276,
};

struct capture {
	FILE *f;
	char *p;
	size_t sz;
	uint64_t us;
	int link;
	uint32_t snap;
};

static void put(FILE *f, const void *p, size_t sz)
{
	fwrite(p, 1, sz, f);
}

static void capture_open(struct capture *c, int link)
{
	const uint32_t head[] = {0xa1b2c3d4, 4 << 16 | 2, 0, 0, 262144, link};

	*c = (struct capture){.us = 1000000000, .link = link, .snap = UINT32_MAX};
	c->f = open_memstream(&c->p, &c->sz);
	put(c->f, head, sizeof(head));
}

static void frame(struct capture *c, const uint8_t *p, uint32_t len)
{
	uint32_t kept = len < c->snap ? len : c->snap;
	const uint32_t head[] = {c->us / 1000000, c->us % 1000000, kept, len};

	put(c->f, head, sizeof(head));
	put(c->f, p, kept);
	c->us += 1000;
}

static size_t b16(uint8_t *p, uint16_t v)
{
	p[0] = v >> 8;
	p[1] = v;
	return 2;
}

static size_t b32(uint8_t *p, uint32_t v)
{
	return b16(p, v >> 16) + b16(p + 2, v);
}

static size_t link_header(const struct capture *c, uint8_t *p, bool v6, int vlans)
{
	const uint16_t type = v6 ? 0x86dd : 0x0800;
	size_t n = 0;

	switch (c->link) {
	case LINK_EN10MB:
		n = 12;
		for (; vlans; vlans--) {
			n += b16(p + n, vlans > 1 ? 0x88a8 : 0x8100);
			n += b16(p + n, 7);
		}
		return n + b16(p + n, type);
	case LINK_NULL:
		p[0] = v6 ? 10 : 2;
		return 4;
	case LINK_LOOP:
		p[3] = v6 ? 30 : 2;
		return 4;
	case LINK_LINUX_SLL:
		b16(p + 14, type);
		return 16;
	case LINK_LINUX_SLL2:
		b16(p, type);
		return 20;
	}
	return 0;
}

/* How a packet is wrapped; zero is plain IPv4. */
struct wrap {
	bool v6, extensions;
	int vlans, padding;
	uint16_t fragment; /* IPv4: flags and offset; IPv6: offset and flag */
	uint16_t id;
	bool no_length;	   /* IPv4's is 0: divided later by the card */
};

static size_t ip_header(uint8_t *p, const struct wrap *w, int from, int proto, size_t len)
{
	size_t n = 40;

	if (!w->v6) {
		p[0] = 0x45;
		b16(p + 2, w->no_length ? 0 : 20 + len);
		b16(p + 4, w->id);
		b16(p + 6, w->fragment);
		p[9] = proto;
		b32(p + 12, 0x0a000000 + from);
		b32(p + 16, 0x0a000000 + 3 - from);
		return 20;
	}
	p[0] = 0x60;
	p[6] = proto;
	p[8] = p[24] = 0xfd;
	p[23] = from;
	p[39] = 3 - from;
	if (w->extensions) { /* hop by hop, then a fragment header */
		p[6] = 0;
		p[n] = 44;
		n += 8;
		p[n] = proto;
		b16(p + n + 2, w->fragment);
		n += 8;
	}
	b16(p + 4, n - 40 + len);
	return n;
}

enum { CLIENT = 1, SERVER = 2, CLIENT_PORT = 40000, SERVER_PORT = 80 };

static void packet(struct capture *c, const struct wrap *w, int from, int proto,
		   const uint8_t *transport, size_t header_sz, const char *text)
{
	static uint8_t p[200000];
	size_t len = strlen(text), n;

	memset(p, 0, 256);
	n = link_header(c, p, w->v6, w->vlans);
	n += ip_header(p + n, w, from, proto, header_sz + len);
	memcpy(p + n, transport, header_sz);
	memcpy(p + n + header_sz, text, len);
	n += header_sz + len;
	memset(p + n, 0xee, w->padding);
	frame(c, p, n + w->padding);
}

static void tcp_wrapped(struct capture *c, const struct wrap *w, int from, int flags, uint32_t seq,
			uint32_t ack, const char *text)
{
	uint8_t h[20] = {[12] = 0x50, [13] = flags};

	b16(h, from == CLIENT ? CLIENT_PORT : SERVER_PORT);
	b16(h + 2, from == CLIENT ? SERVER_PORT : CLIENT_PORT);
	b32(h + 4, seq);
	b32(h + 8, ack);
	packet(c, w, from, 6, h, sizeof(h), text);
}

static void tcp(struct capture *c, int from, int flags, uint32_t seq, uint32_t ack,
		const char *text)
{
	tcp_wrapped(c, &(struct wrap){0}, from, flags, seq, ack, text);
}

static void udp(struct capture *c, const struct wrap *w, int from, const char *text)
{
	uint8_t h[8] = {0};

	b16(h, from == CLIENT ? CLIENT_PORT : 53);
	b16(h + 2, from == CLIENT ? 53 : CLIENT_PORT);
	b16(h + 4, 8 + strlen(text));
	packet(c, w, from, 17, h, sizeof(h), text);
}

static void handshake(struct capture *c, uint32_t client_seq, uint32_t server_seq)
{
	tcp(c, CLIENT, TCP_SYN, client_seq, 0, "");
	tcp(c, SERVER, TCP_SYN | TCP_ACK, server_seq, client_seq + 1, "");
	tcp(c, CLIENT, TCP_ACK, client_seq + 1, server_seq + 1, "");
}

/* ---- records as text ---- */

static int on_begin(void *ctx, uint64_t first_ns)
{
	return 0;
}

static int on_put(void *ctx, enum rec_kind kind, const void *rec)
{
	struct strbuf *b = ctx;

	if (kind == REC_connection) {
		const struct rec_connection *r = rec;

		strbuf_addf(b, "conn %u %s:%u %s:%u role %u opened %d\n", r->id, r->local_addr.p,
			    r->local_port, r->remote_addr.p, r->remote_port, r->role,
			    r->opened_ns != 0);
	} else if (kind == REC_payload) {
		const struct rec_payload *r = rec;

		strbuf_addf(b, "%c %llu+%u seq %u '", r->direction ? '<' : '>',
			    (unsigned long long)r->position, r->len, r->tcp_seq);
		strbuf_add(b, r->data.p, r->data.len > 20 ? 20 : r->data.len);
		strbuf_addf(b, r->data.len > 20 ? "'...%zu\n" : "'\n", r->data.len);
	} else if (kind == REC_connection_stat) {
		const struct rec_connection_stat *r = rec;

		strbuf_addf(b, "stat %llu/%llu sent %llu/%llu received, again %u\n",
			    (unsigned long long)r->bytes_sent, (unsigned long long)r->sends,
			    (unsigned long long)r->bytes_received, (unsigned long long)r->receives,
			    r->retransmits);
	} else if (kind == REC_connection_close) {
		strbuf_addf(b, "close %u\n",
			    ((const struct rec_connection_close *)rec)->connection);
	} else if (kind == REC_loss) {
		const struct rec_loss *r = rec;

		strbuf_addf(b, "lost %llu %s\n", (unsigned long long)r->count, r->cause.p);
	}
	return 0;
}

static uint32_t payload = UINT32_MAX;
static uint32_t max_connections;

/* What comes of the capture, which is closed. */
static char *import_text(struct capture *c, int *result)
{
	struct strbuf b = {0};
	const struct import_sink sink = {on_begin, on_put, &b};
	struct import_opts o = {"test", payload, import_limits, false, false};
	char text[256];
	struct import *im = NULL;
	struct pcap_file *p = NULL;

	if (max_connections)
		o.limits.max_cnt = max_connections;
	fclose(c->f);
	CHECK(!pcap_file__open(&p, fmemopen(c->p, c->sz, "rb"), text, sizeof(text)), "%s", text);
	CHECK(p && !import__new(&im, &o, &sink), "%s", text);
	*result = import__read(im, p);
	CHECK(!import__finish(im));
	import__free(im);
	pcap_file__free(p);
	free(c->p);
	strbuf_add(&b, "", 1);
	return b.p;
}

static void expect(const char *name, struct capture *c, const char *want)
{
	int result;
	char *got = import_text(c, &result);

	CHECK(!result && !strcmp(got, want), "%s: result %d\n--- got\n%s--- expected\n%s", name,
	      result, got, want);
	free(got);
}

#define CONN "conn 1 10.0.0.2:80 10.0.0.1:40000 role 2 opened "

static void test_life(void)
{
	struct capture c;

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	tcp(&c, CLIENT, TCP_ACK, 101, 501, "request");
	tcp(&c, SERVER, TCP_ACK, 501, 108, "answer");
	tcp(&c, CLIENT, TCP_ACK | TCP_FIN, 108, 507, "");
	tcp(&c, SERVER, TCP_ACK | TCP_FIN, 507, 109, "");
	tcp(&c, CLIENT, TCP_ACK, 109, 508, ""); /* opens nothing */
	expect("syn to fin", &c,
	       CONN "1\n< 0+7 seq 101 'request'\n> 0+6 seq 501 'answer'\n"
		    "stat 6/1 sent 7/1 received, again 0\n" CONN "1\nclose 1\n");

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	tcp(&c, CLIENT, TCP_ACK, 101, 501, "one");
	tcp(&c, SERVER, TCP_RST, 501, 0, "");
	handshake(&c, 90000, 500);
	tcp(&c, CLIENT, TCP_ACK, 90001, 501, "two");
	expect("reset, and its ports again", &c,
	       CONN "1\n< 0+3 seq 101 'one'\nstat 0/0 sent 3/1 received, again 0\n" CONN
		    "1\nclose 1\nconn 2 10.0.0.2:80 10.0.0.1:40000 role 2 opened 1\n< 0+3 seq "
		    "90001 'two'\n"
		    "stat 0/0 sent 3/1 received, again 0\n");

	capture_open(&c, LINK_EN10MB);
	tcp(&c, CLIENT, TCP_ACK, 101, 501, "one");
	tcp(&c, CLIENT, TCP_SYN, 100, 0, "");
	tcp(&c, CLIENT, TCP_ACK, 104, 501, "two");
	expect("the first bytes before the SYN", &c,
	       CONN "0\n< 0+3 seq 101 'one'\n< 3+3 seq 104 'two'\nstat 0/0 sent 6/2 received, "
		    "again 0\n");

	capture_open(&c, LINK_EN10MB);
	tcp(&c, SERVER, TCP_ACK, 501, 108, "answer");
	tcp(&c, CLIENT, TCP_ACK, 108, 507, "next");
	expect("joined in the middle, the server first", &c,
	       CONN "0\n> 0+6 seq 501 'answer'\n< 0+4 seq 108 'next'\nstat 6/1 sent 4/1 received, "
		    "again 0\n");
}

static void test_order(void)
{
	struct capture c;

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 0xfffffffa, 500);
	tcp(&c, CLIENT, TCP_ACK, 0xfffffffb, 501, "abc");
	tcp(&c, CLIENT, TCP_ACK, 1, 501, "ghi"); /* before "def", over the wrap */
	tcp(&c, CLIENT, TCP_ACK, 1, 501, "ghi");
	tcp(&c, CLIENT, TCP_ACK, 0xfffffffe, 501, "def");
	tcp(&c, CLIENT, TCP_ACK, 0xfffffffe, 501, "defghijk"); /* sent again, with more */
	expect("out of order, twice, wrapping", &c,
	       CONN "1\n< 0+3 seq 4294967291 'abc'\n< 3+3 seq 4294967294 'def'\n< 6+3 seq 1 'ghi'\n"
		    "< 9+2 seq 4 'jk'\nstat 0/0 sent 11/4 received, again 0\n");

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	tcp(&c, SERVER, TCP_ACK, 501, 101, "abc");
	tcp(&c, SERVER, TCP_ACK, 501, 101, "abc");
	tcp(&c, SERVER, TCP_ACK, 503, 101, "c"); /* keep-alive */
	expect("the server sends again", &c,
	       CONN "1\n> 0+3 seq 501 'abc'\nstat 3/1 sent 0/0 received, again 1\n");

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	tcp(&c, CLIENT, TCP_ACK, 101, 501, "abc");
	tcp(&c, CLIENT, TCP_ACK, 114, 501, "xyz");
	tcp(&c, SERVER, TCP_ACK, 501, 117, "yes"); /* so only the capture lacks ten bytes */
	tcp(&c, CLIENT, TCP_ACK, 117, 504, "end");
	expect("a hole that was acknowledged", &c,
	       CONN "1\n< 0+3 seq 101 'abc'\n< 13+3 seq 114 'xyz'\n> 0+3 seq 501 'yes'\n< 16+3 seq "
		    "117 'end'\n"
		    "stat 3/1 sent 9/3 received, again 0\nlost 10 TCP bytes not in the capture\n");

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	tcp(&c, CLIENT, TCP_ACK, 111, 501, "xyz");
	expect("a hole at the end", &c,
	       CONN "1\n< 10+3 seq 111 'xyz'\nstat 0/0 sent 3/1 received, again 0\n"
		    "lost 10 TCP bytes not in the capture\n");

	capture_open(&c, LINK_EN10MB);
	handshake(&c, 100, 500);
	for (uint32_t i = 0; i < 5000; i++)
		tcp(&c, CLIENT, TCP_ACK, 111 + 2 * i, 501, "x");
	int result;
	char *got = import_text(&c, &result);

	CHECK(strstr(got, "< 10+1 ") && strstr(got, "sent 5000/5000 received") == NULL, "%s", got);
	CHECK(strstr(got, "lost 5009 TCP bytes"), "endless holes: %s", got + strlen(got) - 60);
	free(got);
}

static void test_wrapping(void)
{
	static const int links[] = {LINK_EN10MB, LINK_NULL,      LINK_LOOP,
				    LINK_RAW,	LINK_LINUX_SLL, LINK_LINUX_SLL2};
	const struct wrap wraps[] = {
		{0},
		{.vlans = 2},
		{.padding = 30},
		{.no_length = true},
		{.v6 = true},
		{.v6 = true, .extensions = true},
	};
	struct capture c;

	for (size_t l = 0; l < sizeof(links) / sizeof(*links); l++)
		for (size_t w = 0; w < sizeof(wraps) / sizeof(*wraps); w++) {
			if (wraps[w].vlans && links[l] != LINK_EN10MB)
				continue;
			capture_open(&c, links[l]);
			tcp_wrapped(&c, &wraps[w], CLIENT, TCP_SYN, 100, 0, "");
			tcp_wrapped(&c, &wraps[w], CLIENT, TCP_ACK, 101, 501, "text");
			expect("wrapped", &c,
			       wraps[w].v6 ? "conn 1 fd00::2:80 fd00::1:40000 role 2 opened 1\n< "
					     "0+4 seq 101 'text'\n"
					     "stat 0/0 sent 4/1 received, again 0\n"
					   : CONN "1\n< 0+4 seq 101 'text'\nstat 0/0 sent 4/1 "
						  "received, again 0\n");
		}
}

static void test_left_out(void)
{
	const struct wrap first = {.fragment = 0x2000}, later = {.fragment = 185},
			  v6 = {.v6 = true, .extensions = true, .fragment = 1}, plain = {0};
	struct capture c;

	capture_open(&c, LINK_EN10MB);
	udp(&c, &first, CLIENT, "begin");
	udp(&c, &later, CLIENT, "end");
	udp(&c, &v6, CLIENT, "six");
	frame(&c, (const uint8_t *)"\1\1\1\1\1\1\2\2\2\2\2\2\x08\x06 arp", 18);
	expect("fragments, ARP", &c, "lost 3 IP fragments whose datagram is not whole\n");

	/* No more datagrams wait than have room; the fragments of the others are lost at once. */
	capture_open(&c, LINK_EN10MB);
	for (uint32_t i = 0; i < 9000; i++)
		udp(&c, &(struct wrap){.fragment = 0x2000, .id = i + 1}, CLIENT, "begins 8");
	expect("many fragments alone", &c, "lost 9000 IP fragments whose datagram is not whole\n");

	/* What nobody knows does not wait for ever for its server. */
	capture_open(&c, LINK_EN10MB);
	for (uint32_t i = 0; i < 65; i++)
		tcp(&c, CLIENT, TCP_PSH | TCP_ACK, 101 + i, 501, "?");
	int result;
	char *got = import_text(&c, &result);

	CHECK(!strncmp(got, CONN "0\n< 0+1 seq 101", strlen(CONN "0\n< 0+1 seq 101")) &&
		      strstr(got, "< 64+1 seq 165"),
	      "%s", got);
	free(got);

	capture_open(&c, LINK_EN10MB);
	c.snap = 14 + 20 + 8 + 3;
	udp(&c, &plain, CLIENT, "question");
	c.snap = 30;
	udp(&c, &plain, SERVER, "answer");
	expect("cut by the snap length", &c,
	       "conn 1 10.0.0.2:53 10.0.0.1:40000 role 2 opened 0\n< 0+8 seq 0 'que'\n"
	       "stat 0/0 sent 8/1 received, again 0\nlost 1 packets truncated or damaged before their "
	       "payload\n");
}

/* A capture that begins with a datagram from the client. */
static void capture_datagram(struct capture *c, const char *text)
{
	capture_open(c, LINK_EN10MB);
	udp(c, &(struct wrap){0}, CLIENT, text);
}

/* What is found of it where it says "one". */
#define ONE                                                                                        \
	"conn 1 10.0.0.2:53 10.0.0.1:40000 role 2 opened 0\n< 0+3 seq 0 'one'\n"                   \
	"stat 0/0 sent 3/1 received, again 0\n"

static void test_bounds(void)
{
	static char big[150001];
	const struct wrap plain = {0};
	struct capture c;

	memset(big, 'b', sizeof(big) - 1);
	capture_open(&c, LINK_EN10MB);
	tcp_wrapped(&c, &(struct wrap){.no_length = true}, CLIENT, TCP_ACK, 101, 501, big);
	expect("longer than a record's string", &c,
	       CONN "0\n< 0+65535 seq 101 'bbbbbbbbbbbbbbbbbbbb'...65535\n"
		    "< 65535+65535 seq 65636 'bbbbbbbbbbbbbbbbbbbb'...65535\n"
		    "< 131070+18930 seq 131171 'bbbbbbbbbbbbbbbbbbbb'...18930\nstat 0/0 sent "
		    "150000/1 received, again 0\n");

	payload = 4;
	capture_datagram(&c, "question");
	udp(&c, &plain, SERVER, "");
	udp(&c, &plain, SERVER, "ok");
	expect("--payload 4, an empty datagram", &c,
	       "conn 1 10.0.0.2:53 10.0.0.1:40000 role 2 opened 0\n< 0+8 seq 0 'ques'\n> 0+2 seq 0 "
	       "'ok'\n"
	       "stat 2/2 sent 8/1 received, again 0\n");
	payload = UINT32_MAX;

	max_connections = 1;
	capture_datagram(&c, "one");
	tcp(&c, CLIENT, TCP_SYN, 100, 0, "");
	expect("no room", &c,
	       ONE "conn 2 10.0.0.2:80 10.0.0.1:40000 role 2 "
		   "opened 1\n"
		   "lost 1 connections evicted: too many at once\n");
	max_connections = 0;

	capture_datagram(&c, "one");
	c.us += 1500000;
	udp(&c, &plain, CLIENT, "two");
	c.us += 1000000000; /* longer than the idle limit; another flow, as nothing is known any
			       more */
	tcp(&c, CLIENT, TCP_SYN, 1, 0, "");
	udp(&c, &plain, CLIENT, "three");
	expect("time", &c,
	       ONE "< 3+3 seq 0 'two'\nstat 0/0 sent 3/1 "
		   "received, again 0\n"
		   "conn 2 10.0.0.2:80 10.0.0.1:40000 role 2 opened 1\n"
		   "conn 3 10.0.0.2:53 10.0.0.1:40000 role 2 opened 0\n< 0+5 seq 0 'three'\n"
		   "stat 0/0 sent 5/1 received, again 0\n");
}

static void test_cut_file(void)
{
	struct capture c;
	int result;
	char *got;

	capture_open(&c, LINK_EN10MB);
	tcp(&c, CLIENT, TCP_ACK, 101, 501, "whole");
	tcp(&c, CLIENT, TCP_ACK, 106, 501, "not whole");
	fflush(c.f);
	c.sz -= 4;
	size_t sz = c.sz;
	fclose(c.f);
	c.f = fopen("/dev/null", "w");
	c.sz = sz;
	got = import_text(&c, &result);
	CHECK(result == -EBADMSG && strstr(got, "'whole'") && !strstr(got, "not"), "%d %s", result,
	      got);
	free(got);
}

int main(void)
{
	test_life();
	test_order();
	test_wrapping();
	test_left_out();
	test_bounds();
	test_cut_file();
	return failed;
}
