/* SPDX-License-Identifier: BSD-2-Clause */
/* Who an address is: the port before none, the longest prefix, what the file says first. */
#include "analyze/traffic/services.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/text.h"
#include "check.h"

static int read_text(struct services **s, const char *text)
{
	int fd = memfd_create("services", MFD_CLOEXEC), err;
	char path[64];

	CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = services__open(s, path);
	close(fd);
	return err;
}

static void test_find(void)
{
	static const struct {
		const char *addr;
		unsigned port;
		const char *name, *region;
	} rows[] = {
		{"10.0.0.1", 0, "net", ""},
		{"10.0.0.1", 80, "web", "eu"},
		{"10.0.0.1", 81, "net", ""},
		{"10.0.2.7", 1, "narrow", ""},
		{"10.0.2.7", 80, "web", "eu"}, /* a port says more than a prefix */
		{"10.0.2.8", 443, "tls \"a, b\"", ""},
		{"11.0.0.1", 80, NULL, ""},
		{"2001:db8::5", 53, "six", "us"},
		{"2001:db8::5", 54, "six net", ""},
		{"2001:db9::5", 53, NULL, ""},
		{"/run/x.sock", 0, "local", ""},
		{"@abstract", 0, "hidden", ""},
		{"/run/x.sock2", 0, NULL, ""},
		{"nonsense", 80, NULL, ""},
		{"", 80, NULL, ""},
	};
	struct services *s = NULL;

	CHECK(!read_text(&s, "# remark\r\ncidr-or-ip,service,region,cluster\n10.0.0.0/16,net\n"
			     "10.0.0.0/16,second\n10.0.0.0/8:80,web,eu,c1\n\n10.0.2.0/24,narrow\n"
			     "10.0.2.8:443,\"tls \"\"a, b\"\"\"\n[2001:db8::5]:53,six,us\n"
			     "2001:db8::/32,six net\n/run/x.sock,local\n@abstract,hidden"));
	for (size_t i = 0; s && i < sizeof(rows) / sizeof(*rows); i++) {
		const struct service *f = services__find(s, span_of(rows[i].addr), rows[i].port);

		CHECK(!f == !rows[i].name, "%s:%u", rows[i].addr, rows[i].port);
		if (f && rows[i].name)
			CHECK(!strcmp(f->name, rows[i].name) && !strcmp(f->region, rows[i].region),
			      "%s:%u is %s %s", rows[i].addr, rows[i].port, f->name, f->region);
	}
	services__free(s);
	CHECK(!services__find(NULL, span_of("10.0.0.1"), 80));
}

static void test_bad(void)
{
	static const char *const lines[] = {
		"10.0.0.0/33,x",   "10.0.0.1",	"10.0.0.1:0,x", "host,x",    "\"10.0.0.1,x",
		"1.1.1.1,a,b,c,d", "10.0.0.1,", "[::1,x",	"::1/129,x", "10.0.0.1:65536,x"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct services *s = NULL;

		CHECK(read_text(&s, lines[i]) == -EINVAL, "%s", lines[i]);
	}
}

int main(void)
{
	test_find();
	test_bad();
	return failed;
}
