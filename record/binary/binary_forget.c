/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bounds memory on a host that keeps starting new programs. Some unmapped binaries are kept in case
 * they are started again; the others are dropped with their tables and descriptors. If a dropped
 * binary was hit, its id stays reserved, and the same content gets the same id again, because
 * stacks and the archive refer to it. Ids that were never written are reused.
 */
#include <stdlib.h>

#include "record/binary/binary_registry.h"

enum { KEEP_IDLE = 48, KEEP_FILES = 256 };
#define KEEP_IDLE_SZ (256u << 20) /* file sizes; tables are at most a tenth of that */
/* Longer than the rings or the unwinder may still refer to a binary. */
#define REST_NS 1000000000ULL

bool binaries__crowded(const struct binaries *b, uint64_t now_ns)
{
	return now_ns - b->swept_ns >= REST_NS && (b->loaded != b->loaded_then || b->resting ||
						   b->files.cnt > b->files_kept + KEEP_FILES);
}

void binaries__less_in_use(struct binaries *b)
{
	b->resting = true;
}

void binaries__in_use(struct binaries *b, struct binary *bin)
{
	bin->sweep = b->sweep;
	bin->idle_ns = 0;
}

void binaries__sweep_begin(struct binaries *b)
{
	b->sweep++;
	b->resting = false;
	for (unsigned i = 0; i < b->vdso_cnt; i++)
		binaries__in_use(b, b->vdso[i].binary);
	if (b->jit)
		binaries__in_use(b, b->jit);
}

static void forget(struct binaries *b, struct binary *bin)
{
	uint32_t id = bin->id;
	bool hit = bin->hit;

	if (hit)
		binaries_remember(b, bin);
	binaries_drop_build(b, bin);
	if (b->opts.store)
		unwind_store__drop(b->opts.store, &bin->table);
	binaries_free_one(b, bin);
	if (!hit) {
		b->tags[id - 1] = 0;
		b->free_ids[b->free_cnt++] = id;
	}
}

static int latest_first(const void *x, const void *y)
{
	const struct binary *const *a = x, *const *b = y;

	return (*a)->idle_ns > (*b)->idle_ns ? -1 : (*a)->idle_ns < (*b)->idle_ns;
}

/* Lists unmapped binaries, most recently used first. */
static uint32_t list_idle(struct binaries *b, uint64_t now_ns, struct binary **idle)
{
	struct binary *bin;
	uint32_t cnt = 0;

	for (uint32_t i = 0; (bin = binaries__next(b, &i));) {
		if (bin->sweep == b->sweep || bin->loading)
			continue;
		if (!bin->idle_ns)
			bin->idle_ns = now_ns;
		idle[cnt++] = bin;
	}
	qsort(idle, cnt, sizeof(*idle), latest_first);
	return cnt;
}

void binaries__sweep_end(struct binaries *b, uint64_t now_ns)
{
	struct binary **idle = calloc(b->live + 1, sizeof(*idle));
	uint32_t cnt = idle ? list_idle(b, now_ns, idle) : 0, kept = 0, doomed = 0;
	uint64_t size = 0;

	for (uint32_t i = 0; i < cnt; i++) {
		/* JIT code ends with its process; names that are still missing will not arrive. */
		if (!idle[i]->jit && kept < KEEP_IDLE &&
		    (size += idle[i]->size) <= KEEP_IDLE_SZ) {
			kept++;
			continue;
		}
		if (now_ns - idle[i]->idle_ns < REST_NS) {
			b->resting = true;
			continue;
		}
		idle[i]->doomed = true;
		idle[doomed++] = idle[i];
	}
	binaries_drop_files(b, now_ns - REST_NS);
	b->files_kept = b->files.cnt;
	b->loaded_then = b->loaded;
	b->swept_ns = now_ns;
	while (doomed)
		forget(b, idle[--doomed]);
	free(idle);
}
