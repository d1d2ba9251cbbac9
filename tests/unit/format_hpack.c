/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 7541 appendix C: requests and responses, plain and Huffman, with a table of 256 bytes that
 * evicts; and a late join. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/hpack.h"
#include "format/text.h"

static int failed;

static void print(void *ctx, const struct hpack_field *f)
{
	strbuf_addf(ctx, "%.*s: %.*s\n", (int)f->name.len, f->name.p, (int)f->value.len,
		    f->value.p);
}

static void expect(struct hpack *h, const char *hex, int want_err, const char *want)
{
	struct strbuf got = {0};
	uint8_t buf[512];
	size_t n = 0;
	int err;

	for (const char *p = hex; p[0] && p[1]; p += p[2] == ' ' ? 3 : 2) {
		char pair[3] = {p[0], p[1], 0};

		buf[n++] = strtoul(pair, NULL, 16);
	}
	err = hpack__decode(h, buf, n, print, &got);
	if (err != want_err || strcmp(got.p ? got.p : "", want)) {
		printf("%s\n  got %d:\n%s  want %d:\n%s", hex, err, got.p ? got.p : "", want_err,
		       want);
		failed++;
	}
	strbuf_fini(&got);
}

int main(void)
{
	struct hpack *h, *late;

	if (hpack__new(&h) || hpack__new(&late))
		return 1;
	/* C.4: three requests, Huffman */
	expect(h, "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", 0,
	       ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n");
	expect(h, "8286 84be 5886 a8eb 1064 9cbf", 0,
	       ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: "
	       "no-cache\n");
	expect(h, "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", 0,
	       ":method: GET\n:scheme: https\n:path: /index.html\n:authority: "
	       "www.example.com\ncustom-key: custom-value\n");
	/* the last of them joined late: its own entries are known from then on */
	hpack__lost(late);
	expect(late, "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", 0,
	       ":method: GET\n:scheme: https\n:path: /index.html\n:unknown: :unknown\ncustom-key: "
	       "custom-value\n");
	expect(late, "be", 0, "custom-key: custom-value\n");
	hpack__free(h);

	/* C.6: responses, a table of 256 bytes: the third evicts what the first brought */
	if (hpack__new(&h))
		return 1;
	expect(h,
	       "3fe1 01 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 "
	       "82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
	       0,
	       ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 "
	       "GMT\nlocation: https://www.example.com\n");
	expect(h, "4883 640e ff c1 c0 bf", 0,
	       ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 "
	       "GMT\nlocation: https://www.example.com\n");
	expect(h,
	       "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab "
	       "77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f "
	       "9587 3160 65c0 03ed 4ee5 b106 3d50 07",
	       0,
	       ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 "
	       "GMT\nlocation: https://www.example.com\ncontent-encoding: gzip\nset-cookie: "
	       "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n");
	/* index out of the table, cut short, an endless integer */
	expect(h, "ff80 01", -EBADMSG, "");
	hpack__free(h);
	if (hpack__new(&h))
		return 1;
	expect(h, "bf", -EBADMSG, "");
	expect(h, "8241", -ENODATA, ":method: GET\n");
	expect(h, "ffffffffffffffff", -EBADMSG, "");
	hpack__free(h);
	hpack__free(late);
	return failed != 0;
}
