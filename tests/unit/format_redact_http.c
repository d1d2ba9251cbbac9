/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Secrets by their names, bytes in, text out: header fields, queries, forms, JSON, URLs. Each row
 * is cut at every position into two and into three calls, and must give the same; then each call in
 * the middle is lost, and what was masked behind it still is, if it began before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"

#define SECRETS(name, in, out)                                                                     \
	{                                                                                          \
		name, in, out,                                                                     \
			sizeof(in) - 1 + 0 * sizeof(char[sizeof(in) == sizeof(out) ? 1 : -1])      \
	}
#define NONE(name, in) SECRETS(name, in, in)
#define H2                                                                                         \
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"                                                         \
	"\0\0\0\4\0\0\0\0\0"

static const struct row {
	const char *name, *in, *out;
	size_t sz;
} rows[] = {
	/* ---- header fields ---- */
	SECRETS("http/1: a space before the colon",
		"GET / HTTP/1.1\r\nAuthorization : Bearer abc\r\n\r\n",
		"GET / HTTP/1.1\r\nAuthorization :***********\r\n\r\n"),
	SECRETS("http/1: tabs, blanks before the name, mixed case",
		"GET / HTTP/1.1\r\n\tproxy-AUTHORIZATION\t:\tabc\r\nA: b\r\n\r\n",
		"GET / HTTP/1.1\r\n\tproxy-AUTHORIZATION\t:****\r\nA: b\r\n\r\n"),
	SECRETS("http/1: obs-fold",
		"GET / HTTP/1.1\r\nX-Api-Key: ab\r\n\tcd\r\n ef\r\nA: b\r\n\r\n",
		"GET / HTTP/1.1\r\nX-Api-Key:***\r\n\t**\r\n **\r\nA: b\r\n\r\n"),
	SECRETS("http/1: names by their ends",
		"POST /a HTTP/1.1\r\nX-Vault-Token: a\r\nClient_Secret: b\r\nx-session-id: "
		"c\r\nocp-apim-subscription-key: d\r\n\r\n",
		"POST /a "
		"HTTP/"
		"1.1\r\nX-Vault-Token:**\r\nClient_Secret:**\r\nx-session-id:**\r\nocp-apim-"
		"subscription-key:**\r\n\r\n"),
	SECRETS("http/1: trailers", "HTTP/1.1 200 OK\r\n\r\n0\r\nX-Auth-Token: abc\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n0\r\nX-Auth-Token:****\r\n\r\n"),
	SECRETS("http/1: signature with its hash's size",
		"POST / HTTP/1.1\r\nX-Hub-Signature-256: sha256=ab\r\n\r\n",
		"POST / HTTP/1.1\r\nX-Hub-Signature-256:**********\r\n\r\n"),
	NONE("http/1: usual fields",
	     "GET /?page=2&q=x HTTP/1.1\r\nHost: h:80\r\nAccept: a;q=0.9\r\nIdempotency-Key: 1\r\n"
	     "Sec-WebSocket-Key: k\r\nConnection: close\r\nX-Request-ID: 7\r\nX-Tokens: 3\r\n\r\n"),
	SECRETS("http/1: X-Session, X-Key, any X-...-Key, with exceptions",
		"GET / HTTP/1.1\r\nX-Session: a\r\nx-session-token: b\r\nX-Key: c\r\n"
		"X-Acme-Key: d\r\nX_ACME_KEY: e\r\nX-My-Secret: f\r\nX-Cache-Key: g\r\n"
		"X-Idempotency-Key: h\r\nX-Monkey: i\r\nAcme-Key: j\r\nX-Sessions: 1\r\n\r\n",
		"GET / HTTP/1.1\r\nX-Session:**\r\nx-session-token:**\r\nX-Key:**\r\n"
		"X-Acme-Key:**\r\nX_ACME_KEY:**\r\nX-My-Secret:**\r\nX-Cache-Key: g\r\n"
		"X-Idempotency-Key: h\r\nX-Monkey: i\r\nAcme-Key: j\r\nX-Sessions: 1\r\n\r\n"),
	/* ---- queries ---- */
	SECRETS("query: the request's target",
		"GET /cb?code=abc&state=1&access_token=x.y-z&n=1 HTTP/1.1\r\n\r\n",
		"GET /cb?code=***&state=1&access_token=*****&n=1 HTTP/1.1\r\n\r\n"),
	SECRETS("query: percent-encoded names",
		"GET /?pass%77ord=abc&%74oken=d&toke%6e=e&u%5Bpassword%5D=f HTTP/1.1\r\n\r\n",
		"GET /?pass%77ord=***&%74oken=*&toke%6e=*&u%5Bpassword%5D=* HTTP/1.1\r\n\r\n"),
	SECRETS("query: Location, Referer, Link, Refresh",
		"HTTP/1.1 302 F\r\nLocation: https://h/cb?id_token=abc#x\r\nReferer: "
		"/a?sig=de&z=1\r\n"
		"Link: </n?token=f>; rel=next\r\nRefresh: 0; url=/x?otp=12\r\n\r\n",
		"HTTP/1.1 302 F\r\nLocation: https://h/cb?id_token=***#x\r\nReferer: "
		"/a?sig=**&z=1\r\n"
		"Link: </n?token=*>; rel=next\r\nRefresh: 0; url=/x?otp=**\r\n\r\n"),
	NONE("query: names that only resemble",
	     "GET /?tokens=1&author=b&codec=c&passage=d&sigma=e&keys=f HTTP/1.1\r\n\r\n"),
	/* ---- forms ---- */
	SECRETS("form: fields, one with blanks",
		"POST /login HTTP/1.1\r\nContent-Type: "
		"x\r\n\r\nuser=me&password=a b\"c&x=1",
		"POST /login HTTP/1.1\r\nContent-Type: "
		"x\r\n\r\nuser=me&password=*****&x=1"),
	SECRETS("form: multipart",
		"--b\r\nContent-Disposition: form-data; "
		"name=\"password\"\r\n\r\nab\r\n-c\r\n--b\r\n"
		"Content-Disposition: form-data; name=\"user\"\r\n\r\nme\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; "
		"name=\"password\"\r\n\r\n**\r\n-*\r\n--b\r\n"
		"Content-Disposition: form-data; name=\"user\"\r\n\r\nme\r\n--b--\r\n"),
	SECRETS("form: multipart, names without quotes",
		"--b\r\nContent-Disposition: form-data; name=password\r\n\r\nab\r\n--b\r\n"
		"Content-Disposition: form-data; name=user\r\n\r\nme\r\n--b--\r\n",
		"--b\r\nContent-Disposition: form-data; name=password\r\n\r\n**\r\n--b\r\n"
		"Content-Disposition: form-data; name=user\r\n\r\nme\r\n--b--\r\n"),
	NONE("form: what is no part of one",
	     "level=info name=token\n\nuser name=password\n\nname=api_key; filename=a\r\n\r\nb"),
	/* ---- JSON ---- */
	SECRETS("json: strings",
		"{\"user\":\"me\",\"password\":\"a\\\"b\",\"n\":1, \"apiKey\" : \"cd\"}\n",
		"{\"user\":\"me\",\"password\":\"****\",\"n\":1, \"apiKey\" : \"**\"}\n"),
	SECRETS("json: nested, numbers, arrays, objects",
		"{\"a\":{\"client_secret\":\"x\"},\"otp\":1234,\"refresh_token\":[\"a]\",{\"b\":1}]"
		",\"token\":null}\n",
		"{\"a\":{\"client_secret\":\"*\"},\"otp\":****,\"refresh_token\":[\"**\",{\"*\":*}]"
		",\"token\":null}\n"),
	SECRETS("json: several of a kind",
		"{\"passwords\":[\"ab\",\"c\"],\"access_tokens\":{\"a\":\"b\"},\"api_keys\":[\"d\"]"
		"}\n",
		"{\"passwords\":[\"**\",\"*\"],\"access_tokens\":{\"*\":\"*\"},\"api_keys\":[\"*\"]"
		"}\n"),
	SECRETS("json: escaped names, JSON in a string",
		"{\"pass\\u0077ord\":\"a\",\"m\":\"{\\\"token\\\":\\\"b c\\\",\\\"d\\\":1}\"}\n",
		"{\"pass\\u0077ord\":\"*\",\"m\":\"{\\\"token\\\":\\\"****\",\\\"d\\\":1}\"}\n"),
	SECRETS("json: names and values as pairs",
		"[{\"name\":\"DB_PASSWORD\",\"value\":\"ab\"},{\"key\" : \"apiKey\", \"type\": "
		"\"x\", \"value\" : \"cd\"},{\"Key\":\"a.secret\",\n \"Value\":[\"e\"]},"
		"{\"ParameterKey\":\"Token\",\"ParameterValue\":5}]",
		"[{\"name\":\"DB_PASSWORD\",\"value\":\"**\"},{\"key\" : \"apiKey\", \"type\": "
		"\"x\", \"value\" : \"**\"},{\"Key\":\"a.secret\",\n \"Value\":[\"*\"]},"
		"{\"ParameterKey\":\"Token\",\"ParameterValue\":*}]"),
	SECRETS("json: pairs in a string, and in single quotes",
		"{\"m\":\"{\\\"name\\\":\\\"token\\\",\\\"value\\\":\\\"a\\\"}\"} {'name': "
		"'secret', 'value': 'b'}",
		"{\"m\":\"{\\\"name\\\":\\\"token\\\",\\\"value\\\":\\\"**\"}\"} {'name': "
		"'secret', 'value': '*'}"),
	NONE("json: pairs without a secret",
	     "[{\"name\":\"user\",\"value\":\"me\"},{\"name\":\"token\"},{\"value\":\"a\"},"
	     "{\"name\":\"token\",\"name\":\"n\",\"value\":\"b\"},{\"name\":\"Your "
	     "password\",\"value\":\"c\"},{\"value\":\"d\",\"name\":\"tokens\"}]"),
	SECRETS("yaml: pairs",
		"- name: API_TOKEN\n  value: a b\n- name: \"DB_PASSWORD\"\n  value: 'c'\n- name: "
		"A\n  "
		"value: d\n- name: token\n- name: b\n  value: e\n",
		"- name: API_TOKEN\n  value: ***\n- name: \"DB_PASSWORD\"\n  value: '*'\n- name: "
		"A\n  "
		"value: d\n- name: token\n- name: b\n  value: e\n"),
	SECRETS("json: names in single quotes", "{'user': 'me', 'password': 'a b', 'n': 1}",
		"{'user': 'me', 'password': '***', 'n': 1}"),
	/* ---- XML ---- */
	SECRETS("xml: elements",
		"<a><user>me</user><password>b c</password><n:Token x=\"y\">\n  d\n</n:Token></a>",
		"<a><user>me</user><password>***</password><n:Token x=\"y\">\n  *\n</n:Token></a>"),
	SECRETS("xml: CDATA, elements within",
		"<Secret><![CDATA[a<b]]></Secret><Credentials><a>b</a><c>d</c></Credentials>",
		"<Secret><*********<****</Secret><Credentials><***</a><c>d</c></Credentials>"),
	NONE("xml: none", "<Tokens>a</Tokens><password/><a password>b<user>c</user> d->token>e"),
	SECRETS("xml: a word that is no element ends with its line",
		"usage: login <user> <password>\r\nok\r\nok",
		"usage: login <user> <password>\r\n**\r\nok"),
	NONE("json: names that only resemble",
	     "{\"code\":\"E1\",\"tokens\":\"3\",\"message\":\"no password\",\"key\":\"k\"}\n"),
	/* ---- URLs ---- */
	SECRETS("url: userinfo",
		"GET http://me:a%40b:c@h/x HTTP/1.1\r\nReferer: https://u:p@h:80/\r\n\r\n",
		"GET http://me:*******@h/x HTTP/1.1\r\nReferer: https://u:*@h:80/\r\n\r\n"),
	NONE("url: none", "GET ssh://me@h/x:y@z HTTP/1.1\r\nA: ftp://h/?a@b:c\r\nB: a://b\r\n\r\n"),
	/* ---- HTTP/2 ---- */
	SECRETS("http/2: the query of :path, and a referer",
		H2 "\0\0\x1e\1\5\0\0\0\1"
		   "\4\x0e/?token=ab&c=d"
		   "\x0f\x24\x0bh://u:p@h/x",
		H2 "\0\0\x1e\1\5\0\0\0\1"
		   "\4\x0e/?token=**&c=d"
		   "\x0f\x24\x0bh://u:*@h/x"),
	SECRETS("http/2: binary metadata of gRPC",
		H2 "\0\0\x13\1\5\0\0\0\1"
		   "\0\x0dx-a-token-bin\3abc",
		H2 "\0\0\x13\1\5\0\0\0\1"
		   "\0\x0dx-a-token-bin\3***"),
	SECRETS("http/2: in Huffman code all behind it",
		H2 "\0\0\x16\1\5\0\0\0\1"
		   "\4\x94\x60\x91\xff\x9d\xa0\x0f\xc2\x4f\xd4\xb5\x40\x86\x49\x61\x52\xbf\x9f\x8a"
		   "\xa0\x17",
		H2 "\0\0\x16\1\5\0\0\0\1"
		   "\4\x94\x60\x91\xff\x9d\xa0\x0f\xc2\x4f\xd4\xb5\x41\xf3\xf3\xf3\xf3\xf3\xf3\xf3"
		   "\xf3\xf3"),
	SECRETS("http/2: metadata by name, indexed and not, and its index",
		H2 "\0\0\x1a\1\5\0\0\0\1"
		   "\x40\x0bx-my-secret\2ab"
		   "\0\6x-note\1n"
		   "\0\0\4\1\5\0\0\0\3"
		   "\x0f\x2f\1z",
		H2 "\0\0\x1a\1\5\0\0\0\1"
		   "\x40\x0bx-my-secret\2**"
		   "\0\6x-note\1n"
		   "\0\0\4\1\5\0\0\0\3"
		   "\x0f\x2f\1*"),
	SECRETS("http/2: a body, cut by frames, then another's",
		H2 "\0\0\x0b\0\0\0\0\0\1{\"password\""
		   "\0\0\5\0\0\0\0\0\1:\"abc"
		   "\0\0\5\0\1\0\0\0\1"
		   "d\",5}"
		   "\0\0\3\0\1\0\0\0\3"
		   "a=b",
		H2 "\0\0\x0b\0\0\0\0\0\1{\"password\""
		   "\0\0\5\0\0\0\0\0\1:\"***"
		   "\0\0\5\0\1\0\0\0\1"
		   "*\",5}"
		   "\0\0\3\0\1\0\0\0\3"
		   "a=b"),
};

/* Header blocks and bodies of HTTP/2: a connection's beginning, then one frame after the other. */
enum { CALLS = 3 };

/* One call, in a buffer of its own size so that ASan sees each byte read outside. */
static void apply(struct redact_conn **conn, const char *in, size_t pos, size_t sz, bool hole,
		  char *out)
{
	uint8_t *p = malloc(sz ? sz : 1);
	struct redact_payload call = {0, pos, sz, sz, p, p};

	memcpy(p, in, sz);
	if (hole)
		redact__lost(conn, 0);
	redact__apply(conn, false, &call);
	memcpy(out, p, sz);
	free(p);
}

static int wrong(const struct row *r, const char *what, size_t a, size_t b, const char *got)
{
	printf("%s, %s %zu and %zu:\n  got    ", r->name, what, a, b);
	for (size_t i = 0; i < r->sz; i++)
		printf(got[i] >= ' ' ? "%c" : "\\x%02x", (uint8_t)got[i]);
	printf("\n");
	return 1;
}

/* Cut before a and b. */
static int check(const struct row *r, size_t a, size_t b, bool lose)
{
	const size_t cuts[CALLS + 1] = {0, a, b, r->sz};
	struct redact_conn *conn = NULL;
	char got[1024];
	bool bad;

	memcpy(got, r->out, r->sz);
	for (int i = 0; i < CALLS; i++)
		if (cuts[i] < cuts[i + 1] && !(lose && i == 1))
			apply(&conn, r->in + cuts[i], cuts[i], cuts[i + 1] - cuts[i],
			      lose && i == 2, got + cuts[i]);
	redact_conn__free(conn);
	if (!lose)
		return memcmp(got, r->out, r->sz) ? wrong(r, "cut at", a, b, got) : 0;
	/* Only a secret that was begun, and goes on. */
	for (size_t i = a - 1; i <= b; i++)
		if (i >= r->sz || r->out[i] != '*' || r->in[i] == '*')
			return 0;
	bad = false;
	for (size_t i = b; i < r->sz && r->out[i] == '*'; i++)
		bad |= got[i] != '*';
	return bad ? wrong(r, "lost from", a, b, got) : 0;
}

/* The whole field is gone, and nothing is carried: the rest of one, and what only looks like it. */
static int check_hole(const char *in, const char *out)
{
	struct redact_conn *conn = NULL;
	char got[256];
	size_t sz = strlen(in);

	apply(&conn, in, 1000, sz, true, got);
	redact_conn__free(conn);
	if (!memcmp(got, out, sz))
		return 0;
	printf("behind a hole: got '%.*s', wanted '%s'\n", (int)sz, got, out);
	return 1;
}

int main(void)
{
	size_t cnt = 0;
	int failed = 0;

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		int before = failed;

		for (size_t a = 0; a < rows[r].sz && failed == before; a++)
			for (size_t b = a; b <= rows[r].sz && failed == before; b++, cnt++)
				failed += check(&rows[r], a, b, false) ||
					  (a && a < b && check(&rows[r], a, b, true));
	}
	failed += check_hole("rer s3cret\r\nHost: h\r\n\r\n", "**********\r\nHost: h\r\n\r\n");
	failed += check_hole("s3cret\r\n\r\n", "******\r\n\r\n");
	failed += check_hole("*2\r\n$3\r\nGET\r\n$1\r\na\r\n", "*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
	failed += check_hole("+OK\r\n", "+OK\r\n");
	failed += check_hole("GET / HTTP/1.1\r\nHost: h\r\n", "GET / HTTP/1.1\r\nHost: h\r\n");
	failed += check_hole("\1\2\3binary\nHost: a", "\1\2\3binary\nHost: a");
	printf("%zu cases, cut in %zu ways, %d failed\n", sizeof(rows) / sizeof(rows[0]), cnt,
	       failed);
	return failed != 0;
}
