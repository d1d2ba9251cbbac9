/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * traffic OUT.obz redis|http MESSAGES CONNECTIONS PIPELINE [RARE]
 *
 * Writes a capture of a server: CONNECTIONS clients, with one address each up to 60,000, send
 * MESSAGES requests in calls of PIPELINE requests, and get as many responses. RARE of the requests
 * come from one additional client, 192.0.2.1. For benchmarks and tests of obana.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/archive.h"
#include "format/option.h"
#include "format/text.h"

#define START_NS UINT64_C(1000000000)
#define CALL_NS UINT64_C(4000) /* between calls */
#define KEEP 16384

static const char header[] =
	"{\"host\":\"synthetic\",\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"cpus\":2,\"started_at_"
	"ns\":1700000000000000000,"
	"\"clock\":{\"monotonic_ns\":1000000000,\"realtime_ns\":1700000000000000000,\"boottime_"
	"ns\":1000000000},"
	"\"argv\":[\"synthetic\"],\"probes\":[\"l4\",\"l7\"],\"options\":{\"freq\":99}}";

struct call {
	char data[KEEP * 4];
	size_t len, kept;
};

struct client {
	uint64_t position[2], bytes[2], calls[2];
};

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185ull;
	return x ^ x >> 27;
}

static void add(struct call *c, const char *text, size_t len)
{
	if (c->len + len <= sizeof(c->data))
		memcpy(c->data + c->len, text, len);
	c->len += len;
	c->kept = c->len < sizeof(c->data) ? c->len : sizeof(c->data);
}

static void add_redis(struct call *q, struct call *a, uint64_t n)
{
	char text[512];
	bool get = mix(n) % 4 == 0;

	if (get)
		add(q, text,
		    sprintf(text, "*2\r\n$3\r\nGET\r\n$16\r\nkey:%012" PRIu64 "\r\n", n % 100000));
	else
		add(q, text,
		    sprintf(text, "*3\r\n$3\r\nSET\r\n$16\r\nkey:%012" PRIu64 "\r\n$3\r\nxxx\r\n",
			    n % 100000));
	add(a, text, sprintf(text, "%s", get ? "$3\r\nxxx\r\n" : "+OK\r\n"));
}

static void add_http(struct call *q, struct call *a, uint64_t n)
{
	static const char *const what[] = {"users", "orders", "carts", "items", "pages"};
	static const char body[612];
	char text[512];

	add(q, text,
	    sprintf(text,
		    "GET /api/%s/%" PRIu64 "/view%" PRIu64 " HTTP/1.1\r\nHost: shop.example.org\r\n"
		    "User-Agent: wrk/4.1.0\r\nAccept: */*\r\nX-Request-Id: %016" PRIx64 "\r\n\r\n",
		    what[n % 5], n % 10007, mix(n) % 10, mix(n)));
	add(a, text,
	    sprintf(text,
		    "HTTP/1.1 %s\r\nServer: nginx/1.22.1\r\nDate: Tue, 14 Nov 2023 22:13:20 "
		    "GMT\r\nContent-Type: text/html\r\nContent-Length: 612\r\nConnection: "
		    "keep-alive\r\nETag: \"63a1\"\r\nAccept-Ranges: bytes\r\n\r\n",
		    mix(n) % 100 ? "200 OK" : "502 Bad Gateway"));
	add(a, body, sizeof(body));
}

static void put_connection(struct obz_writer *w, uint64_t i, bool rare)
{
	char addr[32];
	struct rec_connection c = {.id = i + 1,
				   .process = 1,
				   .cookie = i + 1,
				   .transport = TRANSPORT_TCP,
				   .local_addr = span_of("10.0.0.1"),
				   .local_port = 8080,
				   .remote_port = 1024 + i % 60000,
				   .role = ROLE_SERVER,
				   .opened_ns = START_NS,
				   .netns = 1,
				   .sampled = 1};

	snprintf(addr, sizeof(addr), "10.%u.%u.%u", 1 + (unsigned)(i % 60000 >> 14),
		 (unsigned)(i % 60000 >> 7 & 127), (unsigned)(i & 127));
	c.remote_addr = span_of(rare ? "192.0.2.1" : addr);
	obz_writer__put(w, REC_connection, &c);
}

static void put_call(struct obz_writer *w, uint64_t i, struct client *c, unsigned dir, uint64_t ns,
		     const struct call *call, uint64_t keep)
{
	size_t kept = call->kept < keep ? call->kept : keep;
	struct rec_payload p = {.connection = i + 1,
				.thread = 1,
				.ts_ns = ns,
				.direction = dir,
				.position = c->position[dir],
				.len = call->len,
				.tcp_seq = 1 + (uint32_t)c->position[dir],
				.data = {call->data, kept},
				.peer = {"", 0}};

	c->position[dir] += call->len;
	c->bytes[dir] += call->len;
	c->calls[dir]++;
	obz_writer__put(w, REC_payload, &p);
}

static void put_stats(struct obz_writer *w, struct client *v, uint64_t cnt, uint64_t ns)
{
	for (uint64_t i = 0; i < cnt; i++) {
		struct rec_connection_stat s = {.connection = i + 1,
						.ts_ns = ns,
						.bytes_sent = v[i].bytes[0],
						.bytes_received = v[i].bytes[1],
						.sends = v[i].calls[0],
						.receives = v[i].calls[1],
						.srtt_us = 100};

		if (s.sends || s.receives)
			obz_writer__put(w, REC_connection_stat, &s);
		memset(v[i].bytes, 0, sizeof(v[i].bytes));
		memset(v[i].calls, 0, sizeof(v[i].calls));
	}
}

static void put_identity(struct obz_writer *w)
{
	struct span none = {"", 0};
	struct rec_process p = {.id = 1,
				.pid = 100,
				.comm = span_of("server"),
				.exe = span_of("/usr/bin/server"),
				.cmdline = none,
				.cgroup = none,
				.container_id = none};
	struct rec_thread t = {1, 1, 100, span_of("server")};

	obz_writer__put(w, REC_process, &p);
	obz_writer__put(w, REC_thread, &t);
}

/* Each call: PIPELINE requests received, then as many responses sent 100 to 600 us later. */
static void put_calls(struct obz_writer *w, const uint64_t *n, bool http, uint64_t rare,
		      struct client *v)
{
	static struct call q, a;
	uint64_t messages = n[0], connections = n[1], pipeline = n[2], ns = START_NS, stat = 0,
		 rare_at = rare ? messages / rare : UINT64_MAX;

	for (uint64_t i = 0, seq = 0; i < messages; seq++) {
		uint64_t conn = seq % connections, cnt = pipeline;

		if (rare && i / rare_at != (i + pipeline) / rare_at && rare--) {
			conn = connections;
			cnt = 1;
		}
		q.len = a.len = q.kept = a.kept = 0;
		for (uint64_t k = 0; k < cnt && i < messages; k++, i++)
			(http ? add_http : add_redis)(&q, &a, i);
		ns += CALL_NS;
		put_call(w, conn, &v[conn], 1, ns, &q, KEEP);
		put_call(w, conn, &v[conn], 0, ns + 1000 + mix(seq) % 3000, &a,
			 http ? 512 * cnt : KEEP);
		if (ns - START_NS > (stat + 1) * 1000000000) {
			put_stats(w, v, connections + 1, ns);
			stat++;
		}
	}
	put_stats(w, v, connections + 1, ns + CALL_NS);
}

int main(int argc, char **argv)
{
	struct obz_writer_opts opts = {.header_json = header};
	struct client *v;
	struct obz_writer *w;
	uint64_t n[3], rare = 0;
	char end[128];

	for (int i = 0; i < 3; i++)
		if (argc < 6 || parse_u64(argv[3 + i], &n[i]) || !n[i])
			return 2;
	if ((argc > 6 && parse_u64(argv[6], &rare)) || n[2] > 64)
		return 2;
	v = calloc(n[1] + 1, sizeof(*v));
	if (!v ||
	    obz_writer__new(&w, open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), &opts))
		return 1;
	put_identity(w);
	for (uint64_t i = 0; i <= n[1]; i++)
		if (i < n[1] || rare)
			put_connection(w, i, i == n[1]);
	put_calls(w, n, !strcmp(argv[2], "http"), rare, v);
	free(v);
	snprintf(end, sizeof(end),
		 "{\"stop_reason\":\"duration\",\"duration_ns\":%" PRIu64 ",\"losses\":[]}",
		 n[0] / n[2] * CALL_NS + 1000000);
	return obz_writer__close(w, end) ? 1 : 0;
}
