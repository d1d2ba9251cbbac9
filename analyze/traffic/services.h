/* SPDX-License-Identifier: BSD-2-Clause */
/* What addresses are called: a table "cidr-or-ip[:port],service[,region[,cluster]]" that a user
 * keeps. */
#ifndef ANALYZE_SERVICES_H
#define ANALYZE_SERVICES_H

#include <stdint.h>

#include "format/records.h"

struct services;

struct service {
	const char *name, *region, *cluster; /* the latter two "" when not given */
};

/* Reads a CSV file (RFC 4180 quotes, # remarks, an optional heading). A bad line is reported with
 * its number: -EINVAL; a file that cannot be read: another negative errno, reported. */
int services__open(struct services **s, const char *path);
void services__free(struct services *s);

/* The entry for an address as the archive writes it: one with this port before one without, the
 * longest prefix first. Unix sockets by their path. NULL: none; s may be NULL. */
const struct service *services__find(const struct services *s, struct span addr, uint32_t port);

/* Every entry; s may be NULL. */
void services__each(const struct services *s, void (*fn)(void *ctx, const struct service *service),
		    void *ctx);

#endif
