/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inserts a secret where HTTP and command lines may have one, among text of the input, and cuts the
 * conversation into calls as the input specifies: no four consecutive bytes of it may be left in
 * place.
 */
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"
#include "format/redact/redact_command.h"

enum { FILL_MAX = 64, TEXT_MAX = 1024, LEFT_MAX = 3 };

static const char secret[] = "Zq7xS3cr3tQz9vW";
#define SECRET_SZ (sizeof(secret) - 1)

/* '\x1e' is replaced by the secret, '\x1f' by text of the input. */
static const struct {
	const char *text;
	size_t sz;
} places[] = {
#define PLACE(text)                                                                                \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}
#define H2                                                                                         \
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"                                                         \
	"\0\0\0\4\0\0\0\0\0"
	PLACE("GET /\x1f?a=\x1f&access_token=\x1e&b HTTP/1.1\r\nA: \x1f\r\n\r\n"),
	PLACE("GET / HTTP/1.1\r\nX-\x1f: \x1f\r\nAuthorization: Bearer \x1e\r\nB: \x1f\r\n\r\n"),
	PLACE("GET / HTTP/1.1\r\nAuthorization :\x1e\r\nB: \x1f\r\n\r\n"),
	PLACE("GET / HTTP/1.1\r\nX-\x1f-Token: \x1f\r\n\t\x1e\r\n\r\n"),
	PLACE("HTTP/1.1 302 F\r\nLocation: http://h/\x1f?code=\x1e&\x1f\r\n\r\n"),
	PLACE("POST / HTTP/1.1\r\nA: \x1f\r\n\r\nuser=\x1f&pass%77ord=\x1e&c=\x1f"),
	PLACE("HTTP/1.1 200 OK\r\n\r\n{\"a\":\"\x1f\",\"client_secret\": \"\x1e\",\"b\":1}\n"),
	PLACE("HTTP/1.1 200 OK\r\n\r\n{\"token\":[1,{\"a\":\"\x1f\"},\"\x1e\"]}\n"),
	PLACE("GET http://\x1f:\x1e@\x1f/ HTTP/1.1\r\n\r\n"),
	PLACE("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\x1e\r\n--b--\r\n"),
	PLACE("--b\r\nContent-Disposition: form-data; name=password\r\n\r\n\x1e\r\n--b--\r\n"),
	PLACE("HTTP/1.1 200 OK\r\n\r\n[{\"a\":\"\x1f\",\"name\":\"a_token\",\"b\": 1, \"value\" : "
	      "\"\x1e\"}]\n"),
	PLACE("- name: a_token\n  value: \x1e\n- name: \x1f\n  value: \x1f\n"),
	PLACE("GET / HTTP/1.1\r\nA: \x1f\r\nX-Acme-Key: \x1e\r\nB: \x1f\r\n\r\n"),
	PLACE(H2 "\0\0\x1d\1\5\0\0\0\1\4\x1a/?password=\x1e"),
	PLACE(H2 "\0\0\x1b\1\5\0\0\0\1\x40\7x-token\x0f\x1e"),
	PLACE(H2 "\0\0\x1b\0\0\0\0\0\1{\"apiKey\":\"\x1e\"}"),
};

static const struct {
	const char *text;
	size_t sz;
} commands[] = {
	PLACE("\x1f\0--password=\x1e\0\x1f"),
	PLACE("\x1f\0--\x1f-token\0\x1e\0\x1f"),
	PLACE("mysql\0-u\0\x1f\0-p\x1e"),
	PLACE("curl\0-u\0\x1f:\x1e\0http://\x1f"),
	PLACE("curl\0http://\x1f:\x1e@h/\x1f"),
	PLACE("redis-cli\0AUTH\0\x1e\0\x1f"),
	PLACE("htpasswd\0-nb\0u\x1f\0\x1e"),
	PLACE("smbclient\0-U\0u\x1f%\x1e\0\x1f"),
	PLACE("kubectl\0create\0secret\0--from-literal=\x1f=\x1e"),
	PLACE("sh\0-c\0echo \x1e | sudo -S \x1f"),
	PLACE("sh\0-c\0ssh h 'mysql -p\x1e \x1f'\nls \x1f"),
	PLACE("sh\0-c\0\x1f -x; curl -H 'X-Api-Key: \x1e' \x1f"),
};

struct input {
	const uint8_t *p;
	size_t sz;
};

static uint8_t take(struct input *in)
{
	if (!in->sz)
		return 0;
	in->sz--;
	return *in->p++;
}

/* Returns the text's size; *at: where the secret is. */
static size_t write_out(const char *text, size_t sz, struct input *in, uint8_t out[TEXT_MAX],
			size_t *at)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEF0123456789-._";
	size_t n = 0;

	for (size_t i = 0; i < sz; i++) {
		if (text[i] == 0x1e) {
			*at = n;
			memcpy(out + n, secret, SECRET_SZ);
			n += SECRET_SZ;
		} else if (text[i] == 0x1f) {
			for (unsigned left = 1 + take(in) % FILL_MAX; left && n < TEXT_MAX - 300;
			     left--)
				out[n++] = letters[take(in) % (sizeof(letters) - 1)];
		} else {
			out[n++] = text[i];
		}
	}
	return n;
}

static void check(const uint8_t *p)
{
	size_t left = 0;

	for (size_t i = 0; i < SECRET_SZ; i++) {
		left = p[i] == (uint8_t)secret[i] ? left + 1 : 0;
		if (left > LEFT_MAX)
			abort();
	}
}

static void converse(uint8_t *p, size_t sz, size_t at, struct input *in)
{
	struct redact_conn *conn = NULL;

	for (size_t pos = 0, n; pos < sz; pos += n) {
		uint8_t cut = take(in);
		struct redact_payload call = {0, pos, 0, 0, p + pos, p + pos};

		n = cut ? cut : sz;
		if (n > sz - pos)
			n = sz - pos;
		call.len = call.kept = n;
		redact__apply(&conn, false, &call);
	}
	redact_conn__free(conn);
	check(p + at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	const size_t cnt = sizeof(places) / sizeof(places[0]),
		     all = cnt + sizeof(commands) / sizeof(commands[0]);
	struct input in = {data, sz};
	size_t which = take(&in) % all, at = 0;
	uint8_t text[TEXT_MAX];

	if (which < cnt) {
		sz = write_out(places[which].text, places[which].sz, &in, text, &at);
		converse(text, sz, at, &in);
	} else {
		which -= cnt;
		sz = write_out(commands[which].text, commands[which].sz, &in, text, &at);
		redact_command((char *)text, sz);
		check(text + at);
	}
	return 0;
}
