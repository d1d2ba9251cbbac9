/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Archives cut at every byte, with every bit of the tar headers flipped, bits flipped elsewhere,
 * zeroed and lost blocks, hostile members: what is intact is read, what is not is counted, nothing
 * is made up.
 */
#include "format_archive.h"

#include "format/chunk.h"
#include "format/ustar.h"

/* Every place with FULL set (as `make check` does), else every so manyth; a sanitizer makes each
 * far dearer. */
static size_t sparse;

static int scratch;
static uint8_t *whole;
static size_t len;

/* Where a member ends: [0] of its payload, [1] of the padding. */
struct place {
	size_t header, payload, end, next;
	struct obz_member m;
	bool chunk;
};
static struct place places[64];
static size_t place_cnt;

static void make(size_t flushes, size_t rows)
{
	size_t off = 0;
	struct ustar_header h;

	free(whole);
	whole = archive_make(42, flushes, rows, &len);
	place_cnt = 0;
	while (off + 512 <= len && !ustar_header_get(&h, whole + off)) {
		struct place *p = &places[place_cnt++];

		p->header = off;
		p->payload = off + 512;
		p->end = p->payload + h.sz;
		p->next = p->payload + ustar_padded(h.sz);
		p->chunk = !strncmp(h.name, "ev/", 3);
		off = p->next;
	}
	CHECK(off + 1024 == len, "%zu of %zu", off, len);
}

static size_t chunks_before(size_t cut)
{
	size_t n = 0;

	for (size_t i = 0; i < place_cnt; i++)
		n += places[i].chunk && places[i].end <= cut;
	return n;
}

/* Each prefix: everything that ended before the cut, and the truth about the end. */
static void test_cuts(void)
{
	const struct place *last = &places[place_cnt - 1];

	for (size_t cut = 0; cut < len; cut += sparse) {
		struct reading got = archive_read_bytes(scratch, whole, cut);

		if (cut < places[0].end) {
			CHECK(got.err == -EBADMSG, "cut at %zu: %d", cut, got.err);
			continue;
		}
		CHECK(!got.err && got.header, "cut at %zu: %d %s", cut, got.err, got.error);
		CHECK(got.end == (cut >= last->end) && got.damage.cut == !got.end, "cut at %zu",
		      cut);
		CHECK(got.good_chunks == chunks_before(cut) && got.chunks == got.good_chunks,
		      "cut at %zu: %zu of %zu", cut, got.good_chunks, chunks_before(cut));
		CHECK(!got.damage.bad_chunks && !got.damage.refused && !got.damage.lost_chunks,
		      "cut at %zu", cut);
	}
}

static bool any(const struct reading *got)
{
	return got->err || !got->header || obz_damage_any(&got->damage);
}

/*
 * One bad header costs no chunk at all: the chunk's own header takes its place. Every bit of the
 * first four members (obz.json, schema.json, two chunks), one bit of each byte of the others.
 */
static void test_header_flips(void)
{
	struct reading good = archive_read_bytes(scratch, whole, len);
	uint8_t *p = malloc(len);

	memcpy(p, whole, len);
	for (size_t i = 0; i < place_cnt; i++)
		for (size_t bit = 0; bit < 512 * 8; bit += i < 4 ? sparse : 7 * sparse + bit % 3) {
			size_t at = places[i].header + bit / 8;
			struct reading got;

			p[at] ^= 1 << bit % 8;
			got = archive_read_bytes(scratch, p, len);
			CHECK(any(&got), "member %zu, bit %zu is not noticed", i, bit);
			CHECK(!got.err && got.good_chunks == good.good_chunks &&
				      got.rows == good.rows,
			      "member %zu, bit %zu: %d, %zu chunks", i, bit, got.err,
			      got.good_chunks);
			p[at] ^= 1 << bit % 8;
		}
	free(p);
}

/* Anywhere in a payload: noticed, and it costs that member only. */
static void test_payload_flips(void)
{
	struct reading good = archive_read_bytes(scratch, whole, len);
	uint8_t *p = malloc(len);
	size_t step = 0;

	memcpy(p, whole, len);
	for (size_t i = 0; i < place_cnt; i++)
		for (size_t at = places[i].payload; at < places[i].end;
		     at += sparse + step++ % 13) {
			struct reading got;

			p[at] ^= 1 << (at + step) % 8;
			got = archive_read_bytes(scratch, p, len);
			/* zstd has bits without meaning: what is not noticed must not matter */
			CHECK(any(&got) || got.hash == good.hash, "byte %zu of member %zu",
			      at - places[i].payload, i);
			CHECK(!got.err && got.good_chunks >= good.good_chunks - places[i].chunk &&
				      got.good_others >= good.good_others - 1,
			      "byte %zu of member %zu: %d, %zu chunks, %zu others",
			      at - places[i].payload, i, got.err, got.good_chunks, got.good_others);
			memcpy(p + at, whole + at, 1);
		}
	free(p);
}

/* A zeroed block is the end for tar, not for us. A lost one shifts what follows by 512. */
static void test_blocks(void)
{
	struct reading good = archive_read_bytes(scratch, whole, len);
	uint8_t *p = malloc(len);

	for (size_t at = 0; at + 512 <= places[place_cnt - 1].next; at += 512) {
		struct reading got;
		size_t hit = 0;

		while (places[hit].next <= at)
			hit++;
		memcpy(p, whole, len);
		memset(p + at, 0, 512);
		got = archive_read_bytes(scratch, p, len);
		CHECK(!got.err && any(&got) && got.good_chunks >= good.good_chunks - 1,
		      "zeroed at %zu: %d, %zu chunks", at, got.err, got.good_chunks);
		memcpy(p, whole, at);
		memcpy(p + at, whole + at + 512, len - at - 512);
		got = archive_read_bytes(scratch, p, len - 512);
		CHECK(!got.err && any(&got) && got.good_chunks >= good.good_chunks - 1,
		      "lost at %zu: %d, %zu chunks", at, got.err, got.good_chunks);
	}
	free(p);
}

/* Nothing but noise, noise in front, noise behind, two archives in one file. */
static void test_foreign(void)
{
	struct reading good = archive_read_bytes(scratch, whole, len), got;
	uint8_t *p = calloc(3, len + 4096);
	size_t other_len;
	uint8_t *other = archive_make(77, 1, 3, &other_len);

	for (size_t i = 0; i < 3 * len; i++)
		p[i] = random_u64();
	got = archive_read_bytes(scratch, p, 3 * len);
	CHECK(got.err == -EBADMSG && strstr(got.error, "not an obrec archive"), "%s", got.error);
	memset(p, 0, 3 * len);
	got = archive_read_bytes(scratch, p, 2 * len);
	CHECK(got.err == -EBADMSG);
	for (size_t i = 0; i < 2048; i++)
		p[i] = random_u64();
	memcpy(p + 2048, whole, len);
	got = archive_read_bytes(scratch, p, 2048 + len);
	CHECK(!got.err && any(&got) && got.good_chunks == good.good_chunks, "%d %zu", got.err,
	      got.good_chunks);
	memcpy(p, whole, len);
	for (size_t i = 0; i < 3000; i++)
		p[len + i] = random_u64() | 1;
	got = archive_read_bytes(scratch, p, len + 3000);
	CHECK(!got.err && any(&got) && got.good_chunks == good.good_chunks && got.end);
	memcpy(p, whole, len);
	memcpy(p + len, other, other_len);
	got = archive_read_bytes(scratch, p, len + other_len);
	CHECK(!got.err && any(&got) && got.good_chunks == good.good_chunks, "%zu chunks",
	      got.good_chunks);
	free(p);
	free(other);
}

/* ---- members that no writer writes ---- */

static void put_checksum(uint8_t *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += header[i];
	snprintf((char *)header + 148, 7, "%06o", sum);
	header[155] = ' ';
}

/* A member of `sz` NULs with that name and type, in place of the end. */
static struct reading with_member(const char *name, char type, const char *size, size_t sz)
{
	size_t at = places[place_cnt - 1].header, total = at + 512 + ustar_padded(sz);
	uint8_t *p = calloc(1, total + 512);
	struct reading got;

	memcpy(p, whole, at);
	memcpy(p + at, whole, 512); /* obz.json's header as a model */
	memset(p + at, 0, 100);
	memcpy(p + at, name, strnlen(name, 100));
	memcpy(p + at + 124, size, strlen(size) + 1);
	p[at + 156] = type;
	put_checksum(p + at);
	got = archive_read_bytes(scratch, p, total);
	free(p);
	return got;
}

static void test_hostile(void)
{
	struct reading good = archive_read_bytes(scratch, whole, len), got;
	static const struct {
		const char *name, *size;
		size_t sz;
		char type;
		bool refused;
	} cases[] = {
		{"../../etc/passwd", "00000000005", 5, '0', true},
		{"/etc/passwd", "00000000005", 5, '0', true},
		{"a/../b", "00000000005", 5, '0', true},
		{"a//b", "00000000005", 5, '0', true},
		{"\x1b[31mred", "00000000005", 5, '0', true},
		{"ev/profile/1.zst", "00000000005", 5, '0', true},
		{"ev/pro file/000009.zst", "00000000005", 5, '0', true},
		{"ev/profile/000009.zst.gz", "00000000005", 5, '0', true},
		{"ev/profile/99999999999999999999.zst", "00000000005", 5, '0', true},
		{"ev/profile/000009.zst", "00000000005", 5, '0', true}, /* too small for a chunk */
		{"ev/profile/000000.zst", "00000001000", 512, '0',
		 true},					      /* second of its sequence */
		{"schema.json", "00000000005", 5, '0', true}, /* second of its name */
		{".build-id/ab/cdef0123456789.debug.zst", "00000000005", 5, '0', true},
		{".build-id/ab/../x.debug.zst", "00000000005", 5, '0', true},
		{".build-id/ab/cdef0123456789.0.debug.zst", "00000000005", 5, '0', true},
		{".build-id/ab/cdef0123456789.1234567.debug.zst", "00000000005", 5, '0', true},
		{".build-id/ab/cdef0123456789.1.2.debug.zst", "00000000005", 5, '0', true},
		{".build-id/AB/cd.debug.zst", "00000000005", 5, '0', true},
		{"link", "00000000000", 0, '2', true},
		{"hard", "00000000000", 0, '1', true},
		{"dir", "00000000000", 0, '5', true},
		{"fifo", "00000000000", 0, '6', true},
		{"obz.json", "00000000000", 0, '0', true},
		{"notes/of-a-later.version", "00000000005", 5, '0',
		 false}, /* skipped, not damage */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		got = with_member(cases[i].name, cases[i].type, cases[i].size, cases[i].sz);
		CHECK(!got.err && got.damage.refused == cases[i].refused, "%s: %d, %llu refused",
		      cases[i].name, got.err, (unsigned long long)got.damage.refused);
		CHECK(got.good_chunks == good.good_chunks, "%s: %zu chunks", cases[i].name,
		      got.good_chunks);
	}
	/* sizes beyond the file, beyond 64 bits, in base 256, not octal: no room is made for them
	 */
	static const char *const sizes[] = {"77777777777",
					    "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
					    "0000000000x", "-0000000005"};

	for (size_t i = 0; i < 4; i++) {
		got = with_member("big", '0', sizes[i], 5);
		CHECK(!got.err && got.damage.skipped_bytes && got.good_chunks == good.good_chunks,
		      "%s", sizes[i]);
	}
	/* a gap in the sequence is a loss of that many chunks, not of memory */
	got = with_member("ev/profile/999999999999999999.zst", '0', "00000001000", 512);
	CHECK(!got.err && got.damage.lost_chunks == 999999999999999999 - 2 &&
		      got.damage.bad_chunks == 1,
	      "%llu", (unsigned long long)got.damage.lost_chunks);
}

/* A debug member that promises terabytes, or holds far more than it should. */
static void test_bomb(void)
{
	static const uint8_t promise[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe4, 0, 0, 0, 0, 0,
					  1,	0,    0,    1,	  0,	0, 0, 0, 0, 0};
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	int fd = memfd_create("bomb", 0), copy = dup(fd), data = memfd_create("data", 0);
	struct obz_writer *w;
	struct obz_reader *r;
	const struct obz_member *m;
	char path[32];
	size_t cnt;

	CHECK(!ftruncate(
		data,
		64 << 20)); /* zeros shrink some thousand times: within zstd's means, not ours */
	CHECK(!obz_writer__new(&w, fd, &opts));
	CHECK(!obz_writer__add(w, debug_names[0], data, 64 << 20));
	CHECK(!ftruncate(data, 0) && pwrite(data, promise, sizeof(promise), 0) == sizeof(promise));
	CHECK(!obz_writer__add_compressed(w, debug_names[1], data, sizeof(promise)));
	CHECK(!obz_writer__close(w, END_JSON));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	CHECK(!obz_reader__open(&r, path));
	m = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (m[i].type == OBZ_DEBUG)
			CHECK(obz_reader__extract(r, &m[i], 1ULL << 40) == -EBADMSG);
	CHECK(obz_reader__damage(r).bad_members == 2);
	obz_reader__close(r);
	close(copy);
	close(data);
}

/* Later versions: a major one is refused, an unknown required feature too. */
static void test_versions(void)
{
	static const struct {
		const char *format;
		int err;
	} cases[] = {
		{"{\"major\":1,\"minor\":9,\"required\":[]}", 0},
		{"{\"major\":2,\"minor\":0,\"required\":[]}", -EPROTONOSUPPORT},
		{"{\"major\":1,\"minor\":0,\"required\":[\"holograms\"]}", -EPROTONOSUPPORT},
	};

	for (size_t i = 0; i < 3; i++) {
		int fd = memfd_create("version", 0), copy = dup(fd);
		char header[256];
		struct obz_writer_opts opts = {.header_json = header,
					       .uuid = "00112233-4455-6677-8899-aabbccddeeff"};
		struct obz_writer *w;
		struct reading got;

		snprintf(header, sizeof(header), "{\"format\":%s,\"host\":\"x\"}", cases[i].format);
		CHECK(!obz_writer__new(&w, fd, &opts) && !obz_writer__close(w, END_JSON));
		got = archive_read(copy);
		CHECK(got.err == cases[i].err && (!got.err || *got.error), "%s: %d %s",
		      cases[i].format, got.err, got.error);
		close(copy);
	}
}

int main(void)
{
	sparse = getenv("FULL") ? 1 : 5;
#ifdef __SANITIZE_ADDRESS__
	sparse *= 20;
#endif
	scratch = memfd_create("scratch", 0);
	make(1, 1);
	test_cuts();
	test_header_flips();
	make(2, 3);
	test_payload_flips();
	test_blocks();
	test_foreign();
	test_hostile();
	test_bomb();
	test_versions();
	free(whole);
	return failed;
}
