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
#include "damaged.h"

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

static void find(int fd)
{
	splice_find(fd);
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
	each_damaged(find);
	return failed;
}
