/* SPDX-License-Identifier: BSD-2-Clause */
/* Cost of masking per call of ordinary traffic: ns of CPU time, the median of several runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"
#include "median.h"

enum { CALLS = 200000, RUNS = 7 };

/* Passes `first` once, then `each` repeatedly; each call is copied, as in the recorder. */
static void measure(const char *name, bool sql, const char *first, size_t first_sz,
		    const char *each, size_t sz)
{
	static uint8_t buf[1 << 16];
	double ns[RUNS];

	for (int run = 0; run < RUNS; run++) {
		struct redact_conn *conn = NULL;
		struct redact_payload p = {0, 0, first_sz, first_sz, buf, buf};
		uint64_t begin;

		memcpy(buf, first, first_sz);
		if (first_sz)
			redact__apply(&conn, sql, &p);
		p.len = p.kept = sz;
		p.pos = first_sz;
		begin = cpu_ns();
		for (int i = 0; i < CALLS; i++) {
			memcpy(buf, each, sz);
			redact__apply(&conn, sql, &p);
			p.pos += sz;
		}
		ns[run] = (double)(cpu_ns() - begin) / CALLS;
		redact_conn__free(conn);
	}
	printf("%-34s %5zu bytes  %7.1f ns a call\n", name, sz, median(ns, RUNS));
}

#define M(name, sql, first, each)                                                                  \
	measure(name, sql, first, sizeof(first) - 1, each, sizeof(each) - 1)
#define SET "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000042\r\n$3\r\nVXK\r\n"
#define GET "*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000042\r\n"
#define SET8 SET SET SET SET SET SET SET SET
#define REQUEST                                                                                    \
	"GET /index.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: bench/1.0\r\nAccept: "    \
	"*/*\r\nConnection: keep-alive\r\n\r\n"
#define RESPONSE                                                                                   \
	"HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"              \
	"Content-Type: text/html\r\nContent-Length: 24\r\nConnection: keep-alive\r\n"              \
	"ETag: \"65a0\"\r\nAccept-Ranges: bytes\r\n\r\n<html>hello, world</html>"
/* length, Produce, version 9, correlation id, client, acks, a record batch */
#define PRODUCE                                                                                    \
	"\0\0\0\x92\0\0\0\x09\0\0\0\7\0\5bench\0\0\0\1\0\0\x75\x30\2\6topic\2\0\0\0\0\x55" BATCH
#define BATCH                                                                                      \
	"\0\0\0\0\0\0\0\0\0\0\0\x48\xff\xff\xff\xff\2\x12\x34\x56\x78\0\0\0\0\0\0\0\0\1\x8c"       \
	"\x12\x34\x56\x78\0\0\1\x8c\x12\x34\x56\x78\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"   \
	"\xff"                                                                                     \
	"\xff\xff\0\0\0\1\x2c\0\0\0\1\x20" VALUE
#define VALUE "0123456789abcdef0123456789abcdef0123456\0\0\0\0"
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

int main(void)
{
	static char body[512] = "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Length: "
				"10000\r\nContent-Type: text/html\r\nDate: Thu, 01 Jan 1970 "
				"00:00:00 GMT\r\n\r\n";

	static char noise[256];

	srandom(1);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = random() >> 8;
	memset(body + strlen(body), 'x', sizeof(body) - strlen(body));
	M("redis SET", false, "", SET);
	M("redis GET", false, "", GET);
	M("redis +OK", false, "", "+OK\r\n");
	M("redis, 64 SET in a pipeline", false, "", SET8 SET8 SET8 SET8 SET8 SET8 SET8 SET8);
	M("HTTP/1 request", false, "", REQUEST);
	M("HTTP/1 request with a secret", false, "",
	  "GET / HTTP/1.1\r\nCookie: session=0123456789abcdef0123456789abcdef\r\n\r\n");
	M("HTTP/1 response", false, "", RESPONSE);
	measure("HTTP/1 response and body", false, "", 0, body, sizeof(body));
	M("JSON", false, "",
	  "{\"id\":42,\"username\":\"me\",\"tags\":[{\"key\":\"env\",\"value\":\"prod\"},{\"key\":"
	  "\"team\",\"value\":\"core\"}],\"createdAt\":\"2024-01-01T00:00:00Z\",\"url\":\"/a\"}\n");
	M("HTTP/2 request, all indexed", false, PREFACE "\0\0\0\4\0\0\0\0\0",
	  "\0\0\3\1\5\0\0\0\1\x82\x84\x86");
	M("MySQL query", false, "", "\x1d\0\0\0\x03select c from t where id = 1");
	M("Kafka produce", false, "", PRODUCE);
	measure("random bytes", false, "", 0, noise, sizeof(noise));
	M("PostgreSQL query, sql masked", true, "",
	  "Q\0\0\0\x2bselect * from t1 where a='x y' and b=1234\0");
	return 0;
}
