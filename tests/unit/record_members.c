/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of cgroups, from directories made for it: all below, as deep and as many as allowed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "record/process/read_members.h"

enum { DEEP = 70 };

static char top[] = "/tmp/members-XXXXXX";

static void make(const char *dir, const char *procs)
{
	char path[4096];
	FILE *f;

	CHECK(!mkdir(dir, 0700), "%s", dir);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "we");
	CHECK(f && fputs(procs, f) >= 0, "%s", path);
	if (f)
		fclose(f);
}

/* Their pids as text; "+" behind them: some directories were left out. */
static const char *members(char *const *dir, unsigned cnt)
{
	static char text[256];
	struct parcel request, answer;
	size_t len = 0;
	uint32_t pid;
	bool all;

	read_members_ask(&request, dir, cnt);
	parcel_init(&answer, 0);
	CHECK(!read_members_serve(-1, &request, &answer), "served");
	all = read_members_all(&answer);
	while (read_members_next(&answer, &pid) && len < sizeof(text) - 12)
		len += sprintf(text + len, "%u ", pid);
	strcpy(text + len, all ? "" : "+");
	parcel_fini(&request);
	parcel_fini(&answer);
	return text;
}

int main(void)
{
	char path[4096] = "deep", command[64];
	char *both[] = {"a", "b"}, *gone[] = {"nowhere", "a/none", "b"}, *deep[] = {path},
	     name[] = "deep";

	if (!mkdtemp(top) || chdir(top))
		return 1;
	make("a", "11\n12\n");
	make("a/below", "0\n13\n");
	make("a/.hidden", "14\n");
	make("b", "21\n");
	CHECK(!symlink("../a", "b/link"), "link");
	CHECK(!strcmp(members(both, 2), "11 12 13 21 "), "two hierarchies: %s", members(both, 2));
	CHECK(!strcmp(members(gone, 3), "21 "), "gone: %s", members(gone, 3));
	make("deep", "1\n");
	for (int i = 0; i < DEEP; i++) {
		strcat(path, "/d");
		make(path, i == 9 ? "10\n" : i == DEEP - 1 ? "70\n" : "");
	}
	deep[0] = name;
	CHECK(!strcmp(members(deep, 1), "1 10 +"), "too deep: %s", members(deep, 1));
	snprintf(command, sizeof(command), "rm -r %s", top);
	CHECK(!system(command), "%s stays", top);
	return failed;
}
