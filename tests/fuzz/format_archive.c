/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 500 */
/* Opens a whole file as an archive, walks it, decodes, checks and decompresses every member. This
 * build does not verify CRCs, so that the code after these checks is reached. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/archive.h"

static int touch(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct rec_stack *s = rows;
	volatile uint64_t *sum = arg;

	for (size_t i = 0; kind == REC_stack && i < cnt; i++)
		for (size_t j = 0; j < s[i].frames.len; j++)
			*sum += s[i].frames.v[j];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct obz_reader *r;
	const struct obz_member *m;
	struct obz_chunk_info ci;
	char path[32], name[104];
	uint64_t sum = 0;
	size_t cnt;
	int out;

	if (fd < 0)
		fd = memfd_create("input", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!obz_reader__open(&r, path)) {
		m = obz_reader__members(r, &cnt);
		for (size_t i = 0; i < cnt; i++) {
			obz_member_name(&m[i], name);
			obz_reader__chunk_info(r, &m[i], &ci);
			obz_reader__decode(r, &m[i], touch, &sum);
			obz_reader__check(r, &m[i]);
			out = obz_reader__extract(r, &m[i], 1 << 20);
			if (out >= 0)
				close(out);
		}
	}
	obz_reader__close(r);
	return 0;
}
