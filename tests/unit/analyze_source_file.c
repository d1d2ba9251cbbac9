/* SPDX-License-Identifier: BSD-2-Clause */
/* Source files are found by the end of recorded paths, and never outside of the directory. */
#include "analyze/base/source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed;

static void expect(const char *dir, const char *path, const char *second)
{
	struct source_file s;
	bool found = source_file__open(&s, dir, path);
	struct span line = source_file__line(&s, 2);

	if (found != !!second ||
	    (second && (line.len != strlen(second) || memcmp(line.p, second, line.len)))) {
		printf("%s: %s, line 2 '%.*s'\n", path, found ? "found" : "not found",
		       (int)line.len, line.p);
		failed = 1;
	}
	source_file__close(&s);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

int main(void)
{
	char dir[] = "/tmp/source_file.XXXXXX";

	if (!mkdtemp(dir) || chdir(dir) || mkdir("in", 0700) || mkdir("in/a", 0700) ||
	    mkdir("in/a/b", 0700) || mkfifo("in/fifo.c", 0600))
		return 1;
	put("out.c", "1\nout\n");
	put("in/x.c", "1\nshort\n");
	put("in/a/b/x.c", "1\nlong\r\n3");
	put("in/empty.c", "");
	expect("in", "/build/a/b/x.c", "long");
	expect("in", "/build/b/x.c", "short");
	expect("in", "x.c", "short");
	expect("in", "./q/../a//./b/x.c", "long");
	expect("in", "a/b/../../../../x.c", "short");
	expect("in", "empty.c", "");
	expect("in", "../out.c", NULL);
	expect("in", "a/../../out.c", NULL);
	expect("in", "fifo.c", NULL);
	expect("in", "a/b", NULL);
	expect("in", "a/b/", NULL);
	expect("in", "", NULL);
	expect("in", "/", NULL);
	expect("in", "..", NULL);
	expect("nosuch", "x.c", NULL);
	expect(".", "in/a/b/x.c", "long");
	for (const char *const *p = (const char *const[]){"in/x.c", "in/a/b/x.c", "in/empty.c",
							  "in/fifo.c", "out.c", NULL};
	     *p; p++)
		unlink(*p);
	return failed | rmdir("in/a/b") | rmdir("in/a") | rmdir("in") | chdir("/") | rmdir(dir);
}
