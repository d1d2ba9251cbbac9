/* SPDX-License-Identifier: BSD-2-Clause */
/* Demangling by table, this program's own symbols by address, and images that are no images. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/symbol/symbol.h"
#include "format/demangle.h"
#include "check.h"

static void test_demangle(void)
{
	static const struct {
		const char *mangled, *name;
	} cases[] = {
		{"main", NULL},
		{"", NULL},
		{"_", NULL},
		{"_Z", NULL},
		{"_Z3fooi", "foo(int)"},
		{"__Z3fooi", "foo(int)"},
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_Z3fooi.isra.0", "foo(int) (.isra.0)"},
		{"_Z3fooi.isra.0.cold", "foo(int) (.isra.0.cold)"},
		{"_ZN4core3fmt5write17h01dd8abc4cb8cd39E", "core::fmt::write"},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
		{"_RNvC1a1bINvC1a1bFGzz_EuE", "a::b"}, /* few lifetimes; more of them: not */
		{"_RNvC1a1bINvC1a1bFGzzz_EuE", NULL},
		/* of which libiberty gives no tree */
		{"_ZN4llvm10checkedAddIiEENSt9enable_ifIXsr3stdE11is_signed_vIT_EESt8optionalIS2_"
		 "EE4typeES2_S2_",
		 "std::enable_if<std::is_signed_v<int>, std::optional<int> >::type "
		 "llvm::checkedAdd<int>(int, int)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = demangle(cases[i].mangled);

		CHECK(cases[i].name ? name && !strcmp(name, cases[i].name) : !name, "%s: %s",
		      cases[i].mangled, name ? name : "(none)");
		free(name);
	}
}

/* Each template doubles the one before by a substitution: 2^30 names if it were printed. */
static void test_demangle_bomb(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[4096], *p = stpcpy(name, "_Z1f1AI1BS0_E"), *text;

	for (int i = 1; i < 34; i++)
		p += sprintf(p, "1AIS%c_S%c_E", digits[i], digits[i]);
	text = demangle(name);
	CHECK(!text || strlen(text) <= 256 << 10, "%zu characters", text ? strlen(text) : 0);
	free(text);
}

static int open_self(void *ctx)
{
	(void)ctx;
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

static int open_path(void *ctx)
{
	int fd = open(ctx, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

extern const char __executable_start[];

struct found {
	char name[3][128];
	size_t calls;
};

static void note(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	struct found *f = ctx;

	CHECK(index == f->calls, "%zu", index);
	if (f->calls < 3)
		snprintf(f->name[f->calls], sizeof(f->name[0]), "%s",
			 cnt ? chain[cnt - 1].name : "");
	f->calls++;
}

static void test_self(void)
{
	/* A position-independent program's load address is its bias. */
	uint64_t start = (uintptr_t)__executable_start;
	uint64_t base = start > UINT32_MAX ? start : 0;
	uint64_t addrs[] = {(uintptr_t)test_self - base + 1, (uintptr_t)demangle - base,
			    (uintptr_t)test_self - base};
	struct symbolizer_opts opts = {.inlines = true};
	struct symbolizer *s;
	struct symbol_image *image;
	struct found f = {0};

	CHECK(!symbolizer__new(&s, &opts), "new");
	CHECK(!symbolizer__image(s, NULL, NULL, open_self, NULL, &image), "image");
	CHECK(!symbolizer__resolve(s, image, addrs, 3, note, &f), "resolve");
	CHECK(f.calls == 3, "%zu", f.calls);
	CHECK(!strcmp(f.name[0], "test_self"), "%s", f.name[0]);
	CHECK(!strcmp(f.name[1], "demangle"), "%s", f.name[1]);
	CHECK(!strcmp(f.name[2], "test_self"), "%s", f.name[2]);
	symbolizer__free(s);
}

/* What cannot be read is an answer too: nothing known, and why. */
static void test_not_an_image(const char *path)
{
	struct symbolizer_opts opts = {.inlines = true};
	struct symbolizer *s;
	struct symbol_image *image;
	struct found f = {0};
	uint64_t addr = 0x1000;
	const char *why;

	CHECK(!symbolizer__new(&s, &opts), "new");
	CHECK(!symbolizer__image(s, NULL, path, open_path, (void *)path, &image), "image");
	CHECK(!symbolizer__resolve(s, image, &addr, 1, note, &f), "resolve");
	CHECK(f.calls == 1 && !*f.name[0], "%zu", f.calls);
	CHECK(!strcmp(symbol_image__kind(image, &why), "none") && why, "%s", path);
	symbolizer__free(s);
}

int main(void)
{
	test_demangle();
	test_demangle_bomb();
	test_self();
	test_not_an_image("/nonexistent");
	test_not_an_image("/dev/null");
	test_not_an_image("/etc/passwd");
	test_not_an_image("/");
	return failed;
}
