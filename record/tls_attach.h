/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of bpf/tls*.bpf.c at the sites of a file: all of it by a few links where the kernel
 * can (uprobe_multi.h), which the caller has to detach, else by one for each, which are the
 * session's.
 */
#ifndef RECORD_TLS_ATTACH_H
#define RECORD_TLS_ATTACH_H

#include "probe.h"
#include "tls_find.h"

struct tls_links {
	int *fds;
	size_t cnt;
};

/* Skeleton open, not loaded. */
void tls_attach_prepare(struct probe_env *env);
/* The descriptor is needed only now. The first error; what was attached by then stays. */
int tls_attach(struct probe_env *env, struct tls_links *links, int fd, const struct tls_site *sites,
	       size_t cnt);
void tls_detach(struct tls_links *links);

#endif
