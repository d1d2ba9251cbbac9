/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a library: every site must be inside the file and be reported once. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/binary/tls_find.h"
#include "record/binary/x86_insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tls_site sites[TLS_SITES_MAX];
	int fd = memfd_create("library", MFD_CLOEXEC);
	size_t cnt;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	cnt = tls_find(fd, sites);
	if (cnt > TLS_SITES_MAX)
		abort();
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < i; j++)
			if (sites[i].offset == sites[j].offset)
				abort();
	for (size_t at = 0, n; at < size; at += n) {
		n = x86_insn_len(data + at, size - at);
		if (n > size - at || n > 15)
			abort();
		if (!n)
			n = 1;
	}
	close(fd);
	return 0;
}
