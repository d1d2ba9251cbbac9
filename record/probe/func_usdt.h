/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes of a file, for the probe func. */
#ifndef RECORD_FUNC_USDT_H
#define RECORD_FUNC_USDT_H

#include "record/binary/usdt_find.h"
#include "record/probe/func_operand.h"
#include "record/probe/probe.h"

/* Places to be attached, together. */
struct func_usdt {
	uint64_t *offsets, *cookies, *counters; /* room for USDT_SITES */
	uint32_t cnt;
	bool counted;
	unsigned not_understood; /* arguments on request */
};

/* Call before loading. multi: a link attaches many places. */
int func_usdt_prepare(struct probe_env *env, bool multi);
/* place: as it will be in memory. Returns false if it is left out, which is counted. */
bool func_usdt_add(struct probe_env *env, struct func_usdt *u, uint64_t wants,
		   const struct usdt_site *site, const struct func_place *place,
		   const char *binary);
/* In the set of uprobes.h. */
int func_usdt_attach(struct probe_env *env, const struct func_usdt *u, uint32_t set, int fd);
void func_usdt_fini(struct func_usdt *u);

#endif
