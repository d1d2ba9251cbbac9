/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/2's frames as the kernel follows them (bpf/net/frame_heads.h), compiled for user space: a stream of
 * frames of every kind, cut into calls anywhere, in heads too; each frame is found at its place.
 */
#include <linux/types.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/net/frame_heads.h"
#include "check.h"

enum { STREAM = 1 << 20, FRAMES = 4000 };

static __u8 stream[STREAM];
static size_t begins[FRAMES + 1], frame_cnt;

static void fill(void)
{
	static const struct {
		unsigned type, least, most;
	} kinds[] = {{0, 0, 400}, {1, 1, 300}, {9, 1, 90}, {4, 6, 6},  {8, 4, 4},
		     {6, 8, 8},	  {3, 4, 4},   {2, 5, 5},  {7, 8, 30}, {16, 4, 40}};
	size_t at = 0;

	frame_cnt = 0;
	while (frame_cnt < FRAMES && at < STREAM - 1000) {
		size_t k = rand() % (sizeof(kinds) / sizeof(kinds[0]));
		unsigned sz = kinds[k].least + rand() % (kinds[k].most - kinds[k].least + 1);

		begins[frame_cnt++] = at;
		memcpy(stream + at, (__u8[]){0, sz >> 8, sz, kinds[k].type, 0, 0, 0, 0, 1}, 9);
		memset(stream + at + 9, 0xff, sz);
		at += 9 + sz;
	}
	begins[frame_cnt] = at;
}

/* A call of `len` bytes at pos, all in view; as net_frames.bpf.c does. The first frame that begins
 * in it or behind is *nth. */
static void one_call(struct frames *f, size_t pos, size_t len, size_t *nth)
{
	f->from = 0;
	f->have = len;
	if (f->head_sz) {
		frame_join(f, stream + pos, len, len);
		*nth += !f->head_sz;
	}
	while (f->next + FRAME_HEAD <= len) {
		CHECK(pos + f->next == begins[*nth]);
		CHECK(frame_read(f, stream + pos + f->next));
		CHECK(f->until <= f->next);
		++*nth;
	}
	if (!f->head_sz && f->next < len)
		frame_cut(f, stream + pos + f->next, len - f->next);
	CHECK(!f->lost);
	f->next = f->head_sz ? 0 : f->next - len;
}

static void cut_anywhere(void)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		struct frames f = {0};
		size_t pos = 0, nth = 0, len;

		srand(seed);
		fill();
		for (; pos < begins[frame_cnt]; pos += len) {
			len = 1 + rand() % (seed % 2 ? 12 : 700);
			if (len > begins[frame_cnt] - pos)
				len = begins[frame_cnt] - pos;
			one_call(&f, pos, len, &nth);
		}
		CHECK(nth == frame_cnt);
		CHECK(f.next == 0);
	}
}

/* What is kept of a frame: of header blocks more than of other bodies. */
static void kept(void)
{
	struct frames f = {.next = 100};

	CHECK(frame_read(&f, (const __u8 *)"\x01\x00\x00\x00\x01\x00\x00\x00\x01"));
	CHECK(f.until == 109 + FRAME_BODY);
	CHECK(f.next == 109 + 65536);
	CHECK(!frame_gap(&f)); /* of the bytes that a call begins with */
	f.from = 100;
	CHECK(frame_gap(&f));
	f.next = 100;
	CHECK(frame_read(&f, (const __u8 *)"\x00\x10\x00\x01\x04\x00\x00\x00\x01"));
	CHECK(f.until == f.next);
	CHECK(f.block);
}

static void no_frames(void)
{
	static const char *const heads[] = {"\0\0\5\x08\0\0\0\0\1", "\0\0\4\x06\0\0\0\0\0",
					    "GET / HTT", "\0\xff\xff\x04\0\0\0\0\0",
					    "\0\0\1\0\0\x80\0\0\1"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct frames f = {0};

		CHECK(!frame_read(&f, (const __u8 *)heads[i]));
	}
}

int main(void)
{
	cut_anywhere();
	kept();
	no_frames();
	return failed;
}
