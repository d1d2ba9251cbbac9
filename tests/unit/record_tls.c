/* SPDX-License-Identifier: BSD-2-Clause */
/* Where this machine's TLS libraries would be listened to. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/binary/tls_find.h"
#include "record/binary/tls_symbols.h"

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

/* A name that lies across the pieces the strings are read in, one that only ends like it, and one
 * that another symbol ends like: linkers let them share their bytes. */
static void test_symbols(void)
{
	enum { STRINGS = 200000, SYMBOLS = 5000 };
	static char strings[STRINGS];
	static Elf64_Sym table[SYMBOLS];
	struct tls_symbol of[] = {
		{.name = "SSL_read"}, {.name = "SSL_write"}, {.name = "SSL_free"}};
	GElf_Shdr symbols = {.sh_offset = STRINGS,
			     .sh_size = sizeof(table),
			     .sh_entsize = sizeof(*table)},
		  names = {.sh_size = STRINGS};
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	bool written;

	for (size_t at = (32 << 10) - 4, i = 0; i < 4; at += 32 << 10, i++)
		strcpy(strings + at, i == 2 ? "SSL_read" : "SSL_readable");
	strcpy(strings + 150000, "inner_SSL_write");
	strcpy(strings + STRINGS - 5, "SSL_");
	for (size_t i = 0; i < SYMBOLS; i++)
		table[i] = (Elf64_Sym){
			.st_name = i, .st_info = STT_FUNC, .st_shndx = 1, .st_value = 1};
	table[3000].st_name = 3 * (32 << 10) - 4, table[3000].st_value = 0x1000;
	table[4000].st_name = 150006, table[4000].st_value = 0x2000;
	written = write(fd, strings, STRINGS) == STRINGS &&
		  write(fd, table, sizeof(table)) == sizeof(table);
	tls_symbols_find(fd, &symbols, &names, of, 3);
	check("symbols", written && of[0].address == 0x1000, "SSL_read");
	check("symbols", of[1].address == 0x2000, "SSL_write");
	check("symbols", !of[2].address, "a function that is not there");
	names.sh_size = symbols.sh_size = UINT64_MAX;
	tls_symbols_find(fd, &symbols, &names, of, 3);
	close(fd);
}

int main(void)
{
	const unsigned ends = 1u << TLS_SESSION | 1u << TLS_FREE;
	bool any = false;

	test_symbols();
	any |= test_library("/usr/lib/x86_64-linux-gnu/libssl.so.3",
			    ends | 1u << TLS_READ_EX | 1u << TLS_WRITE_EX);
	any |= test_library("/usr/lib/x86_64-linux-gnu/libgnutls.so.30", ends | 1u << TLS_WRITE);
	/* Go's own command, to fetch modules; nearly all returns are noticed in a closure. */
	any |= test_library("/usr/lib/go/bin/go", 1u << TLS_GO_READ | 1u << TLS_GO_WRITE |
							  1u << TLS_GO_DEFERRED |
							  1u << TLS_GO_LATE_RETURN);
#if defined(__x86_64__)
	/* Returns behind more closures than are known, none of which is there to listen to. */
	check("go-without-closures",
	      test_library("tests/fuzz/record_tls/go-without-closures",
			   1u << TLS_GO_READ | 1u << TLS_GO_WRITE | 1u << TLS_GO_RETURN),
	      "is not there");
#endif
	test_others();
	return failed ? 1 : any ? 0 : 77;
}
