/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "record/intake/intake.h"
#include "record/probe/probe.h"
#include "record/probe/sleeper.h"

char sleeper_state(uint32_t tgid, uint32_t tid, uint64_t *switches)
{
	unsigned long voluntary = 0, forced = 0;
	char path[64], line[128], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", tgid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &state);
		sscanf(line, "voluntary_ctxt_switches: %lu", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %lu", &forced);
	}
	fclose(f);
	*switches = voluntary + forced;
	return state;
}

/* Returns true if the thread is still in the wait that the iterator saw. */
static bool still(const struct offcpu_open *open)
{
	uint64_t switches = 0;
	char state = sleeper_state(open->tgid, open->tid, &switches);

	return state && state != 'R' && switches == open->switches;
}

uint64_t sleeper_stack(struct probe_env *env, struct unwind_user *u, const struct offcpu_open *open,
		       struct stack_memory *m, unsigned kind)
{
	struct {
		struct wire_stack s;
		uint64_t frames[WIRE_MAX_FRAMES];
	} def = {.s = {.hash = WIRE_NOT_TAKEN, .error = STACK_NOT_TAKEN}};
	const struct unwind_walk *w = NULL;

	if (u && open)
		w = unwind_user__thread(u, open->tgid, (const uint64_t *)open->regs,
					stack_memory_read, m);
	if (w && w->stack.frame_cnt <= WIRE_MAX_FRAMES && still(open)) {
		def.s = w->stack;
		def.s.tgid = open->tgid;
		if (def.s.error) /* as in core.bpf.c */
			def.s.hash ^= (uint64_t)open->tgid << 32;
		memcpy(def.frames, w->frames, w->stack.frame_cnt * sizeof(def.frames[0]));
	}
	def.s.hdr = (struct wire_hdr){.kind = WIRE_STACK, .probe = kind};
	intake__stack(env->intake, &def.s);
	return def.s.hash;
}
