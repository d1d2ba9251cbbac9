/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's guesses (bpf/net/guess.h), compiled for user space: what begins which message, and
 * where it ends; the conversations of tests/l7, of which no call may be taken for another
 * protocol's.
 */
#include <glob.h>
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/net/guess.h"
#include "check.h"

static const char *const names[] = {
	"-",
#define PROTOCOL(name, shown) #name,
#include "format/protocols.def"
#undef PROTOCOL
};

static unsigned guess_protocol(const __u8 *d, __u32 have, __u32 call, bool dgram, __u32 *size)
{
	*size = 0;
#define GUESS(name, test, sz)                                                                      \
	if (guess_##name(d, 0, have, call, dgram, size))                                           \
		return NET_PROTO_##name;
#include "bpf/net/guess.def"
#undef GUESS
	return NET_PROTO_UNKNOWN;
}

/* As the kernel does: the head of a call stands in GUESS_BYTES bytes, garbage behind. */
static unsigned guess(const void *p, size_t len, bool dgram, unsigned *size)
{
	__u8 *d = malloc(GUESS_BYTES);
	size_t have = len < GUESS_BYTES ? len : GUESS_BYTES;
	unsigned protocol;

	memset(d, '\n', GUESS_BYTES);
	memcpy(d, p, have);
	protocol = guess_protocol(d, have, len, dgram, size);
	free(d);
	return protocol;
}

#define MORE 9999u /* any size below the call's */
#define S(text) text, sizeof(text) - 1
#define AMQP_PUBLISH "\1\0\1\0\0\0\x0f\0\x3c\0\x28\0\0\0\6orders\0\xce"
#define AMQP_CONTENT "\2\0\1\0\0\0\x0e\0\x3c\0\0\0\0\0\0\0\0\0\2\0\0\xce\3\0\1\0\0\0\2tx\xce"
#define SEGMENT_OPTIONS                                                                            \
	"\x09\x00\x02\xa4\xc8\xc1\x05\x00\x00\x01\x05\x00\x00\x00\x00\xb5\x55\x74\x86"
#define NAME_QUERY "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"
static const struct {
	const char *cause, *bytes;
	size_t len;
	bool dgram;
	unsigned protocol, size;
} rows[] = {
	{"request", S("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 27},
	{"two requests", S("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"),
	 0, NET_PROTO_http1, MORE},
	{"request with a body", S("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n123456789"), 0,
	 NET_PROTO_http1, 0},
	{"answer", S("HTTP/1.1 200 OK\r\n\r\nbody"), 0, NET_PROTO_http1, 0},
	{"like a method", S("GETTING STARTED"), 0, NET_PROTO_UNKNOWN, 0},
	{"NOTIFY", S("NOTIFY /e HTTP/1.1\r\nHost: a\r\n\r\nbody"), 0, NET_PROTO_http1, 0},
	{"SUBSCRIBE", S("SUBSCRIBE /e HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"UNSUBSCRIBE", S("UNSUBSCRIBE /e HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"SEARCH", S("SEARCH / HTTP/1.1\r\nHost: a\r\n\r\nbody"), 0, NET_PROTO_http1, 0},
	{"PROPFIND", S("PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"PROPPATCH", S("PROPPATCH / HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"QUERY", S("QUERY / HTTP/1.1\r\nHost: a\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"RPC_IN_DATA", S("RPC_IN_DATA /rpc HTTP/1.1\r\n\r\n"), 0, NET_PROTO_http1, 0},
	{"SIP's NOTIFY", S("NOTIFY sip:a@b SIP/2.0\r\n\r\n"), 0, NET_PROTO_UNKNOWN, 0},
	{"Redis's SUBSCRIBE", S("SUBSCRIBE news\r\n"), 0, NET_PROTO_UNKNOWN, 0},
	{"preface", S("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"), 0, NET_PROTO_http2,
	 MORE},
	{"settings", S("\0\0\0\4\1\0\0\0\0"), 0, NET_PROTO_http2, 9},
	{"headers, data", S("\0\0\1\1\4\0\0\0\1\x88\0\0\1\0\1\0\0\0\1x"), 0, NET_PROTO_http2, MORE},
	{"data that goes on", S("\0\x40\0\0\0\0\0\0\1xxxxxxxx"), 0, NET_PROTO_http2, 16393},
	{"RESP", S("*1\r\n$4\r\nPING\r\n"), 0, NET_PROTO_redis, 0},
	{"RESP pipeline", S("*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n"), 0, NET_PROTO_redis, MORE},
	{"RESP value", S("$3\r\nabc\r\n"), 0, NET_PROTO_redis, 9},
	{"RESP values", S("$3\r\nabc\r\n$3\r\nabc\r\n"), 0, NET_PROTO_redis, 9},
	{"RESP none", S("$-1\r\n"), 0, NET_PROTO_redis, 5},
	{"RESP empty value", S("$0\r\n\r\n"), 0, NET_PROTO_redis, 6},
	{"RESP large value", S("$1048576\r\nabc"), 0, NET_PROTO_redis, 1048588},
	{"RESP error", S("-ERR no\r\n"), 0, NET_PROTO_redis, 0},
	{"RESP states", S("+OK\r\n+OK\r\n"), 0, NET_PROTO_redis, 5},
	{"like RESP", S("*** hello\r\n"), 0, NET_PROTO_UNKNOWN, 0},
	{"brpc", S("PRPC\0\0\0\4\0\0\0\4abcd"), 0, NET_PROTO_brpc, 16},
	{"MongoDB", S("\x1a\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0\5\0\0\0\0"), 0,
	 NET_PROTO_mongodb, 26},
	{"AMQP greeting", S("AMQP\0\0\x09\1"), 0, NET_PROTO_amqp, 8},
	{"AMQP heartbeat", S("\x08\0\0\0\0\0\0\xce"), 0, NET_PROTO_amqp, 8},
	{"AMQP acknowledgements",
	 S("\1\0\1\0\0\0\x0d\0\x3c\0\x50\0\0\0\0\0\0\0\7\0\xce\1\0\1\0\0\0\x0d"), 0, NET_PROTO_amqp,
	 21},
	{"AMQP publish", S(AMQP_PUBLISH AMQP_CONTENT), 0, NET_PROTO_amqp, 55},
	{"AMQP content goes on", S(AMQP_CONTENT), 0, NET_PROTO_amqp, 32},
	{"AMQP publish, header apart", S(AMQP_PUBLISH), 0, NET_PROTO_amqp, 23},
	{"AMQP 1.0", S("AMQP\0\1\0\0"), 0, NET_PROTO_UNKNOWN, 0},
	{"Dubbo", S("\xda\xbb\xe2\0\0\0\0\0\0\0\0\1\0\0\0\1N"), 0, NET_PROTO_dubbo, 17},
	{"MQTT CONNECT", S("\x10\x0d\0\4MQTT\4\2\0\x3c\0\1c"), 0, NET_PROTO_mqtt, 15},
	{"MQTT CONNECT of another name", S("\x10\x0d\0\4MXTT\4\2\0\x3c\0\1c"), 0, NET_PROTO_UNKNOWN,
	 0},
	{"Cassandra OPTIONS", S("\4\0\0\1\5\0\0\0\0"), 0, NET_PROTO_cassandra, 9},
	{"Cassandra READY, an event", S("\x83\0\0\1\2\0\0\0\0\x83\0\xff\xff\x0c\0\0\0\2\0\0"), 0,
	 NET_PROTO_cassandra, 9},
	{"Cassandra segment", S(SEGMENT_OPTIONS), 0, NET_PROTO_cassandra, 19},
	{"Cassandra segment, damaged", S("\x09\0\2\x73\x56\xec\5\0\0\1\5\0\0\0\0\0\0\0\0"), 0,
	 NET_PROTO_UNKNOWN, 0},
	{"Thrift framed", S("\0\0\0\x0e\x80\1\0\1\0\0\0\1a\0\0\0\1\0"), 0, NET_PROTO_thrift, 18},
	{"Thrift compact", S("\x82\x21\1\1a\0\0\0"), 0, NET_PROTO_thrift, 0},
	{"Kafka", S("\0\0\0\x0c\0\x12\0\0\0\0\0\1\0\2me"), 0, NET_PROTO_kafka, 16},
	{"Kafka requests",
	 S("\0\0\0\x0c\0\x12\0\0\0\0\0\1\0\2me\0\0\0\x0c\0\x12\0\0\0\0\0\2\0\2me"), 0,
	 NET_PROTO_kafka, 16},
	{"Kafka behind its length", S("\0\3\0\x0c\0\0\0\1\0\7rdkafka\0\1\0"), 0, NET_PROTO_kafka,
	 0},
	{"MySQL query", S("\x09\0\0\0\3SELECT 1"), 0, NET_PROTO_mysql, 0},
	{"MySQL OK", S("\7\0\0\1\0\0\0\2\0\0\0"), 0, NET_PROTO_mysql, 0},
	{"PostgreSQL query", S("Q\0\0\0\x0dSELECT 1\0"), 0, NET_PROTO_postgresql, 0},
	{"PostgreSQL start", S("\0\0\0\x0e\0\3\0\0user\0\0"), 0, NET_PROTO_postgresql, 0},
	{"DNS", S(NAME_QUERY), 1, NET_PROTO_dns, 0},
	{"DNS UPDATE", S("\x12\x34\x28\0\0\1\0\0\0\1\0\0\1z\0\0\6\0\1"), 1, NET_PROTO_dns, 0},
	{"DNS of no known kind", S("\x12\x34\x38\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1"), 1,
	 NET_PROTO_UNKNOWN, 0},
	{"DNS over TCP", S("\0\x13" NAME_QUERY), 0, NET_PROTO_dns, 21},
	{"TLS", S("\x16\3\1\2\0\1\0\1\xfc\3\3"), 0, NET_PROTO_UNKNOWN, 0},
	{"SSH", S("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), 0, NET_PROTO_UNKNOWN, 0},
	{"SMTP", S("220 mail.example ESMTP\r\n"), 0, NET_PROTO_UNKNOWN, 0},
	{"nothing", S(""), 0, NET_PROTO_UNKNOWN, 0},
};

static void test_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned size, got = guess(rows[i].bytes, rows[i].len, rows[i].dgram, &size);

		CHECK(got == rows[i].protocol, "%s: %s", rows[i].cause, names[got]);
		if (rows[i].size == MORE)
			CHECK(size && size < rows[i].len, "%s: %u", rows[i].cause, size);
		else
			CHECK(size == rows[i].size, "%s: %u", rows[i].cause, size);
	}
}

/* A cut of any length, and any byte another: nothing is read out of bounds (ASan tells). */
static void test_damaged(void)
{
	unsigned size;

	srand(1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t n = 0; n < 400 && rows[i].len; n++) {
			char bytes[128];
			size_t len = 1 + rand() % rows[i].len;

			memcpy(bytes, rows[i].bytes, len);
			bytes[rand() % len] = rand();
			CHECK(guess(bytes, len, n & 1, &size) < NET_PROTO_CNT);
		}
}

/* "\r\n", "\x41", ... as tests/unit/analyze_l7.c reads them; the length. */
static size_t unescape(char *s)
{
	static const char from[] = "rnt0\\\"", to[] = "\r\n\t\0\\\"";
	char *out = s, *start = s;

	for (; *s && *s != '\n'; s++) {
		const char *f;

		if (*s != '\\') {
			*out++ = *s;
		} else if (*++s == 'x') {
			char hex[3] = {s[1], s[2], 0};

			*out++ = strtoul(hex, NULL, 16);
			s += 2;
		} else if ((f = strchr(from, *s))) {
			*out++ = to[f - from];
		}
	}
	return out - start;
}

/* tests/l7/PROTOCOL/CASE.in, or tests/l7/foreign/PROTOCOL-CASE.in. */
static bool is_of(const char *path, const char *protocol)
{
	const char *name = strrchr(path, '/') + 1;
	size_t len = strlen(protocol);

	if (strstr(path, "/foreign/"))
		return !strncmp(name, protocol, len) && name[len] == '-';
	return !strncmp(path + strlen("tests/l7/"), protocol, len) &&
	       path[strlen("tests/l7/") + len] == '/';
}

/* What looks like another protocol: POP3's +OK, a server that answers in another one, noise of
 * small numbers. */
static bool is_alike(const char *path)
{
	return strstr(path, "/pop3.") || strstr(path, "/preface-refused.") ||
	       strstr(path, "/small-");
}

static void test_file(const char *path, unsigned known[])
{
	static char line[1 << 20];
	char also[32] = "-"; /* or what its name begins with: a connection may be upgraded */
	bool dgram = false;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		char *text = strchr(line, ' ');
		unsigned size, got;

		dgram |= !strncmp(line, "datagram", 8);
		if (!strncmp(line, "also ", 5))
			snprintf(also, sizeof(also), "%.*s", (int)strcspn(line + 5, "\n"),
				 line + 5);
		if ((*line != '<' && *line != '>') || line[1] == '!' || !text)
			continue;
		got = guess(text + 1, unescape(text + 1), dgram, &size);
		if (!got)
			continue;
		known[got]++;
		CHECK(is_of(path, names[got]) || !strncmp(names[got], also, strlen(also)),
		      "%s: a call taken for %s", path, names[got]);
	}
	if (f)
		fclose(f);
}

static void test_conversations(void)
{
	unsigned known[NET_PROTO_CNT] = {0};
	glob_t g;

	if (glob("tests/l7/*/*.in", 0, NULL, &g)) {
		CHECK(0, "no conversations in tests/l7");
		return;
	}
	for (size_t i = 0; i < g.gl_pathc; i++)
		if (!is_alike(g.gl_pathv[i]))
			test_file(g.gl_pathv[i], known);
	globfree(&g);
	for (unsigned i = 1; i < NET_PROTO_CNT; i++)
		CHECK(known[i] || !(guess_known() >> i & 1), "%s: no call was known", names[i]);
}

/* One message of `len` bytes, filled up between its halves, and the next one; up to `most` bytes
 * the first one's end is found, wherever it lies. */
static void test_search(const char *cause, const char *first, const char *second, size_t most)
{
	char call[GUESS_BYTES * 2];
	size_t head = strlen(first), tail = strlen(second);

	for (size_t len = head + tail + 8; len <= most; len++) {
		unsigned size;

		memset(call, 'x', sizeof(call));
		memcpy(call, first, head);
		memcpy(call + len - tail, second, tail);
		memcpy(call + len, first, head);
		guess(call, len + head + 16, false, &size);
		CHECK(size == len, "%s of %zu bytes: %u", cause, len, size);
	}
}

int main(void)
{
	test_rows();
	test_search("request", "GET /", " HTTP/1.1\r\n\r\n", GUESS_BYTES - 4);
	test_search("array", "*1\r\n$9\r\n", "\r\n", GUESS_BYTES - 4);
	test_search("PUB", "PUB a 9\r\n", "\r\n", GUESS_BYTES / 2 - 1);
	test_damaged();
	test_conversations();
	return failed;
}
