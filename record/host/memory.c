/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include "record/host/memory.h"

enum { RESERVE_MIN = 12 << 20 };

uint64_t memory_reserve(uint64_t max_mem)
{
	return max_mem / 10 > RESERVE_MIN ? max_mem / 10 : RESERVE_MIN;
}

static uint64_t of_map(int fd)
{
	char path[40], line[128];
	uint64_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "memlock: %" SCNu64, &bytes) == 1)
			break;
	fclose(f);
	return bytes;
}

uint64_t memory_of_maps(const struct bpf_object *obj)
{
	uint64_t sum = 0;
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj)
	{
		if (bpf_map__fd(m) >= 0 && !(bpf_map__map_flags(m) & BPF_F_MMAPABLE))
			sum += of_map(bpf_map__fd(m));
	}
	return sum;
}

uint64_t memory_resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%*u %" SCNu64, &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

void memory_give_back(void)
{
	malloc_trim(0);
}
