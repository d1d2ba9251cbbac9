/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/syscalls.h"

#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
#define ARCH_COMPAT SCMP_ARCH_ARM
#else
#define ARCH_COMPAT SCMP_ARCH_X86
#endif

/* Newer than the libseccomp of Debian 12 (Linux 5.17). Since 424 a new call has the same number on
 * all architectures. */
static const char *const newer[] = {
	"cachestat",	     "fchmodat2",	  "map_shadow_stack", "futex_wake",
	"futex_wait",	     "futex_requeue",	  "statmount",	      "listmount",
	"lsm_get_self_attr", "lsm_set_self_attr", "lsm_list_modules", "mseal",
	"setxattrat",	     "getxattrat",	  "listxattrat",      "removexattrat",
	"open_tree_attr",    "file_getattr",	  "file_setattr",
};
enum { NEWER_FIRST = 451, NEWER_CNT = sizeof(newer) / sizeof(*newer) };

bool syscall_name(uint32_t number, bool compat, char *name, size_t sz)
{
	uint32_t arch = compat ? ARCH_COMPAT : seccomp_arch_native();
	char *known = seccomp_syscall_resolve_num_arch(arch, number);
	const char *is = known;

	if (!is && number >= NEWER_FIRST && number < NEWER_FIRST + NEWER_CNT)
		is = newer[number - NEWER_FIRST];
	if (is)
		snprintf(name, sz, "%s", is);
	else
		snprintf(name, sz, "syscall %u", number);
	free(known);
	return is;
}

/* What the kernel calls a parameter that is a path or a name in a file system. */
static bool is_path_name(const char *name)
{
	static const char *const names[] = {
		"filename",	 "pathname",	"path",	       "oldname", "newname",  "name",
		"dir_name",	 "dev_name",	"specialfile", "special", "new_root", "put_old",
		"from_pathname", "to_pathname", "library",     "u_name",  NULL,
	};

	for (const char *const *n = names; *n; n++)
		if (!strcmp(*n, name))
			return true;
	return false;
}

/* Its file in tracefs; the kernel's name of some calls differs: newstat, umount (umount2). */
static FILE *open_format(const char *call)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	static const char *const before[] = {"", "new", ""};
	size_t len = strlen(call), cut = len && call[len - 1] == '2' ? len - 1 : len;
	char path[PATH_MAX];
	FILE *f = NULL;

	for (int way = 0; way < 3 && !f; way++)
		for (int r = 0; r < 2 && !f; r++) {
			snprintf(path, sizeof(path), "%s/events/syscalls/sys_enter_%s%.*s/format",
				 roots[r], before[way], (int)(way < 2 ? len : cut), call);
			f = fopen(path, "re");
		}
	return f;
}

/*
 * Lines such as
 *
 *	field:const char * filename;	offset:24;	size:8;	signed:0;
 *
 * The arguments begin at offset 16, each has 8 bytes.
 */
unsigned syscall_args(const char *call, uint8_t paths[2])
{
	FILE *f = open_format(call);
	char line[256], name[64], *field, *end;
	unsigned cnt = f ? 0 : 6, path_cnt = 0, offset;

	paths[0] = paths[1] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		field = strstr(line, "field:");
		end = field ? strchr(field, ';') : NULL;
		if (!end || sscanf(end, "; offset:%u", &offset) != 1 || offset < 16 || cnt == 6)
			continue;
		cnt++;
		*end = 0;
		if (path_cnt < 2 && strstr(field, "const char") && strchr(field, '*') &&
		    sscanf(strrchr(field, '*'), "* %63s", name) == 1 && is_path_name(name))
			paths[path_cnt++] = cnt;
	}
	if (f)
		fclose(f);
	return cnt;
}
