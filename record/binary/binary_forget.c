/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that starts ever new programs must cost no more memory than what runs on it. Some binaries
 * that nobody maps are kept, for what is started again and again; the others are forgotten with
 * their tables and descriptors. Of one that was hit stays its number: should the same content come
 * back, it is the same binary, as stacks and the archive name it. A number that was never written
 * is given to another binary.
 */
#include <stdlib.h>

#include "record/binary/binary_registry.h"

enum { KEEP_IDLE = 48, KEEP_FILES = 256 };
#define KEEP_IDLE_SZ (256u << 20) /* of files: tables are a tenth of that at most */
/* Longer than a ring or the unwinder may still speak of it. */
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

/* Those that nobody maps, the latest first. */
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
		/* Generated code went with its process; names not known by now are not to come. */
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
