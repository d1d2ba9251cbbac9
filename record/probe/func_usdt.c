/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/host/uprobe_multi.h"
#include "record/host/uprobes.h"
#include "record/probe/func_impl.h"
#include "record/probe/func_usdt.h"

int func_usdt_prepare(struct probe_env *env, bool multi)
{
	struct obrec_bpf *skel = env->skel;
	int err = bpf_map__set_max_entries(skel->maps.usdt_sites, USDT_SITES);

	if (multi)
		uprobe_multi__choose(skel->progs.usdt_hits);
	else
		bpf_program__set_autoload(skel->progs.usdt_one, true);
	return err || multi ? err : bpf_map__set_max_entries(skel->maps.usdt_places, USDT_SITES);
}

static bool make_room(struct func_usdt *u)
{
	if (!u->offsets) {
		u->offsets = malloc(USDT_SITES * sizeof(*u->offsets));
		u->cookies = malloc(USDT_SITES * sizeof(*u->cookies));
		u->counters = malloc(USDT_SITES * sizeof(*u->counters));
	}
	return u->offsets && u->cookies && u->counters && u->cnt < USDT_SITES;
}

/* Places with equal code of the same probe cannot be told and need not be, if their arguments are
 * in the same places too. */
static bool tell_place(struct probe_env *env, const struct func_place *place, uint32_t number,
		       const struct usdt_args *args)
{
	int places = bpf_map__fd(env->skel->maps.usdt_places);
	int sites = bpf_map__fd(env->skel->maps.usdt_sites);
	struct usdt_args before;
	uint32_t other;
	int err = bpf_map_update_elem(places, place, &number, BPF_NOEXIST);

	if (!err)
		return true;
	if (err == -EEXIST && !bpf_map_lookup_elem(places, place, &other) &&
	    !bpf_map_lookup_elem(sites, &other, &before) && !memcmp(&before, args, sizeof(before)))
		return true;
	loss__add(env->loss, "func",
		  err == -EEXIST ? "USDT probe: its code is like that of another one"
				 : "USDT probe: too many places",
		  1);
	return false;
}

bool func_usdt_add(struct probe_env *env, struct func_usdt *u, uint64_t wants,
		   const struct usdt_site *site, const struct func_place *place, const char *binary)
{
	struct funcs *f = func_state(env);
	struct usdt_args args = {.cnt = site->arg_cnt};

	if (f->usdt_cnt == USDT_SITES || !make_room(u)) {
		loss__add(env->loss, "func", "USDT probe: too many places", 1);
		return false;
	}
	if (!func_attach_number_once(env, site->name, binary, wants, &args.probe))
		return false;
	memcpy(args.arg, site->arg, site->arg_cnt * sizeof(*site->arg));
	if (!func_is_multi(env) && !tell_place(env, place, f->usdt_cnt, &args))
		return false;
	bpf_map_update_elem(bpf_map__fd(env->skel->maps.usdt_sites), &f->usdt_cnt, &args, BPF_ANY);
	for (uint32_t i = 0; i < site->arg_cnt; i++)
		u->not_understood += FUNC_WANTED(wants, i) && site->arg[i].kind == USDT_UNKNOWN;
	message_verbose("%s: %s at %#llx%s", binary, site->name, (unsigned long long)site->offset,
			site->counter ? ", with semaphore" : "");
	u->offsets[u->cnt] = site->offset;
	u->cookies[u->cnt] = f->usdt_cnt++;
	u->counters[u->cnt++] = site->counter;
	u->counted |= site->counter != 0;
	return true;
}

int func_usdt_attach(struct probe_env *env, const struct func_usdt *u, uint32_t set, int fd)
{
	bool multi = func_is_multi(env);
	struct obrec_bpf *skel = env->skel;
	const struct uprobe_places at = {
		.prog_fd = bpf_program__fd(multi ? skel->progs.usdt_hits : skel->progs.usdt_one),
		.offsets = u->offsets,
		.cookies = u->cookies,
		.counters = u->counted ? u->counters : NULL,
		.cnt = u->cnt,
		.multi = multi};

	if (u->not_understood)
		message_warn("func: %u arguments of USDT probes are not understood: shown as "
			     "(unreadable)",
			     u->not_understood);
	return u->cnt ? uprobes__attach(env->uprobes, set, fd, &at) : 0;
}

void func_usdt_fini(struct func_usdt *u)
{
	free(u->offsets);
	free(u->cookies);
	free(u->counters);
}
