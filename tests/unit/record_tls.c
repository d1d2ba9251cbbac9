/* SPDX-License-Identifier: BSD-2-Clause */
/* Where this machine's TLS libraries would be listened to. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../record/tls_find.h"

static int failed;

static void check(const char *path, bool ok, const char *what)
{
	if (!ok) {
		printf("%s: %s\n", path, what);
		failed++;
	}
}

/* True when the file is there. */
static bool test_library(const char *path, unsigned kinds)
{
	struct tls_site sites[TLS_SITES_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned found = 0;
	size_t cnt;

	if (fd < 0)
		return false;
	cnt = tls_find(fd, sites);
	for (size_t i = 0; i < cnt; i++) {
		found |= 1u << sites[i].kind;
		for (size_t j = 0; j < i; j++)
			check(path, sites[i].offset != sites[j].offset, "a place twice");
	}
	check(path, (found & kinds) == kinds, "a function is missing");
	close(fd);
	return true;
}

static void test_others(void)
{
	struct tls_site sites[TLS_SITES_MAX];
	static const char *const paths[] = {"/proc/self/exe", "/dev/null", "/etc/passwd"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		check(paths[i], fd < 0 || !tls_find(fd, sites), "is no TLS library");
		close(fd);
	}
	check("no file", !tls_find(-1, sites), "is no TLS library");
}

int main(void)
{
	const unsigned ends = 1u << TLS_SESSION | 1u << TLS_FREE;
	bool any = false;

	any |= test_library("/usr/lib/x86_64-linux-gnu/libssl.so.3",
			    ends | 1u << TLS_READ_EX | 1u << TLS_WRITE_EX);
	any |= test_library("/usr/lib/x86_64-linux-gnu/libgnutls.so.30", ends | 1u << TLS_WRITE);
	/* Go's own command, to fetch modules; nearly all returns are noticed in a closure. */
	any |= test_library("/usr/lib/go/bin/go", 1u << TLS_GO_READ | 1u << TLS_GO_WRITE |
							  1u << TLS_GO_DEFERRED |
							  1u << TLS_GO_LATE_RETURN);
	test_others();
	return failed ? 1 : any ? 0 : 77;
}
