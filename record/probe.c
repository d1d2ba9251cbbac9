/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of probes, and the links that they hold. */
#include "probe.h"

#include <errno.h>
#include <stdlib.h>

#define PROBE(name, on, doc) extern const struct probe probe_##name##_entry;
#include "probes.def"
#undef PROBE

const struct probe *const probes[] = {
#define PROBE(name, on, doc) &probe_##name##_entry,
#include "probes.def"
#undef PROBE
	NULL,
};

int probe_env__keep(struct probe_env *env, struct bpf_link *link)
{
	struct bpf_link **links;

	if (!link)
		return -errno;
	links = realloc(env->links, (env->link_cnt + 1) * sizeof(*links));
	if (!links) {
		bpf_link__destroy(link);
		return -ENOMEM;
	}
	env->links = links;
	links[env->link_cnt++] = link;
	return 0;
}

void probe_env__drop(struct probe_env *env, struct bpf_link *link)
{
	size_t left = 0;

	for (size_t i = 0; i < env->link_cnt; i++)
		if (env->links[i] != link)
			env->links[left++] = env->links[i];
	env->link_cnt = left;
	bpf_link__destroy(link);
}
