/* SPDX-License-Identifier: BSD-2-Clause */
/* --services files: any bytes are accepted or refused; accepted files can be queried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/traffic/services.h"
#include "format/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const char *const addrs[] = {"10.0.0.1",	      "10.1.2.3", "::1", "2001:db8::1",
					    "/run/some.sock", "@name",	  "",	 "no address"};
	int fd = memfd_create("services", MFD_CLOEXEC);
	struct services *s = NULL;
	size_t n = 0;
	char path[64];

	if (fd < 0 || write(fd, data, sz) != (ssize_t)sz)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!services__open(&s, path)) {
		for (size_t i = 0; i < sizeof(addrs) / sizeof(*addrs); i++) {
			const struct service *found =
				services__find(s, span_of(addrs[i]), 80 * (i & 1));

			if (found)
				n += strlen(found->name) + strlen(found->region) +
				     strlen(found->cluster);
		}
		services__free(s);
	}
	close(fd);
	return n > sz * sizeof(addrs) / sizeof(*addrs) ? abort(), 0 : 0;
}
