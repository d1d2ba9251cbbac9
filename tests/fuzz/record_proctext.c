/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that other processes can influence; the first byte selects the parser. The output must be
 * within the input.
 */
#include <stdlib.h>
#include <string.h>

#include "record/host/container.h"
#include "record/binary/perfmap.h"
#include "record/host/procfs.h"
#include "record/process/sideband.h"
#include "record/process/target.h"

static void inside(struct span s, struct span whole)
{
	if (s.len && (s.p < whole.p || s.p + s.len > whole.p + whole.len))
		abort();
}

static void maps(struct span text)
{
	struct span whole = text, line;
	struct maps_line m;
	char path[4096];

	while (next_line(&text, &line)) {
		if (maps_line_parse(line, &m))
			continue;
		inside(m.path, whole);
		if (m.start >= m.end)
			abort();
		if (m.path.len <= sizeof(path)) {
			memcpy(path, m.path.p, m.path.len);
			if (maps_path_unescape(path, m.path.len) > m.path.len)
				abort();
		}
	}
}

static void perf_map(struct span text)
{
	struct span whole = text, line;
	struct perfmap_line l;

	while (next_line(&text, &line)) {
		if (perfmap_line_parse(line, &l))
			continue;
		inside(l.name, whole);
		if (!l.size || !l.name.len || l.start + l.size < l.start)
			abort();
	}
}

static void cgroup(struct span text)
{
	struct span whole = text, line;
	char id[CONTAINER_ID_CAP];
	struct cgroup_line c;

	if (text.len)
		inside(cgroup_pick(text), whole);
	while (next_line(&text, &line)) {
		if (cgroup_line_parse(line, &c))
			continue;
		inside(c.path, whole);
		inside(c.controllers, whole);
		if (container_id_of_cgroup(c.path, id) > c.path.len || !memchr(id, 0, sizeof(id)))
			abort();
		cgroup_contains(c.controllers, c.path);
	}
}

static void side_band(struct span s)
{
	struct sideband_record r;
	uint64_t lost = 0;
	void *aligned = malloc(s.len + 1);

	memcpy(aligned, s.p, s.len);
	if (sideband_parse(aligned, s.len, &r, &lost) == 1) {
		inside(r.name, (struct span){aligned, s.len});
		if (r.type == SIDEBAND_MMAP && r.start >= r.end)
			abort();
	}
	free(aligned);
}

static void numbers(struct span s)
{
	char *text = malloc(s.len + 1);
	struct procfs_stat st;
	uint32_t tgid, ns;

	memcpy(text, s.p, s.len);
	text[s.len] = 0;
	if (procfs_stat_parse(text, s.len, &st) == 0 && strlen(st.comm) >= sizeof(st.comm))
		abort();
	procfs_status_parse(text, &tgid, &ns);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parser[])(struct span) = {maps, perf_map, cgroup, side_band, numbers};
	struct span s = {(const char *)data + 1, size - 1};

	if (size)
		parser[data[0] % (sizeof(parser) / sizeof(*parser))](s);
	return 0;
}
