/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of system calls against the numbers of the C library, and which arguments are paths as this
 * kernel describes them. */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/host/syscalls.h"
#include "check.h"

static void test_names(void)
{
	static const struct {
		uint32_t number;
		const char *name;
	} calls[] = {
		{SYS_read, "read"},
		{SYS_openat, "openat"},
		{SYS_exit_group, "exit_group"},
		{SYS_clock_nanosleep, "clock_nanosleep"},
		{SYS_newfstatat, "newfstatat"},
		{SYS_openat2, "openat2"},
		{453, "map_shadow_stack"},
		{469, "file_setattr"},
	};
	char name[32];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		CHECK(syscall_name(calls[i].number, false, name, sizeof(name)));
		CHECK(!strcmp(name, calls[i].name));
	}
	CHECK(!syscall_name(511, false, name, sizeof(name)));
	CHECK(!strcmp(name, "syscall 511"));
	CHECK(syscall_name(3, true, name, sizeof(name)) && !strcmp(name, "read"));
	CHECK(syscall_name(252, true, name, sizeof(name)) && strcmp(name, "listxattr"));
}

static void test_args(void)
{
	static const struct {
		const char *call;
		unsigned args;
		uint8_t paths[2];
	} calls[] = {
		{"openat", 4, {2, 0}},	    {"renameat2", 5, {2, 4}}, {"write", 3, {0, 0}},
		{"getppid", 0, {0, 0}},	    {"mmap", 6, {0, 0}},      {"setxattr", 5, {1, 2}},
		{"sethostname", 2, {0, 0}},
	};
	uint8_t paths[2];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		CHECK(syscall_args(calls[i].call, paths) == calls[i].args);
		CHECK(!memcmp(paths, calls[i].paths, 2));
	}
	CHECK(syscall_args("no_such_call", paths) == 6);
	CHECK(!paths[0] && !paths[1]);
}

int main(void)
{
	test_names();
	if (access("/sys/kernel/tracing/events/syscalls", R_OK)) {
		puts("arguments are left out: no tracefs, or no CONFIG_FTRACE_SYSCALLS");
		return failed;
	}
	test_args();
	return failed;
}
