/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of addresses: a user-supplied table "cidr-or-ip[:port],service[,region[,cluster]]". */
#ifndef ANALYZE_SERVICES_H
#define ANALYZE_SERVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

struct services;

struct service {
	const char *name, *region, *cluster; /* region and cluster are "" when not given */
	bool listener; /* the entry has a port, or is a path: it names who listens there */
};

/* Reads a CSV file (RFC 4180 quotes, # comments, optional heading). -EINVAL: a bad line, reported
 * with its number. Another negative errno: the file cannot be read, reported. */
int services__open(struct services **s, const char *path);
void services__free(struct services *s);

/*
 * Returns the entry for an address in archive format. Entries with this port precede entries
 * without a port, then the longest prefix wins. Unix sockets are found by path. NULL: none; s may
 * be NULL.
 */
const struct service *services__find(const struct services *s, struct span addr, uint32_t port);

/* Calls fn for every entry; s may be NULL. */
void services__each(const struct services *s, void (*fn)(void *ctx, const struct service *service),
		    void *ctx);

#endif
