/* SPDX-License-Identifier: BSD-2-Clause */
/* Which ports are listened on, by network namespace: /proc/PID/net of a process in it, read again
 * at most once a second. */
#ifndef RECORD_LISTENERS_H
#define RECORD_LISTENERS_H

#include <stdbool.h>
#include <stdint.h>

struct listeners;

int listeners__new(struct listeners **l);
void listeners__free(struct listeners *l);

/* Is `port` listened on in that namespace, of which `pid` is a member? transport: IP protocol
 * number. */
bool listeners__has(struct listeners *l, uint64_t netns, uint32_t pid, uint32_t transport,
		    uint16_t port);

#endif
