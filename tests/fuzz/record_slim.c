/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 3000 */
/* Any bytes as a binary, and as its debug file: the slim ELF must be complete, have the predicted
 * size, and be unchanged when slimmed again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/symbols/slim.h"

#define MAX_DWARF                                                                                  \
	(8u << 20) /* a zlib stream may expand to a thousand times the input's size */

static int to_file(void *ctx, const void *p, size_t len)
{
	return write(*(int *)ctx, p, len) == (ssize_t)len ? 0 : -1;
}

#define CHECK(x)                                                                                   \
	do                                                                                         \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s\n", #x);                                               \
			abort();                                                                   \
		}                                                                                  \
	while (0)

/* The slim ELF's fd, or -1. */
static int slim_fd(const struct slim_elf *binary, const struct slim_elf *debug,
		   const char **symbols)
{
	struct slim *s;
	int fd = -1;

	if (slim__plan(&s, binary, debug, MAX_DWARF))
		return -1;
	*symbols = slim__info(s).symbols;
	if (slim__info(s).size < 4 * MAX_DWARF) {
		fd = memfd_create("slim", MFD_CLOEXEC);
		CHECK(fd >= 0);
		if (slim__write(s, to_file, &fd)) {
			close(fd);
			fd = -1;
		} else {
			CHECK(lseek(fd, 0, SEEK_CUR) == (off_t)slim__info(s).size);
		}
	}
	slim__free(s);
	return fd;
}

static void check_slim(int fd, const char *symbols)
{
	struct slim_elf e;
	const char *again;
	int fd2;

	CHECK(!slim_elf__load(&e, fd));
	fd2 = slim_fd(&e, NULL, &again);
	CHECK(fd2 >= 0 && !strcmp(symbols, again));
	close(fd2);
	slim_elf__fini(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), out;
	char id[BUILD_ID_HEX_SZ], path[4096];
	struct slim_elf e;
	const char *symbols;
	uint32_t crc;

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!slim_elf__load(&e, fd)) {
		slim_elf_build_id(&e, id);
		slim_elf_debuglink(&e, path, &crc);
		slim_elf_altlink(&e, path, id);
		for (int with_debug = 0; with_debug < 2; with_debug++) {
			out = slim_fd(&e, with_debug ? &e : NULL, &symbols);
			if (out >= 0) {
				check_slim(out, symbols);
				close(out);
			}
		}
		slim_elf__fini(&e);
	}
	close(fd);
	return 0;
}
