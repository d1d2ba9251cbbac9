/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports add samples up in memory; the views of the database define what is right. Both agree on
 * random captures. */
#include "check.h"
#include "load_rows.h"

int main(void)
{
	uint64_t x = 88172645463325252ull;
	static uint8_t bytes[20000];
	size_t longest = 0;

	for (int round = 0; round < 40; round++) {
		char *views, *memory;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			bytes[i] = x >> 32;
		}
		views = loaded_text((struct bytes){bytes, sizeof(bytes)}, true);
		memory = loaded_text((struct bytes){bytes, sizeof(bytes)}, false);
		CHECK(views && memory && !strcmp(views, memory),
		      "round %d\nviews:\n%s\nmemory:\n%s", round, views, memory);
		if (views && strlen(views) > longest)
			longest = strlen(views);
		free(views);
		free(memory);
		if (failed)
			break;
	}
	CHECK(longest > 4000, "the captures hold too little: %zu", longest);
	return failed;
}
