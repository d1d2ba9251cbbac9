/* SPDX-License-Identifier: BSD-2-Clause */
/* What is masked, by protocol. */
#include "redact_case.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define LOGIN(n)                                                                                   \
	n "\0\0\x01\x85\xa6\xff\x01\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0me" \
	  "\0"
#define STARTUP "\0\0\0\x11\0\3\0\0user\0me\0\0"
#define GREETING                                                                                   \
	"\x1e\0\0\0\x0a"                                                                           \
	"8.0.1\0salt+salt+salt+salt+salt"

#define AMQP_GREETING "AMQP\0\0\x09\1"
#define AMQP_START_OK(secret)                                                                      \
	"\1\0\0\0\0\0\x2a\0\x0a\0\x0b\0\0\0\5\1at\1\1\5PLAIN\0\0\0\x0d" secret "\5en_US\xce"
#define AMQP_BEAT "\x08\0\0\0\0\0\0\xce"
#define AMQP_TUNE_OK "\1\0\0\0\0\0\x0c\0\x0a\0\x1f\7\xff\0\2\0\0\0\0\xce"
/* memcached's requests: opcode, size of the key, size of the body */
#define MEMCACHED(opcode, key, body)                                                               \
	"\x80" opcode "\0" key "\0\0\0\0\0\0\0" body "\0\0\0\0\0\0\0\0\0\0\0\0"
/* Kafka's requests: length, key, version, correlation id, client "me" */
#define KAFKA(size, key, version) "\0\0\0" size "\0" key "\0" version "\0\0\0\1\0\2me"

/* MongoDB: a message of 16 + n bytes; a command's document follows its 9 bytes. */
#define MONGO(n) n "\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0"
#define SASL "\x31\0\0\0\x10saslStart\0\1\0\0\0\5payload\0\x08\0\0\0\0"
#define FIND "\x16\0\0\0\5payload\0\3\0\0\0\0abc\0"

static const struct row rows[] = {
	/* ---- MongoDB ---- */
	{"mongodb login",
	 false,
	 true,
	 {C(MONGO("\x46") SASL "\0ann\0pwd\x10x\0\1\0\0\0\0" MONGO("\x2b") FIND,
	    MONGO("\x46") SASL "********\x10x\0\1\0\0\0\0" MONGO("\x2b") FIND)}},
	{"mongodb user",
	 false,
	 true,
	 {C(MONGO("\x3c") "\x27\0\0\0\2createUser\0\2\0\0\0b\0\2pwd\0\7\0\0\0secret\0\0",
	    MONGO("\x3c") "\x27\0\0\0\2createUser\0\2\0\0\0b\0\2pwd\0\7\0\0\0******\0\0")}},
	{"mongodb payload of others, and headers of lines",
	 false,
	 true,
	 {SAME(MONGO("\x2b") FIND MONGO("\x2c") "\x17\0\0\0\2a\0\x0b\0\0\0\ncookie: x\0\0")}},
	{"mongodb payload whose middle was lost, and the message behind it",
	 false,
	 false,
	 {KEPT(MONGO("\x46") SASL "\0ann", 56, MONGO("\x46") SASL "****"),
	  C("\0pwd\x10x\0\1\0\0\0\0", "************"), SAME(MONGO("\x2b") FIND)}},
	{"mongodb size that cannot be",
	 false,
	 false,
	 {SAME(MONGO("\x2b") FIND),
	  C("\xff\xff\xff\xff\0\0\0\0\0\0\0\0\xdd\7\0\0\5payload\0\3\0\0\0\0abc\0",
	    "\xff\xff\xff\xff\0\0\0\0\0\0\0\0\xdd\7\0\0\5payload\0\3\0\0\0\0***\0"),
	  SAME(MONGO("\x2b") FIND)}},
	{"mongodb login behind bytes that were lost",
	 false,
	 false,
	 {SAME(MONGO("\x2b") FIND), KEPT(MONGO("\x2b") FIND, 12, NULL),
	  C("\5payload\0\3\0\0\0\0abc\0", "\5payload\0\3\0\0\0\0***\0")}},
	/* ---- HTTP/1 ---- */
	{"http request",
	 false,
	 true,
	 {C("GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s3cret\r\nX: y\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost: a\r\nAuthorization:**************\r\nX: y\r\n\r\n")}},
	{"http response, any case",
	 false,
	 true,
	 {C("HTTP/1.1 200 OK\r\nset-COOKIE: a=b\r\n\r\nbody",
	    "HTTP/1.1 200 OK\r\nset-COOKIE:****\r\n\r\nbody")}},
	{"pipelined requests",
	 false,
	 true,
	 {C("GET /1 HTTP/1.1\r\nCookie: a\r\n\r\nGET /2 HTTP/1.1\r\nPROXY-AUTHORIZATION: b\r\n\r\n",
	    "GET /1 HTTP/1.1\r\nCookie:**\r\n\r\nGET /2 "
	    "HTTP/1.1\r\nPROXY-AUTHORIZATION:**\r\n\r\n")}},
	{"trailer of a chunked body",
	 false,
	 true,
	 {C("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nSet-Cookie: "
	    "k\r\n\r\n",
	    "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
	    "chunked\r\n\r\n3\r\nabc\r\n0\r\nSet-Cookie:**\r\n\r\n")}},
	{"folded value, bare newlines",
	 false,
	 true,
	 {C("GET / HTTP/1.1\nAuthorization: Basic\n  c2VjcmV0\nHost: h\n\n",
	    "GET / HTTP/1.1\nAuthorization:******\n *********\nHost: h\n\n")}},
	{"names that only resemble",
	 false,
	 true,
	 {SAME("GET / HTTP/1.1\r\nCookies: a\r\nAuthor: b\r\nX-Tokens: c\r\n\r\n")}},
	{"value behind bytes that were not kept",
	 false,
	 false,
	 {KEPT("GET / HTTP/1.1\r\nCookie: abcdefghijkl", 24, "GET / HTTP/1.1\r\nCookie:*"),
	  C("rest-of-the-secret\r\nHost: h\r\n\r\n", "******************\r\nHost: h\r\n\r\n")}},
	{"the next request after such bytes",
	 false,
	 false,
	 {KEPT("GET / HTTP/1.1\r\nX: abcdefghijkl", 21, NULL), SAME("GET /2 HTTP/1.1\r\n\r\n")}},
	{"joined late, inside of a head",
	 false,
	 true,
	 {C("x: y\r\nCookie: abc\r\n\r\n", "x: y\r\nCookie:****\r\n\r\n")}},
	{"binary data that looks like a header",
	 false,
	 true,
	 {C("\0\0\0\ncookie:a\0\0\1tail\n", "\0\0\0\ncookie:*\0\0\1tail\n")}},
	/* ---- Redis ---- */
	{"redis auth in a pipeline",
	 false,
	 true,
	 {C("*1\r\n$4\r\nPING\r\n*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$3\r\npwd\r\n*1\r\n$4\r\nPING\r\n",
	    "*1\r\n$4\r\nPING\r\n*3\r\n$4\r\nAUTH\r\n$1\r\n*\r\n$3\r\n***\r\n*1\r\n$"
	    "4\r\nPING\r\n")}},
	{"redis hello",
	 false,
	 true,
	 {C("*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nauth\r\n$1\r\nu\r\n$3\r\npwd\r\n",
	    "*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nauth\r\n$1\r\n*\r\n$3\r\n***\r\n")}},
	{"redis password like a command",
	 false,
	 true,
	 {C("*2\r\n$4\r\nAUTH\r\n$17\r\n$4\r\nPING\r\n$3\r\nabc\r\n*1\r\n$4\r\nQUIT\r\n",
	    "*2\r\n$4\r\nAUTH\r\n$17\r\n*****************\r\n*1\r\n$4\r\nQUIT\r\n")}},
	{"redis config, acl, migrate",
	 false,
	 true,
	 {C("*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$2\r\nab\r\n"
	    "*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$1\r\nu\r\n$3\r\n>pw\r\n*2\r\n$5\r\nAUTH2\r\n$"
	    "1\r\nu\r\n$1\r\np\r\n",
	    "*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$2\r\n**\r\n"
	    "*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$1\r\n*\r\n$3\r\n***\r\n*2\r\n$5\r\nAUTH2\r\n$"
	    "1\r\n*\r\n$1\r\n*\r\n")}},
	{"redis get stays", false, true, {SAME("*2\r\n$3\r\nGET\r\n$4\r\nauto\r\n$4\r\nmore\r\n")}},
	{"redis inline",
	 false,
	 true,
	 {C("PING\r\nauth  hunter2\r\nHELLO 3 AUTH u p\r\nGET authx\r\n",
	    "PING\r\nauth ********\r\nHELLO 3 AUTH ***\r\nGET authx\r\n")}},
	/* ---- AMQP ---- */
	{"amqp login",
	 false,
	 true,
	 {C(AMQP_GREETING AMQP_START_OK("\0guest\0s3cret") AMQP_TUNE_OK "\3\0\1\0\0\0\2hi\xce",
	    AMQP_GREETING AMQP_START_OK("*************") AMQP_TUNE_OK "\3\0\1\0\0\0\2hi\xce"),
	  RSAME("\3\0\1\0\0\0\x0d\nCookie: abc\n\xce")}},
	{"amqp secure-ok, a new secret",
	 false,
	 true,
	 {C(AMQP_GREETING "\1\0\0\0\0\0\x0b\0\x0a\0\x15\0\0\0\3abc\xce" AMQP_TUNE_OK
			  "\1\0\0\0\0\0\x0d\0\x0a\0\x46\0\0\0\3abc\1r\xce",
	    AMQP_GREETING "\1\0\0\0\0\0\x0b\0\x0a\0\x15\0\0\0\3***\xce" AMQP_TUNE_OK
			  "\1\0\0\0\0\0\x0d\0\x0a\0\x46\0\0\0\3***\1r\xce")}},
	{"amqp frames without a body around the login",
	 false,
	 true,
	 {C(AMQP_GREETING AMQP_BEAT AMQP_BEAT AMQP_START_OK("\0guest\0s3cret") AMQP_BEAT,
	    AMQP_GREETING AMQP_BEAT AMQP_BEAT AMQP_START_OK("*************") AMQP_BEAT),
	  SAME(AMQP_BEAT AMQP_TUNE_OK)}},
	{"amqp login that ends with a call's end, each head in a call of its own",
	 false,
	 true,
	 {SAME(AMQP_GREETING), SAME("\1\0\0\0\0\0\x0b"),
	  C("\0\x0a\0\x15\0\0\0\3abc", "\0\x0a\0\x15\0\0\0\3***"), SAME("\xce"),
	  SAME("\1\0\0\0\0\0\x0c"), SAME("\0\x0a\0\x1f\7\xff\0\2\0\0\0\0\xce")}},
	{"amqp size that cannot be, before the login's end",
	 false,
	 false,
	 {SAME(AMQP_GREETING),
	  C("\1\0\0\xff\xff\xff\xff\0\x0a\0\x15\0\0\0\3abc", "\1\0\0\xff\xff\xff\xff***********"),
	  C("more", "****"), SAME(AMQP_TUNE_OK), SAME("more")}},
	{"amqp joined at the login",
	 false,
	 false,
	 {C(AMQP_START_OK("\0guest\0s3cret"), AMQP_START_OK("*************")), SAME(AMQP_TUNE_OK)}},
	{"amqp login whose beginning was not kept",
	 false,
	 false,
	 {SAME(AMQP_GREETING),
	  KEPT(AMQP_START_OK("\0guest\0s3cret"), 32, AMQP_START_OK("***\0s3cret\0gu")),
	  SAME(AMQP_TUNE_OK)}},
	{"amqp login after lost bytes",
	 false,
	 false,
	 {SAME(AMQP_GREETING), KEPT("\1\0\0\0\0\0\x2a\0\x0a", 2, NULL),
	  C("\0guest\0s3cret\5en_US\xce", "********************"), SAME(AMQP_TUNE_OK)}},
	/* ---- NATS, memcached ---- */
	{"nats connect",
	 false,
	 true,
	 {C("CONNECT {\"verbose\":true,\"pass\":\"s\\\"3\",\"user\":\"me\"}\r\nPING\r\n",
	    "CONNECT {\"verbose\":true,\"pass\":\"****\",\"user\":\"me\"}\r\nPING\r\n")}},
	{"nats token, jwt, signature, names in any case or escaped",
	 false,
	 true,
	 {C("connect\t{ \"auth_token\" : 12, "
	    "\"JWT\":\"e.y\",\"sig\":\"a:b,c\",\"nkey\":\"UA\",\"\\u0070ass\":\"x\"}\n",
	    "connect\t{ \"auth_token\" : **, "
	    "\"JWT\":\"***\",\"sig\":\"*****\",\"nkey\":\"UA\",\"\\u0070ass\":\"*\"}\n")}},
	{"nats connect whose middle was lost",
	 false,
	 false,
	 {KEPT("CONNECT {\"verbose\":true,\"pass\":\"s3cret", 20, NULL),
	  C("more\"}\r\nPING\r\n", "******\r\nPING\r\n")}},
	{"memcached sasl, then a set that is none",
	 false,
	 true,
	 {SAME("\x80\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
	  C(MEMCACHED("\x21", "\5", "\x09") "PLAIN\0u\0p" MEMCACHED("\x22", "\0", "\2") "pw",
	    MEMCACHED("\x21", "\5", "\x09") "PLAIN****" MEMCACHED("\x22", "\0", "\2") "**"),
	  SAME(MEMCACHED("\1", "\1", "\3") "kab"), RSAME("set a 0 0 1\r\nb\r\n")}},
	{"memcached sasl, joined late",
	 false,
	 false,
	 {KEPT("nobody knows", 3, NULL), C(MEMCACHED("\x21", "\5", "\x09") "PLAIN\0u\0p",
					   MEMCACHED("\x21", "\5", "\x09") "PLAIN****")}},
	{"memcached login by text",
	 false,
	 true,
	 {C("set log 0 0 7\r\nme s3cr\r\nget a\r\n", "set log 0 0 7\r\n*******\r\nget a\r\n"),
	  RSAME("STORED\r\nEND\r\n"), SAME("set log 0 0 7\r\nme s3cr\r\n")}},
	{"memcached text that is no login", false, true, {SAME("set a 0 0 513\r\nab cd\r\n")}},
	{"memcached value without a space", false, false, {SAME("set a 0 0 5\r\nab:cd\r\n")}},
	{"memcached text, neither", false, true, {SAME("settings a 0 0 5\r\nab cd\r\n")}},
	/* ---- MQTT ---- */
	{"mqtt login",
	 false,
	 true,
	 {C("\x10\x1e\0\4MQTT\4\xc6\0\x3c\0\1c\0\1w\0\1x\0\2me\0\5s3cre",
	    "\x10\x1e\0\4MQTT\4\xc6\0\x3c\0\1c\0\1w\0\1x\0\2me\0\5*****"),
	  RSAME("\x20\2\0\0"), SAME("\x30\x0c\0\1t\0\2me\0\3pwd"), SAME("\xc0\0\xe0\0")}},
	{"mqtt login, version 5, byte-wise head and cut password",
	 false,
	 true,
	 {SAME("\x10"), SAME("\x19"), SAME("\0\4MQTT\5\xc0\0\x3c\0\0"), SAME("\0\0\2me\0"),
	  C("\6s3", "\6**"), C("cret\x30\3\0\1t", "****\x30\3\0\1t")}},
	{"mqtt authentication data, user property",
	 false,
	 true,
	 {C("\x10\x20\0\4MQTT\5\2\0\x3c\x13\x15\0\1p\x26\0\1a\0\1b\x16\0\5\0m\0pw\0\0",
	    "\x10\x20\0\4MQTT\5\2\0\x3c\x13\x15\0\1p\x26\0\1a\0\1b\x16\0\5*****\0\0"),
	  RSAME("\xf0\6\x18\4\x15\0\1p"),
	  C("\xf0\x0b\x18\x09\x15\0\1p\x16\0\2ab\xc0\0",
	    "\xf0\x0b\x18\x09\x15\0\1p\x16\0\2**\xc0\0")}},
	{"mqtt joined at AUTH",
	 false,
	 false,
	 {SAME("\xc0\0"),
	  C("\xf0\x0b\x18\x09\x15\0\1p\x16\0\2ab", "\xf0\x0b\x18\x09\x15\0\1p\x16\0\2**")}},
	{"mqtt size without an end, then a login",
	 false,
	 false,
	 {SAME("\x10\0"), SAME("\x10\x80\x80\x80\x80\1\0\4MQTT\4"),
	  C("\x10\x12\0\4MQTT\4\xc0\0\x3c\0\0\0\0\0\2pw",
	    "\x10\x12\0\4MQTT\4\xc0\0\x3c\0\0\0\0\0\2**")}},
	{"not mqtt", false, true, {SAME("\x10\x10\0\4MQTX\4\xc0\0\x3c\0\0\0\0\0\0")}},
	/* ---- Cassandra ---- */
	{"cassandra login, version 4",
	 false,
	 true,
	 {SAME("\x04\x00\x00\x01\x05\x00\x00\x00\x00"),
	  SAME("\x04\x00\x00\x01\x01\x00\x00\x00\x16\x00\x01\x00\x0b\x43QL_VERSION\x00\x05\x33.4."
	       "5"),
	  C("\x04\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a\x00me\x00s3cret",
	    "\x04\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a**********"),
	  SAME("\x04\x00\x00\x01\x07\x00\x00\x00\x11\x00\x00\x00\x0aSELECT 'a'\x00\x01\x00")}},
	{"cassandra login, version 5",
	 false,
	 true,
	 {SAME("\x05\x00\x00\x01\x01\x00\x00\x00\x16\x00\x01\x00\x0b\x43QL_VERSION\x00\x05\x33.4."
	       "5"),
	  C(" \x00\x02\x39\x02\xe5\x05\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a\x00me\x00s3c"
	    "ret\x05\x00\x00\x01\x05\x00\x00\x00\x00\x0e\xf4\x44\x98",
	    " \x00\x02\x39\x02\xe5\x05\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a**********"
	    "\x05\x00\x00\x01\x05\x00\x00\x00\x00\x0e\xf4\x44\x98"),
	  SAME("\x09\x00\x02\xa4\xc8\xc1\x05\x00\x00\x01\x05\x00\x00\x00\x00\xb5Ut\x86")}},
	{"cassandra login, version 5, compressed, and one that did not pay",
	 false,
	 false,
	 {SAME("\x05\x00\x00\x01\x01\x00\x00\x00\x16\x00\x01\x00\x0b\x43QL_VERSION\x00\x05\x33.4."
	       "5"),
	  SAME("\x19\x00\x2e\x00\x04\x94\x26"), SAME("\x1b\xf0\x08\x05\x00\x00\x01\x0f\x00"),
	  C("\x00\x00\x0e\x00\x00\x00\x0a\x00\x6d\x65\x00\x73\x33\x63\x72\x65\x74\x63\x72\x63\x34",
	    "\x00\x00\x0e**************\x63\x72\x63\x34"),
	  C("\x1c\x00\x34\x00\x04\x01\xaf\xbd\xf0\x0b\x05\x00\x00\x01\x07\x00\x00\x00\x11\x00"
	    "\x00\x00\x0a\x53\x45\x4c\x45\x43\x54\x20\x27\x61\x27\x00\x01\x00\x63\x72\x63\x34",
	    "\x1c\x00\x34\x00\x04\x01\xaf\xbd\xf0\x0b\x05\x00\x00\x01\x07\x00\x00\x00\x11"
	    "*****************crc4"),
	  C("\x17\x00\x00\x00\x04\x1d\x17\xae\x05\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a"
	    "\x00\x6d\x65\x00\x73\x33\x63\x72\x65\x74\x63\x72\x63\x34",
	    "\x17\x00\x00\x00\x04\x1d\x17\xae\x05\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a"
	    "\x2a\x2a\x2a\x2a\x2a\x2a\x2a\x2a\x2a\x2a\x63\x72\x63\x34")}},
	{"cassandra statement and what is bound",
	 true,
	 false,
	 {SAME("\x04\x00\x00\x01\x01\x00\x00\x00\x16\x00\x01\x00\x0b\x43QL_VERSION\x00\x05\x33.4."
	       "5"),
	  C("\x04\x00\x00\x01\x07\x00\x00\x00;\x00\x00\x00+SELECT a FROM t1 WHERE b = 'x y' AND c "
	    "= 12\x00\x01\x01\x00\x01\x00\x00\x00\x03\x61\x62\x63",
	    "\x04\x00\x00\x01\x07\x00\x00\x00;\x00\x00\x00+SELECT a FROM t1 WHERE b = '***' AND c "
	    "= \x3f\x3f\x00\x01**********"),
	  C("\x04\x00\x00\x01\x09\x00\x00\x00/\x00\x00\x00+SELECT a FROM t1 WHERE b = 'x y' AND c "
	    "= "
	    "12\x04\x00\x00\x01\x0a\x00\x00\x00\x12\x00\x04idid\x00\x01\x01\x00\x01\x00\x00\x00\x03"
	    "\x61\x62\x63",
	    "\x04\x00\x00\x01\x09\x00\x00\x00/\x00\x00\x00+SELECT a FROM t1 WHERE b = '***' AND c "
	    "= \x3f\x3f\x04\x00\x00\x01\x0a\x00\x00\x00\x12\x00\x04idid\x00\x01**********"),
	  C("\x04\x00\x00\x01\x0d\x00\x00\x00\x37\x00\x00\x01\x00\x00\x00\x00+SELECT a FROM t1 "
	    "WHERE b = 'x y' AND c = 12\x00\x00\x00\x01",
	    "\x04\x00\x00\x01\x0d\x00\x00\x00\x37\x00\x00\x01\x00\x00\x00\x00+SELECT a FROM t1 "
	    "WHERE b = '***' AND c = \x3f\x3f****"),
	  C("\x04\x00\x00\x01\x0d\x00\x00\x00\x0e\x00\x00\x01\x01\x00\x04idid\x00\x00\x00\x01",
	    "\x04\x00\x00\x01\x0d\x00\x00\x00\x0e\x00\x00\x01\x01\x00\x04idid****")}},
	{"cassandra joined at the login",
	 false,
	 false,
	 {C("\x03\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a\x00me\x00s3cret",
	    "\x03\x00\x00\x01\x0f\x00\x00\x00\x0e\x00\x00\x00\x0a**********"),
	  SAME("\x03\x00\x00\x01\x05\x00\x00\x00\x00")}},
	/* ---- PostgreSQL ---- */
	{"postgresql password",
	 false,
	 true,
	 {C(STARTUP "p\0\0\0\x0bsecret\0Q\0\0\0\x0dselect 1\0",
	    STARTUP "p\0\0\0\x0b*******Q\0\0\0\x0dselect 1\0")}},
	{"postgresql scram",
	 false,
	 true,
	 {C(STARTUP "p\0\0\0\x1fSCRAM-SHA-256\0\0\0\0\x09n,,r=nonc"
		    "p\0\0\0\x0c"
		    "c=biws,p",
	    STARTUP "p\0\0\0\x1f***************************"
		    "p\0\0\0\x0c"
		    "********")}},
	{"postgresql password after encryption was refused",
	 false,
	 true,
	 {SAME("\0\0\0\x08\4\xd2\x16/"), RSAME("N"),
	  C(STARTUP "p\0\0\0\x0bsecret\0", STARTUP "p\0\0\0\x0b*******")}},
	{"postgresql password, joined late",
	 false,
	 false,
	 {C("p\0\0\0\x0asecret", "p\0\0\0\x0a******")}},
	{"postgresql literals",
	 true,
	 true,
	 {C(STARTUP "Q\0\0\0\x5c"
		    "select $1,t1.\"Co1\",'it''s' from t1 where a=E'x\\'y' and b=12-- 'c\nor "
		    "d=$x$in'$y$x$ /*'*/\0",
	    STARTUP "Q\0\0\0\x5c"
		    "select $1,t1.\"Co1\",'**''*' from t1 where a=E'****' and b=?\x3f-- 'c\nor "
		    "d=$x$***$*$x$ /*'*/\0")}},
	{"postgresql quotation whose tag is too long to be kept",
	 true,
	 true,
	 {C(STARTUP "Q\0\0\0\x34select $abcdefghijklmnopq$s3$abcdefghijklmnopq$\0",
	    STARTUP "Q\0\0\0\x34select $abcdefghijklmnop***********************\0")}},
	{"postgresql bound values",
	 true,
	 true,
	 {C(STARTUP "P\0\0\0\x17s1\0select $1,'k'\0\0"
		    "\0B\0\0\0\x1fp1\0s1\0\0\1\0\1\0\2\0\0\0\3abc\xff\xff\xff\xff\0\1\0\1S\0\0\0\4",
	    STARTUP
	    "P\0\0\0\x17s1\0select $1,'*'\0\0"
	    "\0B\0\0\0\x1fp1\0s1\0\0\1\0\1\0\2\0\0\0\3***\xff\xff\xff\xff\0\1\0\1S\0\0\0\4")}},
	{"postgresql literals, joined late",
	 true,
	 false,
	 {C("Q\0\0\0\x14select 12,'abc'\0", "Q\0\0\0\x14select ??,'***'\0")}},
	{"literals stay without sql",
	 false,
	 true,
	 {SAME(STARTUP "Q\0\0\0\x2cselect * from t1 where a='x y' and b=1200\0")}},
	/* ---- MySQL ---- */
	{"mysql login, challenge, change of user",
	 false,
	 true,
	 {RSAME(GREETING), C(LOGIN("\x29") "\x06secre"
					   "\x06\0\0\x03secret\x09\0\0\0\x03select 1\x08\0\0\0\x11"
					   "u2\0\x03pwd\x03\0\0\x02pwd\x01\0\0\0\x0e",
			     LOGIN("\x29") "******"
					   "\x06\0\0\x03******\x09\0\0\0\x03select 1\x08\0\0\0\x11"
					   "u2\0****\x03\0\0\x02***\x01\0\0\0\x0e")}},
	{"mysql login, greeting not seen",
	 false,
	 true,
	 {C(LOGIN("\x29") "\x06secre"
			  "\x09\0\0\0\x03select 1",
	    LOGIN("\x29") "******"
			  "\x09\0\0\0\x03select 1")}},
	{"mysql replica that names itself",
	 false,
	 true,
	 {RSAME(GREETING), C(LOGIN("\x29") "\x06secre\x0c\0\0\0\x15\1\2\3\4\0\2me\2pw\1\0\0\0\x0e",
			     LOGIN("\x29") "******\x0c\0\0\0\x15\1\2\3\4*******\1\0\0\0\x0e")}},
	{"mysql literals and parameters",
	 true,
	 true,
	 {RSAME(GREETING),
	  C(LOGIN("\x29") "\x06secre"
			  "\x27\0\0\0\x03select \"a\\\\b\",`t1`,'c''d',0x1f # "
			  "'x\n,3\x0e\0\0\0\x17\1\0\0\0\0\1\0\0\0wxyz\x0a\0\0\0\x18\1\0\0\0\0\0abc",
	    LOGIN("\x29") "******"
			  "\x27\0\0\0\x03select \"****\",`t1`,'*''*',???? # "
			  "'x\n,?\x0e\0\0\0\x17\1\0\0\0\0\1\0\0\0****\x0a\0\0\0\x18\1\0\0\0\0\0**"
			  "*")}},
	{"mysql literals, joined late",
	 true,
	 false,
	 {C("\x0b\0\0\0\x03select 'a'", "\x0b\0\0\0\x03select '*'")}},
	/* ---- HTTP/2 ----
	   :method GET, then authorization (static 23, not indexed): "s3cret" plain, then cookie
	   Huffman "no-cache" */
	{"http/2 header block",
	 false,
	 true,
	 {C(PREFACE "\0\0\0\4\0\0\0\0\0\0\0\x12\x01\x05\0\0\0\x01\x82\x1f\x08\x06s3cret\x60\x86\xa8"
		    "\xeb\x10\x64\x9c\xbf\0\0\2\0\1\0\0\0\1ok",
	    PREFACE "\0\0\0\4\0\0\0\0\0\0\0\x12\x01\x05\0\0\0\x01\x82\x1f\x08\x06******"
		    "\x60\x86\xf9\xf9\xf9\xf9\xf9\xf9\0\0\2\0\1\0\0\0\1ok")}},
	/* HEADERS with padding and priority, CONTINUATION in the middle of the literal's value;
	   then the same name by its dynamic index (62), then a name that is no secret and its
	   index. */
	{"http/2 continuation, padding, dynamic names",
	 false,
	 true,
	 {C(PREFACE "\0\0\x18\1\x28\0\0\0\1\2\0\0\0\0\x10\x40\x0cx-auth-token\x04k\0\0"
		    "\0\0\5\x09\0\0\0\0\1ey1\x40\1"
		    "\0\0\3\x09\4\0\0\0\1b\1c"
		    "\0\0\x0c\1\5\0\0\0\3\x0f\x2f\3abc\x0f\x30\3def",
	    PREFACE "\0\0\x18\1\x28\0\0\0\1\2\0\0\0\0\x10\x40\x0cx-auth-token\x04*\0\0"
		    "\0\0\5\x09\0\0\0\0\1***\x40\1"
		    "\0\0\3\x09\4\0\0\0\1b\1c"
		    "\0\0\x0c\1\5\0\0\0\3\x0f\x2f\3abc\x0f\x30\3***")}},
	{"http/2 server",
	 false,
	 true,
	 {RSAME(PREFACE), C("\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\1\x88\x77\3a=b",
			    "\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\1\x88\x77\3***")}},
	{"http/2 frames stay",
	 false,
	 true,
	 {SAME("\0\0\x06\x04\0\0\0\0\0\0\3\0\0\0\x64\0\0\4\x08\0\0\0\0\0\0\0\x10\0")}},
	{"http/2 after an upgrade",
	 false,
	 false,
	 {C("GET / HTTP/1.1\r\nCookie: a\r\nUpgrade: h2c\r\n\r\n",
	    "GET / HTTP/1.1\r\nCookie:**\r\nUpgrade: h2c\r\n\r\n"),
	  R("HTTP/1.1 101 S\r\nUpgrade: "
	    "h2c\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\1\x88\x77\3a=b",
	    "HTTP/1.1 101 S\r\nUpgrade: "
	    "h2c\r\n\r\n\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\1\x88\x77\3***"),
	  C(PREFACE "\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\3\x82\x60\3a=b",
	    PREFACE "\0\0\0\4\0\0\0\0\0\0\0\6\1\5\0\0\0\3\x82\x60\3***")}},
	{"http/2 joined late",
	 false,
	 false,
	 {C("\0\0\x0b\1\5\0\0\0\7\x82\x84\xbe\x7e\2ab\x60\2kl",
	    "\0\0\x0b\1\5\0\0\0\7\x82\x84\xbe\x7e\2**\x60\2**")}},
	{"http/2 joined late, behind the rest of a body",
	 false,
	 false,
	 {C("some body\0\0\x07\1\5\0\0\0\7\x82\x84\x86\x60\2kl",
	    "*********\0\0\x07\1\5\0\0\0\7\x82\x84\x86\x60\2**")}},
	{"http/2 joined late, a frame's header alone",
	 false,
	 false,
	 {SAME("\0\0\7\1\5\0\0\0\7"), C("\x82\x84\xbe\x60\2kl", "\x82\x84\xbe\x60\2**"),
	  SAME("\0\0\7\1\5\0\0\0\x09"), C("\x82\x84\xbe\x60\2kl", "\x82\x84\xbe\x60\2**")}},
	{"http/2 joined late, headers alone behind the rest of a block",
	 false,
	 false,
	 {SAME("\0\0\3\1\5\0\0\0\5\x88\xbe\xbf"), R("\x82\x60\2kl", "*****"),
	  R("\0\0\5\1\5\0\0\0\7", "*********"), R("\x82\x60\2kl", "\x82\x60\2**"),
	  RSAME("\0\0\5\1\5\0\0\0\x09"), R("\x82\x60\2kl", "\x82\x60\2**")}},
	{"http/2 joined late, a header alone and no block behind it",
	 false,
	 false,
	 {SAME("\0\0\3\1\5\0\0\0\5\x88\xbe\xbf"), R("\x82\x60\2kl", "*****"),
	  R("\0\0\5\1\5\0\0\0\7", "*********"), R("secret", "******"), R("abc", "***")}},
	{"http/2 body that was not kept",
	 false,
	 false,
	 {SAME(PREFACE "\0\0\0\4\0\0\0\0\0"),
	  KEPT("\0\0\x14\0\0\0\0\0\1abcdefghijklmnopqrst", 12, NULL),
	  C("\0\0\5\1\5\0\0\0\3\x82\x60\2kl", "\0\0\5\1\5\0\0\0\3\x82\x60\2**")}},
	{"http/2 block that was not kept",
	 false,
	 false,
	 {SAME(PREFACE "\0\0\0\4\0\0\0\0\0"),
	  KEPT("\0\0\x0b\1\1\0\0\0\1\x82\x40\1a\1b\x60\3abc", 13, NULL),
	  C("\0\0\6\x09\4\0\0\0\1\x40\2ab\1b\0\0\5\1\5\0\0\0\3\x82\x7e\2kl",
	    "\0\0\6\x09\4\0\0\0\1******\0\0\5\1\5\0\0\0\3\x82\x7e\2**")}},
	{"http/2 out of step",
	 false,
	 false,
	 {SAME(PREFACE "\0\0\0\4\0\0\0\0\0"),
	  KEPT("\0\0\1\0\0\0\0\0\1a\0\0\1\0\0\0\0\0\1b", 10, NULL), C("\x60\3abc", "*****"),
	  C("\0\0\5\1\5\0\0\0\3\x82\x60\2kl", "\0\0\5\1\5\0\0\0\3\x82\x60\2**")}},
	/* ---- Kafka ---- */
	{"kafka sasl",
	 false,
	 true,
	 {C(KAFKA("\x0c", "\x12", "\0") KAFKA("\x19", "\x24", "\1") "\0\0\0\x09\0user\0pwd",
	    KAFKA("\x0c", "\x12", "\0") KAFKA("\x19", "\x24", "\1") "\0\0\0\x09*********"),
	  RSAME("\0\0\0\x04\0\0\0\1"), SAME(KAFKA("\x0c", "\x0c", "\0"))}},
	{"kafka sasl, compact, by a client without a name",
	 false,
	 true,
	 {C("\0\0\0\x16\0\x24\0\2\0\0\0\1\xff\xff\0\x0a\0user\0pwd\0",
	    "\0\0\0\x16\0\x24\0\2\0\0\0\1\xff\xff\0\x0a**********")}},
	{"kafka tokens without a head",
	 false,
	 true,
	 {SAME(KAFKA("\x13", "\x11", "\0") "\0\5PLAIN"),
	  C("\0\0\0\x09\0user\0pwd", "\0\0\0\x09*********"), SAME(KAFKA("\x0c", "\x12", "\0"))}},
	{"kafka sizes that cannot be",
	 false,
	 false,
	 {SAME(KAFKA("\x0c", "\x12", "\0")), SAME("\xff\xff\xff\xff\0\x24\0\1"),
	  C(KAFKA("\x19", "\x24", "\1") "\0\0\0\x09\0user\0pwd",
	    KAFKA("\x19", "\x24", "\1") "\0\0\0\x09*********"),
	  SAME("\0\0\0\0\0\0\0\1")}},
	{"kafka delegation token",
	 false,
	 true,
	 {SAME(KAFKA("\x18", "\x26", "\1") "\0\0\0\0\0\0\0\0\0\0\0\1" KAFKA("\x0c", "\3", "\0")),
	  R("\0\0\0\x18\0\0\0\1\0\0\0secret-token-hmac\0\0\0\6\0\0\0\2ok",
	    "\0\0\0\x18\0\0\0\1\0\0\0*****************\0\0\0\6\0\0\0\2ok"),
	  SAME(KAFKA("\x0c", "\3", "\0")), RSAME("\0\0\0\6\0\0\0\3ok")}},
	{"kafka delegation token behind bytes that were not kept",
	 false,
	 false,
	 {SAME(KAFKA("\x0c", "\3", "\0")),
	  R("\0\0\0\6\0\0\0\7ok\0\0", "\0\0\0\6\0\0\0\7ok\0\0"),
	  SAME(KAFKA("\x10", "\x29", "\1") "\0\0\0\0"),
	  {1, "\0\6\0\0\0\x08ok", NULL, 8, 4},
	  R("\0\0\0\1\0\0\0secret", "\0\0\0\1\0\0\0******")}},
	{"kafka token without a byte, then one",
	 false,
	 true,
	 {SAME(KAFKA("\x13", "\x11", "\0") "\0\5PLAIN"),
	  C("\0\0\0\0\0\0\0\x09\0user\0pwd", "\0\0\0\0\0\0\0\x09*********")}},
	{"kafka behind bytes that were not kept",
	 false,
	 false,
	 {KEPT(KAFKA("\x20", "\0", "\7") "01234567890123456789", 20, NULL),
	  C(KAFKA("\x19", "\x24", "\1") "\0\0\0\x09\0user\0pwd",
	    KAFKA("\x19", "\x24", "\1") "\0\0\0\x09*********")}},
	{"dns over tcp, which looks like kafka without its length",
	 false,
	 false,
	 {SAME("\0\x24\0\2\x81\x83\0\1\0\0\0\0\0\0\5host1\4gone\7example\0\0\1\0\1"),
	  SAME("\0\x24\0\1\0\0\0\1\0\0\0\0\0\0\5host1\4gone\7example\0\0\1\0\1")}},
	{"kafka joined late, read behind the length",
	 false,
	 false,
	 {KEPT("nobody knows", 3, NULL), C("\0\x24\0\1\0\0\0\1\0\2me\0\0\0\x09\0user\0pwd",
					   "\0\x24\0\1\0\0\0\1\0\2me\0\0\0\x09*********")}},
};

int main(void)
{
	return check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}
