/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/unwind/unwind_arena.h"
#include "record/unwind/unwind_user.h"

struct unwind_user {
	const struct unwind_store *store;
	unwind_read_fn read;
	void *read_ctx;
	void *ranges[RANGE_SEGS], *rows[ROW_SEGS], *pages, *rules; /* mapped on first use */
	struct unwind_walk walk;
	struct unwind_cache cache;
};

static struct unwind_user *env; /* of the current unwind: only one thread of obrec unwinds */

/* Returns segment `seg` of a kind of memory, mapped; NULL if it does not exist. */
static const void *mapped(void **place, enum unwind_memory what, uint32_t seg)
{
	size_t size;
	int fd;

	if (!*place) {
		fd = unwind_store__memory(env->store, what, seg, &size);
		if (fd >= 0)
			*place = arena_map_fd(fd, size, 0);
	}
	return *place;
}

static void unmap(struct unwind_user *u, void *place, enum unwind_memory what)
{
	size_t size;

	unwind_store__memory(u->store, what, 0, &size);
	arena_unmap(place, size);
}

/* ---- functions used by unwind_walk.h ---- */

#define UW_FUNC static
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

static inline struct unwind_walk *uw_walk(__u32 slot)
{
	return slot ? NULL : &env->walk;
}

static inline struct unwind_cache *uw_cache(__u32 slot)
{
	return slot ? NULL : &env->cache;
}

static inline const struct range_seg *uw_ranges(__u32 seg)
{
	return seg < RANGE_SEGS ? mapped(&env->ranges[seg], UNWIND_MEM_RANGES, seg) : NULL;
}

static inline const struct row_seg *uw_rows(__u32 seg)
{
	return seg < ROW_SEGS ? mapped(&env->rows[seg], UNWIND_MEM_ROWS, seg) : NULL;
}

static inline const struct page *uw_page(__u32 index)
{
	const struct page *pages = mapped(&env->pages, UNWIND_MEM_PAGES, 0);

	return pages && index < PAGE_CNT ? &pages[index] : NULL;
}

static inline const struct rule *uw_rule(__u32 index)
{
	const char *rules = mapped(&env->rules, UNWIND_MEM_RULES, 0);

	return rules && index < RULE_CNT ? (const struct rule *)(rules + index * RULE_STRIDE)
					 : NULL;
}

static inline int uw_read(void *to, __u32 size, __u64 at)
{
	return env->read(env->read_ctx, to, size, at);
}

static inline __u32 uw_load32(const void *p)
{
	__u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline __u64 uw_load64(const void *p)
{
	__u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline int uw_leave_uprobe(struct unwind_walk *w)
{
	(void)w;
	return 0;
}

#include "bpf/unwind_walk.h"

/* ---- */

int unwind_user__new(struct unwind_user **out, const struct unwind_store *store)
{
	struct unwind_user *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->store = store;
	*out = u;
	return 0;
}

void unwind_user__free(struct unwind_user *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < RANGE_SEGS; i++)
		unmap(u, u->ranges[i], UNWIND_MEM_RANGES);
	for (size_t i = 0; i < ROW_SEGS; i++)
		unmap(u, u->rows[i], UNWIND_MEM_ROWS);
	unmap(u, u->pages, UNWIND_MEM_PAGES);
	unmap(u, u->rules, UNWIND_MEM_RULES);
	free(u);
}

const struct unwind_walk *unwind_user__walk(struct unwind_user *u, const struct proc *proc,
					    const uint64_t regs[UNWIND_PT_CNT], unwind_read_fn read,
					    void *ctx)
{
	u->read = read;
	u->read_ctx = ctx;
	u->walk.proc = *proc;
	memcpy(u->walk.regs, regs, sizeof(u->walk.regs));
	env = u;
	if (!unwind_begin(&u->walk)) {
		for (int i = 0; i < UNWIND_CALLS; i++)
			if (unwind_frames(0))
				break;
	}
	unwind_end(&u->walk);
	env = NULL;
	return &u->walk;
}

const struct unwind_walk *unwind_user__thread(struct unwind_user *u, uint32_t tgid,
					      const uint64_t regs[UNWIND_PT_CNT],
					      unwind_read_fn read, void *ctx)
{
	struct proc proc;

	if (!unwind_store__proc(u->store, tgid, &proc))
		return NULL;
	return unwind_user__walk(u, &proc, regs, read, ctx);
}
