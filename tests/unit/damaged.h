/* SPDX-License-Identifier: BSD-2-Clause */
/* This program's file, made worse: cut anywhere, or with a byte of its headers changed. */
#ifndef TESTS_DAMAGED_H
#define TESTS_DAMAGED_H

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

/* fn may answer anything. */
static inline void each_damaged(void (*fn)(int fd))
{
	char path[] = "/tmp/obrec_damaged.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	static uint8_t b[1 << 20];
	ssize_t sz = read(from, b, sizeof(b));

	unlink(path);
	CHECK(from >= 0 && fd >= 0 && sz > 4096);
	for (ssize_t cut = 0; cut < sz; cut += 1 + cut / 16) {
		CHECK(!ftruncate(fd, 0) && pwrite(fd, b, cut, 0) == cut);
		fn(fd);
	}
	for (unsigned i = 0; i < 2000; i++) {
		/* the headers: of the file, and of the sections, at its end */
		size_t at = i < 64 ? i : sz - 1 - (i - 64) % (sz < 4096 ? sz : 4096);
		uint8_t with = 0xff >> (i % 5);

		CHECK(!ftruncate(fd, 0) && pwrite(fd, b, sz, 0) == sz &&
		      pwrite(fd, &with, 1, at) == 1);
		fn(fd);
	}
	close(from);
	close(fd);
}

#endif
