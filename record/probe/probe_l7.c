/* SPDX-License-Identifier: BSD-2-Clause */
/* The first bytes of what sockets send and receive: a choice of probe l4, which does the work. */
#include "bpf/net/guess.h"
#include "record/probe/probe.h"
#include "obrec.skel.h"

extern const struct probe probe_l4_entry;

/* What is named but cannot be guessed is somewhere in what is not known. */
static uint64_t keep_of(uint64_t chosen)
{
	return chosen & ~guess_known() ? chosen | 1 << NET_PROTO_UNKNOWN : chosen;
}

static int prepare(struct probe_env *env)
{
	struct obrec_bpf *skel = env->skel;

	skel->rodata->net_payload_on = env->opts->payload_max != 0;
	skel->rodata->net_payload_max = env->opts->payload_max;
	skel->rodata->net_payload_many = env->opts->payload_many;
	skel->rodata->net_l7_keep = keep_of(env->opts->l7);
	skel->rodata->net_sample_per_64k = env->opts->sample_per_64k;
	skel->rodata->net_direction = env->opts->direction;
	return 0;
}

const struct probe probe_l7_entry = {
	.name = "l7",
	.bulky = true,
	.needs = &probe_l4_entry,
	.prepare = prepare,
};
