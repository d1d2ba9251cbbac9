/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <unistd.h>

#include "record/elf/file_holes.h"

#define SMALL_SZ (1u << 20)
enum { EXTENTS_MAX = 1000 };

bool file_is_hollow(int fd, uint64_t offset, uint64_t size)
{
	uint64_t at = offset, end = offset + size, data = 0;

	if (size <= SMALL_SZ)
		return false;
	if (end < offset)
		return true;
	for (int i = 0; i < EXTENTS_MAX && at < end; i++) {
		off_t from = lseek(fd, at, SEEK_DATA), to;

		if (from < 0 && errno != ENXIO)
			return false;
		if (from < 0 || (uint64_t)from >= end)
			break; /* no more data, or the end of the file */
		to = lseek(fd, from, SEEK_HOLE);
		if (to < 0)
			return false;
		at = (uint64_t)to < end ? (uint64_t)to : end;
		data += at - from;
	}
	return data < size / 2;
}
