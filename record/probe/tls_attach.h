/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of bpf/tls*.bpf.c at the sites of a file: all of it by a few links where the kernel
 * can (uprobe_multi.h), else by one for each.
 */
#ifndef RECORD_TLS_ATTACH_H
#define RECORD_TLS_ATTACH_H

#include "record/probe/probe.h"
#include "record/binary/tls_find.h"

/* Skeleton open, not loaded. */
void tls_attach_prepare(struct probe_env *env);
/* The descriptor is needed only now. The first error; what was attached by then stays in `links`.
 */
int tls_attach(const struct probe_env *env, int fd, const struct tls_site *sites, size_t cnt,
	       struct links *links);

#endif
