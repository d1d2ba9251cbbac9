/* SPDX-License-Identifier: BSD-2-Clause */
/* Perf-map lines one by one, then a file that grows, is written anew, is no file, in a /proc made
 * for the test. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/text.h"
#include "record/binary/perfmap.h"
#include "record/host/procfs.h"
#include "check.h"

static const struct {
	const char *line, *name; /* NULL: not a line */
	uint64_t start, size;
} lines[] = {
	{"7f00 40 foo", "foo", 0x7f00, 0x40},
	{"0x7f00 0x40 foo bar", "foo bar", 0x7f00, 0x40},
	{"7F00 4A Foo::~Foo() [a]", "Foo::~Foo() [a]", 0x7f00, 0x4a},
	{"7f00 40  spaced", " spaced", 0x7f00, 0x40},
	{"7f00 0 empty", NULL, 0, 0},
	{"7f00 40 ", NULL, 0, 0},
	{"7f00 40", NULL, 0, 0},
	{"7f00", NULL, 0, 0},
	{"", NULL, 0, 0},
	{"xyz 40 foo", NULL, 0, 0},
	{"7f00 40x foo", NULL, 0, 0},
	{" 7f00 40 foo", NULL, 0, 0},
	{"ffffffffffffffff 40 wraps", NULL, 0, 0},
	{"11ffffffffffffffff 40 too long", NULL, 0, 0},
	{"100 ffffffffffffffff wraps", NULL, 0, 0},
};

static char root[64];

static void put(const char *text, const char *mode)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/7/root/tmp/perf-3.map", root);
	f = fopen(path, mode);
	fputs(text, f);
	fclose(f);
}

static char got[4096];

static void on_symbol(void *ctx, const struct perfmap_line *l)
{
	sprintf(got + strlen(got), "%llx+%llx %.*s|", (unsigned long long)l->start,
		(unsigned long long)l->size, (int)l->name.len, l->name.p);
}

static void expect(struct perfmap *p, const char *want, int line)
{
	uint64_t refused;

	got[0] = 0;
	perfmap__resolve(p, on_symbol, NULL, &refused);
	CHECK(!strcmp(got, want), "line %d: \"%s\", expected \"%s\"", line, got, want);
	CHECK(!refused, "");
}

static void make_tree(void)
{
	char path[128];
	FILE *f;

	strcpy(root, "/tmp/perfmap.XXXXXX");
	if (!mkdtemp(root))
		exit(1);
	snprintf(path, sizeof(path), "%s/7", root);
	mkdir(path, 0755);
	strcat(path, "/root");
	mkdir(path, 0755);
	strcat(path, "/tmp");
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/7/status", root);
	f = fopen(path, "w");
	fprintf(f, "Name:\tx\nTgid:\t7\nPid:\t7\nUid:\t%u\t%u\t%u\t%u\nNSpid:\t7\t3\n", getuid(),
		geteuid(), getuid(), getuid());
	fclose(f);
}

static void test_file(int proc)
{
	struct perfmap *p;

	perfmap__new(&p, proc, 7);
	CHECK(perfmap__hit(p, 0x1010), "");
	CHECK(!perfmap__hit(p, 0x1010), "the same again");
	expect(p, "", __LINE__); /* no file yet */
	put("1000 100 old\n1000 40 new\nrubbish\n2000 10 other\n10", "w");
	expect(p, "1000+40 new|", __LINE__);
	perfmap__hit(p, 0x1020);
	perfmap__hit(p, 0x3008);
	perfmap__hit(p, 0x1fff);
	expect(p, "", __LINE__); /* reported already; not there yet; in no function */
	put("50 10 cut\n3000 10 late\n", "a");
	perfmap__hit(p, 0x1055);
	expect(p, "3000+10 late|1050+10 cut|", __LINE__);
	/* A later, smaller function inside an older one, and an older one that reaches past it. */
	put("5000 1000 big\n5100 10 small\n", "a");
	perfmap__hit(p, 0x5108);
	perfmap__hit(p, 0x5200);
	expect(p, "5100+10 small|5000+1000 big|", __LINE__);
	put("6000 10 anew\n", "w");
	perfmap__hit(p, 0x6001);
	perfmap__hit(p, 0x2001);
	expect(p, "6000+10 anew|", __LINE__);
	perfmap__free(p);
}

/* A name that leads elsewhere, or to what would block, is left alone. */
static void test_no_file(int proc)
{
	char path[128];
	struct perfmap *p;

	snprintf(path, sizeof(path), "%s/7/root/tmp/perf-3.map", root);
	unlink(path);
	if (mkfifo(path, 0600))
		exit(1);
	perfmap__new(&p, proc, 7);
	perfmap__hit(p, 0x1010);
	expect(p, "", __LINE__);
	unlink(path);
	if (symlink("/proc/self/maps", path))
		exit(1);
	expect(p, "", __LINE__);
	unlink(path);
	put("1000 40 there\n", "w");
	if (geteuid() == 0) { /* another user's file */
		if (chown(path, 12345, 12345))
			exit(1);
		expect(p, "", __LINE__);
		if (chown(path, 0, 0))
			exit(1);
	}
	expect(p, "1000+40 there|", __LINE__);
	perfmap__free(p);
}

/* A file of holes can claim any size: what is read are the lines between them. */
static void test_holes(int proc)
{
	char path[128];
	struct perfmap *p;
	int fd;

	put("1000 40 in front\n", "w");
	snprintf(path, sizeof(path), "%s/7/root/tmp/perf-3.map", root);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, "2000 40 amid\n", 13, (1LL << 39) + 100) != 13 || ftruncate(fd, 1LL << 40))
		exit(1);
	perfmap__new(&p, proc, 7);
	perfmap__hit(p, 0x1010);
	perfmap__hit(p, 0x2010);
	expect(p, "1000+40 in front|2000+40 amid|", __LINE__);
	perfmap__hit(p, 0x3010);
	expect(p, "", __LINE__);
	perfmap__free(p);
	close(fd);
	unlink(path);
}

static void test_many(int proc)
{
	struct perfmap *p;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/7/root/tmp/perf-3.map", root);
	f = fopen(path, "w");
	for (int i = 0; i < 100000; i++)
		fprintf(f, "%x %x function %d\n", 0x10000000 + (i * 7919) % 100000 * 64, 64,
			(i * 7919) % 100000);
	fclose(f);
	perfmap__new(&p, proc, 7);
	perfmap__hit(p, 0x10000000 + 4242 * 64 + 5);
	expect(p, "10042480+40 function 4242|", __LINE__);
	perfmap__free(p);
}

int main(void)
{
	char cmd[128];
	int proc;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct perfmap_line l;
		int err = perfmap_line_parse(span_of(lines[i].line), &l);

		CHECK(!err == (lines[i].name != NULL), "\"%s\"", lines[i].line);
		if (!err && lines[i].name)
			CHECK(l.start == lines[i].start && l.size == lines[i].size &&
				      l.name.len == strlen(lines[i].name) &&
				      !memcmp(l.name.p, lines[i].name, l.name.len),
			      "\"%s\"", lines[i].line);
	}
	make_tree();
	proc = procfs_open(root);
	test_file(proc);
	test_no_file(proc);
	test_holes(proc);
	test_many(proc);
	close(proc);
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	return system(cmd) || failed;
}
