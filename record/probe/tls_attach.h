/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches the programs of bpf/tls*.bpf.c to the TLS sites of a file: with a few links for all
 * sites if the kernel supports it (uprobe_multi.h), else with one link per site. */
#ifndef RECORD_TLS_ATTACH_H
#define RECORD_TLS_ATTACH_H

#include "record/probe/probe.h"
#include "record/binary/tls_find.h"

/* Call after open, before load. */
void tls_attach_prepare(struct probe_env *env);
/* The descriptor is used only during the call. Returns the first error; what was attached before
 * it stays in the set (uprobes.h). */
int tls_attach(const struct probe_env *env, uint32_t set, int fd, const struct tls_site *sites,
	       size_t cnt);

#endif
