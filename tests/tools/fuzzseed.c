// SPDX-License-Identifier: BSD-2-Clause
/*
 * fuzzseed rows|archive IN.obz > SEED: an archive's records as tests/unit/row_bytes.h reads them,
 * for fuzz targets whose input is records. `archive` puts before them what
 * tests/fuzz/analyze_archive.c wants: no choice of a command, and the texts of both ends.
 */
#include <stdio.h>
#include <stdlib.h>

#include "format/archive.h"
#include "../unit/row_bytes.h"

/* Of each kind so many rows: what follows is more of the same. */
enum { ROWS_MAX = 40, TEXT_MAX = 400, FRAMES_MAX = 24 };

static unsigned rows_put[REC_KIND_MAX];

static void put(uint64_t v, size_t n)
{
	while (n--)
		putchar(v >> 8 * n & 0xff);
}

static void put_bytes(const char *p, size_t len)
{
	fwrite(p, 1, len, stdout);
}

static void put_number(uint64_t v)
{
	if (v < 24) {
		put(v, 1);
	} else if (v == 0xffff) {
		put(250, 1);
	} else {
		put(255, 1);
		put(v, 8);
	}
}

static void put_text(struct span s)
{
	if (s.len > TEXT_MAX)
		s.len = TEXT_MAX;
	for (size_t i = 0; i < sizeof(row_texts) / sizeof(*row_texts); i++)
		if (strlen(row_texts[i]) == s.len && !memcmp(row_texts[i], s.p, s.len)) {
			put(i, 1);
			return;
		}
	if (s.len < 55) {
		put(200 + s.len, 1);
	} else {
		put(255, 1);
		put(s.len, 2);
	}
	put_bytes(s.p, s.len);
}

static void put_list(struct u64_span l)
{
	size_t cnt = l.len < FRAMES_MAX ? l.len : FRAMES_MAX;

	put(240, 1);
	put(cnt, 1);
	for (size_t i = 0; i < cnt; i++) {
		put_number(l.v[i] >> 48);
		put_number(l.v[i] & ~0ull >> 16);
	}
}

#define PUT_u32 put_number
#define PUT_u64 put_number
#define PUT_str(member)                                                                            \
	put_text(strcmp(#member, "r->build_id") ? member : (struct span){"ab12", 4});
#define PUT_list put_list
#define PUT_command PUT_str
#define PUT_settings PUT_str
#define PUT_address PUT_str

static int on_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	for (size_t i = 0; i < cnt && rows_put[kind] < ROWS_MAX; i++, rows_put[kind]++) {
		switch (kind) {
#define RECORD(kind, ...)                                                                          \
	case REC_##kind: {                                                                         \
		const struct rec_##kind *r = (const struct rec_##kind *)rows + i;                  \
		put(REC_##kind, 1);
#define FIELD(kind, type, name, ...) PUT_##type(r->name);
#define END(...)                                                                                   \
	break;                                                                                     \
	}
#include "format/records.def"
		default:
			break;
		}
	}
	return 0;
}

static void put_end(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	put(len, 2);
	put_bytes(text, len);
}

int main(int argc, char **argv)
{
	const struct obz_member *m;
	struct obz_reader *r;
	size_t cnt;

	if (argc != 3 || obz_reader__open(&r, argv[2]))
		return 1;
	if (!strcmp(argv[1], "archive")) {
		put(0, 2);
		put_end(obz_reader__header(r));
		put_end(obz_reader__end(r));
	}
	m = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (m[i].type == OBZ_CHUNK)
			obz_reader__decode(r, &m[i], on_rows, NULL);
	obz_reader__close(r);
	return ferror(stdout) || fflush(stdout);
}
