/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an output goes: links of one's own and of root are followed, those that another user laid
 * are not, special files are told from regular ones, own descriptors are known by their names, and
 * what becomes FILE.old is a plain file of one's own. What other users lay needs root to be made.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/place.h"
#include "check.h"

enum { OTHER = 65534 };
static char top[] = "/tmp/format_place.XXXXXX";

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s", path);
	close(fd);
}

/* A directory of its own for what is written there; mode as chmod's. */
static void lay_dir(const char *name, mode_t mode, uid_t uid)
{
	char path[64], again[64];

	CHECK(!mkdir(name, 0700) && !chmod(name, mode));
	snprintf(path, sizeof(path), "%s/file", name);
	put(path, "x");
	snprintf(path, sizeof(path), "%s/own", name);
	CHECK(!symlink("file", path));
	snprintf(path, sizeof(path), "%s/dangling", name);
	CHECK(!symlink("new", path));
	snprintf(path, sizeof(path), "%s/up", name);
	CHECK(!symlink("../plain", path));
	snprintf(path, sizeof(path), "%s/loop", name);
	CHECK(!symlink("loop", path));
	snprintf(path, sizeof(path), "%s/null", name);
	CHECK(!symlink("/dev/null", path));
	snprintf(path, sizeof(path), "%s/out", name);
	CHECK(!symlink("/dev/stdout", path));
	snprintf(path, sizeof(path), "%s/fifo", name);
	CHECK(!mkfifo(path, 0600));
	snprintf(path, sizeof(path), "%s/link", name);
	CHECK(!symlink("file", path));
	if (geteuid() == 0) {
		CHECK(!lchown(path, OTHER, OTHER));
		snprintf(path, sizeof(path), "%s/dirlink", name);
		CHECK(!symlink("../plain", path) && !lchown(path, OTHER, OTHER));
		snprintf(path, sizeof(path), "%s/hard", name);
		CHECK(!symlink("file", path));
		snprintf(again, sizeof(again), "%s/hard2", name);
		CHECK(!link(path, again));
		CHECK(!chown(name, uid, -1));
	}
}

static const struct {
	const char *path;
	int result;	      /* a kind, or negative errno */
	const char *leads_to; /* below the top; NULL: as given */
	bool root;	      /* needs what only root can lay */
} cases[] = {
	{"plain/new", PLACE_NEW, NULL, false},
	{"./plain//new", PLACE_NEW, NULL, false},
	{"plain/file", PLACE_FILE, NULL, false},
	{"plain/own", PLACE_FILE, "plain/file", false},
	{"plain/dangling", PLACE_NEW, "plain/new", false},
	{"plain/up/file", PLACE_FILE, "plain/file", false},
	{"plain/up/up/own", PLACE_FILE, "plain/file", false},
	{"plain/null", PLACE_SPECIAL, NULL, false},
	{"plain/fifo", PLACE_SPECIAL, NULL, false},
	{"plain/out", PLACE_FD, NULL, false},
	{"plain/loop", -ELOOP, NULL, false},
	{"plain", -EISDIR, NULL, false},
	{"plain/new/", -ENOENT, NULL, false},
	{"plain/file/x", -ENOTDIR, NULL, false},
	{"none/x", -ENOENT, NULL, false},
	{"", -ENOENT, NULL, false},
	{"/", -EISDIR, NULL, false},
	{"/dev/stdout", PLACE_FD, NULL, false},
	{"/dev/fd/0", PLACE_FD, NULL, false},
	{"/proc/self/fd/2", PLACE_FD, NULL, false},
	{"/dev/fd/999", -EBADF, NULL, false},
	{"/proc/1/fd/1", -ELOOP, NULL, true},
	{"/dev/null", PLACE_SPECIAL, NULL, false},
	{"sticky/own", PLACE_FILE, "sticky/file", false},
	{"sticky/null", PLACE_SPECIAL, NULL, false},
	{"plain/link", -EACCES, NULL, true},
	{"sticky/link", -EACCES, NULL, true},
	{"open/link", -EACCES, NULL, true},
	{"plain/dirlink/file", -EACCES, NULL, true},
	{"sticky/dirlink/file", -EACCES, NULL, true},
	{"theirs/dirlink/file", PLACE_FILE, "plain/file", true}, /* their home: a path of theirs */
	{"theirs/link", -EACCES, NULL, true},
	{"plain/hard", PLACE_FILE, "plain/file", true},
	{"sticky/hard", -EACCES, NULL, true}, /* whoever made this name of it */
	{"open/hard", -EACCES, NULL, true},
};

static void test_find(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *why = NULL;
		struct place p;
		char led[128];
		int err;

		if (cases[i].root && geteuid())
			continue;
		err = place_find(&p, cases[i].path, &why);
		CHECK((err ? err : (int)p.kind) == cases[i].result, "%s: %d, %s", cases[i].path,
		      err ? err : (int)p.kind, why ? why : "");
		CHECK(!err || *why, "%s", cases[i].path);
		if (err || p.kind == PLACE_FD)
			continue;
		snprintf(led, sizeof(led), "%s/%s", top, cases[i].leads_to);
		CHECK(!cases[i].leads_to || !strcmp(p.path, led), "%s leads to %s", cases[i].path,
		      p.path);
		place_close(&p);
	}
}

static void test_special(void)
{
	const char *why = NULL;
	struct place p;
	int fd, reader;
	char c;

	CHECK(!place_find(&p, "plain/fifo", &why));
	CHECK(place_open_special(&p, O_NONBLOCK, &why) == -ENXIO && strstr(why, "no process reads"));
	reader = open("plain/fifo", O_RDONLY | O_NONBLOCK);
	fd = place_open_special(&p, O_NONBLOCK, &why);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && read(reader, &c, 1) == 1);
	close(fd);
	/* another one in its place */
	CHECK(!rename("plain/fifo", "plain/was") && !mkfifo("plain/fifo", 0600));
	close(reader);
	reader = open("plain/fifo", O_RDONLY | O_NONBLOCK);
	CHECK(place_open_special(&p, O_NONBLOCK, &why) == -EAGAIN);
	/* or a link, or a file */
	CHECK(!unlink("plain/fifo") && !symlink("file", "plain/fifo"));
	CHECK(place_open_special(&p, O_NONBLOCK, &why) == -ELOOP);
	CHECK(!unlink("plain/fifo") && !mkfifo("plain/fifo", 0600));
	close(reader);
	place_close(&p);
	/* what another user laid is not opened, nor waited for */
	if (geteuid())
		return;
	CHECK(!mkfifo("sticky/pipe", 0666) && !chown("sticky/pipe", OTHER, OTHER));
	CHECK(!place_find(&p, "sticky/pipe", &why));
	reader = open("sticky/pipe", O_RDONLY | O_NONBLOCK);
	CHECK(place_open_special(&p, 0, &why) == -EACCES && strstr(why, "another user"));
	close(reader);
	place_close(&p);
}

/* In `dir`: what becomes of name when it is kept. */
static int keep(const char *path)
{
	const char *why = NULL;
	struct place p;
	int err = place_find(&p, path, &why);

	CHECK(!err, "%s: %s", path, why);
	err = err ? err : place_keep_old(&p, &why);
	CHECK(err >= 0 || *why);
	place_close(&p);
	return err;
}

static void test_old(void)
{
	CHECK(keep("plain/a") == 0);
	put("plain/a", "1");
	CHECK(keep("plain/a") == 1 && access("plain/a", F_OK) && !access("plain/a.old", F_OK));
	put("plain/a", "2");
	CHECK(keep("plain/a") == 1); /* an older one makes room */
	put("plain/a", "3");
	CHECK(!unlink("plain/a.old") && !symlink("file", "plain/a.old"));
	CHECK(keep("plain/a") == -EEXIST && !access("plain/a", F_OK));
	CHECK(!unlink("plain/a.old") && !mkfifo("plain/a.old", 0600));
	CHECK(keep("plain/a") == -EEXIST);
	CHECK(!unlink("plain/a.old"));
	if (geteuid())
		return;
	CHECK(!chown("plain/a", OTHER, -1));
	CHECK(keep("plain/a") == -EACCES);
	put("sticky/a", "1");
	CHECK(!chown("sticky/a", OTHER, -1) && keep("sticky/a") == -EACCES);
	put("theirs/a", "1");
	CHECK(!chown("theirs/a", OTHER, -1) && keep("theirs/a") == 1); /* in their own home */
}

int main(void)
{
	char command[64];

	if (!mkdtemp(top) || chdir(top))
		return 1;
	lay_dir("plain", 0755, -1);
	lay_dir("sticky", 01777, -1);
	lay_dir("open", 0777, -1);
	lay_dir("theirs", 0755, OTHER);
	test_find();
	test_special();
	test_old();
	snprintf(command, sizeof(command), "rm -rf %s", top);
	CHECK(!system(command));
	if (geteuid())
		printf("not root: what others lay was not tested\n");
	return failed;
}
