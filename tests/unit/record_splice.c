/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files may splice by their looks; one row a case. The files are of Debian's packages that
 * the tests need anyway. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/splice_find.h"
#include "check.h"

static const struct {
	const char *cause, *path;
	bool may;
} rows[] = {
	{"imports it, as this program does", "/proc/self/exe", true},
	{"static", "/sbin/ldconfig", true},
	{"dynamic", "/bin/true", false},
	{"no ELF", "/etc/passwd", false},
	{"empty", "/dev/null", false},
};

/* This program, made worse: cut anywhere, or with a byte changed; there may be any answer. */
static void hostile(void)
{
	char path[] = "/tmp/record_splice.XXXXXX";
	int from = open("/proc/self/exe", O_RDONLY), fd = mkstemp(path);
	static uint8_t b[1 << 20];
	ssize_t sz = read(from, b, sizeof(b));

	unlink(path);
	CHECK(from >= 0 && fd >= 0 && sz > 4096);
	for (ssize_t cut = 0; cut < sz; cut += 1 + cut / 16) {
		CHECK(!ftruncate(fd, 0) && pwrite(fd, b, cut, 0) == cut);
		splice_find(fd);
	}
	for (unsigned i = 0; i < 2000; i++) {
		/* the headers: of the file, and of the sections, at its end */
		size_t at = i < 64 ? i : sz - 1 - (i - 64) % (sz < 4096 ? sz : 4096);
		uint8_t with = 0xff >> (i % 5);

		CHECK(!ftruncate(fd, 0) && pwrite(fd, b, sz, 0) == sz &&
		      pwrite(fd, &with, 1, at) == 1);
		splice_find(fd);
	}
	close(from);
	close(fd);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = open(rows[i].path, O_RDONLY);

		CHECK(fd >= 0, "%s: %s", rows[i].path, strerror(errno));
		CHECK(splice_find(fd) == rows[i].may, "%s: %s", rows[i].cause, rows[i].path);
		close(fd);
	}
	CHECK(splice(-1, NULL, -1, NULL, 1, 0) < 0); /* so that it is imported */
	hostile();
	return failed;
}
