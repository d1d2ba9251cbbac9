/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbol cache files. The magic, consistent counts and a valid checksum are inserted, so that the
 * code after these checks is reached. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyze/symbol/cache.h"

static void make_plausible(uint8_t *data, size_t sz)
{
	struct cache_header h;
	uint64_t body = sz - sizeof(h), left;

	memcpy(&h, data, sizeof(h));
	memcpy(h.magic, CACHE_MAGIC, sizeof(h.magic));
	h.version = CACHE_VERSION;
	h.answer_cnt %= (uint32_t)(body / sizeof(struct cache_answer) + 1);
	left = body - h.answer_cnt * sizeof(struct cache_answer);
	h.frame_cnt %= (uint32_t)(left / sizeof(struct cache_frame) + 1);
	h.string_sz = left - h.frame_cnt * sizeof(struct cache_frame);
	if (h.string_sz)
		data[sz - 1] = 0;
	h.crc = (uint32_t)crc32_z(0, (const Bytef *)&h.alt_id,
				  sizeof(h) - offsetof(struct cache_header, alt_id));
	h.crc = (uint32_t)crc32_z(h.crc, data + sizeof(h), body);
	memcpy(data, &h, sizeof(h));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct answers all = {0}, some = {0};
	uint64_t addrs[64];
	struct name_pool *pool;
	uint8_t *copy = malloc(sz + 1);
	struct cache *c;

	if (!copy || name_pool__new(&pool))
		abort();
	memcpy(copy, data, sz);
	if (sz >= sizeof(struct cache_header) && data[0] & 1)
		make_plausible(copy, sz);
	c = cache_parse(copy, sz);
	if (c) {
		struct cache_alt alt = cache_alt(c);

		if (strlen(alt.id) + strlen(alt.content) > 2 * sz)
			abort();
		for (size_t i = 0; i < 64; i++)
			addrs[i] = i << (i % 3 * 8);
		if (cache_read(c, pool, &all) || cache_find(c, pool, addrs, 64, &some) ||
		    answers_merge(&some, &all))
			abort();
	}
	cache_close(c);
	answers_fini(&all);
	answers_fini(&some);
	name_pool__free(pool);
	free(copy);
	return 0;
}
