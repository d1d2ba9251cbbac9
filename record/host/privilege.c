/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/text.h"
#include "record/host/privilege.h"

/* Uses the system calls directly: libcap must match libc and kernel to know the newest
 * capabilities. */
struct sets {
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static uint64_t effective(void)
{
	struct __user_cap_header_struct h = header();
	struct sets s = {0};

	if (syscall(SYS_capget, &h, s.data))
		return 0;
	return s.data[0].effective | (uint64_t)s.data[1].effective << 32;
}

static bool in(uint64_t set, int cap)
{
	return set >> cap & 1;
}

static bool split_from_admin(int cap)
{
	return cap == CAP_BPF || cap == CAP_PERFMON || cap == CAP_CHECKPOINT_RESTORE;
}

static bool has(uint64_t set, int cap)
{
	return in(set, cap) || (split_from_admin(cap) && in(set, CAP_SYS_ADMIN));
}

bool privilege_has(int cap)
{
	return has(effective(), cap);
}

int privilege_check(char *why, size_t sz)
{
	bool bpf = privilege_has(CAP_BPF), perfmon = privilege_has(CAP_PERFMON);

	if (bpf && perfmon)
		return 0;
	snprintf(why, sz, "needs root, or the capabilit%s %s%s%s", bpf || perfmon ? "y" : "ies",
		 bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
	return -EPERM;
}

void privilege_warn(bool pids)
{
	static const struct {
		int cap;
		bool only_unnamed;
		const char *name, *lost;
	} optional[] = {
		{CAP_SYS_PTRACE, true, "CAP_SYS_PTRACE",
		 "no user stacks of other users' processes"},
		{CAP_DAC_READ_SEARCH, false, "CAP_DAC_READ_SEARCH",
		 "no unwind tables and symbols of files this user cannot read"},
		{CAP_CHECKPOINT_RESTORE, false, "CAP_CHECKPOINT_RESTORE",
		 "no unwind tables and symbols of files deleted or replaced while in use"},
	};
	uint64_t set = effective();

	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
		if (!has(set, optional[i].cap) && !(pids && optional[i].only_unnamed))
			message_warn("without %s: %s", optional[i].name, optional[i].lost);
}

/* Returns the capabilities of `keep` that are in the set. Where a newer one is missing, the older,
 * wider one from which it was split is kept. */
static uint64_t reduce(uint64_t set, uint64_t keep)
{
	uint64_t kept = set & keep;

	for (int cap = 0; cap < 64; cap++)
		if (in(keep, cap) && !in(set, cap) && split_from_admin(cap) &&
		    in(set, CAP_SYS_ADMIN))
			kept |= 1ULL << CAP_SYS_ADMIN;
	return kept;
}

static void drop_to(uint64_t keep)
{
	struct __user_cap_header_struct h = header();
	uint64_t kept = reduce(effective(), keep);
	struct sets s = {0};

	/* Requires CAP_SETPCAP; without it no_new_privs alone prevents a gain through exec. */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!in(kept, cap))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		s.data[i].effective = s.data[i].permitted = kept >> 32 * i;
	if (syscall(SYS_capset, &h, s.data))
		message_warn("cannot drop capabilities: %s", strerror(errno));
}

#define BIT(cap) (1ULL << (cap))

void privilege_drop_session(bool command)
{
	/*
	 * Needed for: creating maps for tables of new binaries (before 5.19 every bpf(2)), mappings
	 * and memory of new processes, their files, and normal priority for the extractor at the
	 * end.
	 */
	uint64_t keep = BIT(CAP_BPF) | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) |
			BIT(CAP_CHECKPOINT_RESTORE) | BIT(CAP_SYS_NICE);

	/* Newer kernels allow reading mappings with CAP_PERFMON, see may_access_mm(). */
	if (!privilege_has(CAP_SYS_PTRACE))
		keep |= BIT(CAP_PERFMON);
	drop_to(command ? keep | BIT(CAP_KILL) : keep);
	/* Its memory contains captured payload. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void privilege_drop_worker(void)
{
	drop_to(BIT(CAP_DAC_READ_SEARCH));
}

void privilege_drop_attacher(bool admin)
{
	drop_to(BIT(CAP_BPF) | BIT(CAP_PERFMON) | (admin ? BIT(CAP_SYS_ADMIN) : 0));
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void privilege_drop_reader(void)
{
	uint64_t keep =
		BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_CHECKPOINT_RESTORE);

	if (!privilege_has(CAP_SYS_PTRACE))
		keep |= BIT(CAP_PERFMON); /* newer kernels allow reading mappings with it */
	drop_to(keep);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
