/* SPDX-License-Identifier: BSD-2-Clause */
/* The texts of /proc as the kernel writes them and as hostile names bend them; one row a case. */
#include <string.h>

#include "format/text.h"
#include "record/host/procfs.h"
#include "record/process/target.h"
#include "check.h"

static const struct {
	const char *cause, *line;
	int err;
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool exec;
	const char *path;
} maps[] = {
	{"program",
	 "55d0c0a02000-55d0c0a26000 r-xp 00002000 fe:01 247131                     /usr/bin/a", 0,
	 0x55d0c0a02000, 0x55d0c0a26000, 0x2000, 247131, 0xfe, 1, true, "/usr/bin/a"},
	{"data", "7f01-7f02 rw-p 00000000 00:00 0 ", 0, 0x7f01, 0x7f02, 0, 0, 0, 0, false, ""},
	{"anonymous, no trailing space", "7f01-7f02 rwxp 00000000 00:00 0", 0, 0x7f01, 0x7f02, 0, 0,
	 0, 0, true, ""},
	{"path with spaces", "1-2 r-xp 0 08:02 5    /a b  c (deleted)", 0, 1, 2, 0, 5, 8, 2, true,
	 "/a b  c (deleted)"},
	{"escaped newline", "1-2 r-xp 0 08:02 5    /a\\012b", 0, 1, 2, 0, 5, 8, 2, true,
	 "/a\\012b"},
	{"vdso", "7ffd-7fff r-xp 00000000 00:00 0                          [vdso]", 0, 0x7ffd,
	 0x7fff, 0, 0, 0, 0, true, "[vdso]"},
	{"vsyscall",
	 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]", 0,
	 0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, 0, true, "[vsyscall]"},
	{"huge inode", "1-2 r-xp ffffffffffffffff fff:fffff 18446744073709551615 /x", 0, 1, 2,
	 UINT64_MAX, UINT64_MAX, 0xfff, 0xfffff, true, "/x"},
	{"end before start", "2-1 r-xp 0 08:02 5 /x", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"empty range", "1-1 r-xp 0 08:02 5 /x", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"number too large", "1-10000000000000000 r-xp 0 08:02 5 /x", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"inode too large", "1-2 r-xp 0 08:02 18446744073709551616 /x", -1, 0, 0, 0, 0, 0, 0, 0,
	 ""},
	{"cut in the mode", "1-2 r-x", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"cut in the device", "1-2 r-xp 0 08:", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"no numbers", "hello", -1, 0, 0, 0, 0, 0, 0, 0, ""},
	{"empty", "", -1, 0, 0, 0, 0, 0, 0, 0, ""},
};

static void test_maps(void)
{
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct maps_line m;
		int err = maps_line_parse(span_of(maps[i].line), &m);

		CHECK(!err == !maps[i].err, "%s: %d", maps[i].cause, err);
		if (err || maps[i].err)
			continue;
		CHECK(m.start == maps[i].start && m.end == maps[i].end &&
			      m.offset == maps[i].offset && m.inode == maps[i].inode &&
			      m.major == maps[i].major && m.minor == maps[i].minor &&
			      m.exec == maps[i].exec,
		      "%s", maps[i].cause);
		CHECK(m.path.len == strlen(maps[i].path) &&
			      !memcmp(m.path.p, maps[i].path, m.path.len),
		      "%s: %.*s", maps[i].cause, (int)m.path.len, m.path.p);
	}
}

static void test_unescape(void)
{
	static const char *const rows[][2] = {
		{"/a\\012b", "/a\nb"}, {"\\012", "\n"}, {"\\01", "\\01"},
		{"/a\\012", "/a\n"},   {"", ""},	{"\\\\012", "\\\n"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char buf[32];
		size_t n;

		strcpy(buf, rows[i][0]);
		n = maps_path_unescape(buf, strlen(buf));
		CHECK(n == strlen(rows[i][1]) && !memcmp(buf, rows[i][1], n), "%s", rows[i][0]);
	}
}

static void test_stat(void)
{
	static const char text[] =
		"42 (a) S 9 (b) Z 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 9 10 3 0 12345 99 1\n";
	struct procfs_stat st;

	CHECK(procfs_stat_parse(text, strlen(text), &st) == 0, "");
	CHECK(!strcmp(st.comm, "a) S 9 (b") && st.state == 'Z' && st.ppid == 7 && st.threads == 3 &&
		      st.start_ticks == 12345 && st.flags == 4194560,
	      "%s %c %u %u %llu", st.comm, st.state, st.ppid, st.threads,
	      (unsigned long long)st.start_ticks);
	CHECK(procfs_stat_parse("42 (a S 9", 9, &st) != 0, "");
	CHECK(procfs_stat_parse(") (", 3, &st) != 0, "");
	CHECK(procfs_stat_parse("1 (a) S 1", 9, &st) != 0, "cut");
	CHECK(procfs_stat_parse("", 0, &st) != 0, "");
}

static void test_status(void)
{
	uint32_t tgid, ns;

	CHECK(!procfs_status_parse("Name:\tx\nTgid:\t40\nNgid:\t0\nPid:\t41\nNSpid:\t40\t12\t1\n",
				   &tgid, &ns) &&
		      tgid == 40 && ns == 1,
	      "%u %u", tgid, ns);
	CHECK(!procfs_status_parse("Name:\tx\nTgid:\t40\n", &tgid, &ns) && ns == 40,
	      "no pid namespaces");
	CHECK(!procfs_status_parse("N\nTgid:\t40\nNSpid:\t\n", &tgid, &ns) && ns == 40, "");
	CHECK(procfs_status_parse("Name:\tTgid: 3\n", &tgid, &ns) != 0, "a name is no field");
}

static void test_cgroup(void)
{
	static const struct {
		const char *cause, *text, *path;
	} rows[] = {
		{"v2", "0::/a/b\n", "/a/b"},
		{"v1: systemd first", "4:memory:/m\n1:name=systemd:/s\n", "/s"},
		{"mixed: v2", "4:memory:/m\n1:name=systemd:/s\n0::/u\n", "/u"},
		{"mixed: v2 is not used", "4:memory:/m\n1:name=systemd:/\n0::/\n", "/m"},
		{"nothing but roots", "4:memory:/\n0::/\n", "/"},
		{"colon in the path", "0::/a:b:c\n", "/a:b:c"},
		{"no newline at the end", "0::/x", "/x"},
		{"garbage", "hello\n::\n0:x\n", ""},
		{"empty", "", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct span p = cgroup_pick(span_of(rows[i].text));

		CHECK(p.len == strlen(rows[i].path) && !memcmp(p.p, rows[i].path, p.len),
		      "%s: %.*s", rows[i].cause, (int)p.len, p.p);
	}
	CHECK(cgroup_contains(span_of("/a"), span_of("/a")), "");
	CHECK(cgroup_contains(span_of("/a"), span_of("/a/b")), "");
	CHECK(cgroup_contains(span_of("/a/"), span_of("/a/b")), "");
	CHECK(cgroup_contains(span_of("/"), span_of("/")), "");
	CHECK(cgroup_contains(span_of("/"), span_of("/x")), "");
	CHECK(!cgroup_contains(span_of("/a"), span_of("/ab")), "");
	CHECK(!cgroup_contains(span_of("/a/b"), span_of("/a")), "");
}

int main(void)
{
	test_maps();
	test_unescape();
	test_stat();
	test_status();
	test_cgroup();
	return failed;
}
