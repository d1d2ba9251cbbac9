/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "idmap.h"
#include "../format/clock.h"
#include "listeners.h"

#define FRESH_NS 1000000000ULL

/* A bit a port; TCP, then UDP. */
struct ports {
	uint64_t read_ns;
	uint64_t bits[2][1024];
};

struct listeners {
	struct idmap by_netns;
};

int listeners__new(struct listeners **l)
{
	*l = calloc(1, sizeof(**l));
	return *l ? 0 : -ENOMEM;
}

void listeners__free(struct listeners *l)
{
	struct ports *p;

	if (!l)
		return;
	for (size_t i = 0; (p = idmap_next(&l->by_netns, &i));)
		free(p);
	idmap_fini(&l->by_netns);
	free(l);
}

/*
 * proc(5), /proc/net/tcp:  sl  local_address rem_address   st ...
 *                          0: 0100007F:18EB 00000000:0000 0A
 * 0A is TCP_LISTEN; a UDP socket that receives from anyone is 07 with no remote port.
 */
static void read_table(uint32_t pid, const char *name, unsigned state, uint64_t bits[1024])
{
	char path[64], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/net/%s", pid, name);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		unsigned port, remote, st;

		if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%x %x", &port, &remote,
			   &st) == 3 &&
		    st == state && port < 65536)
			bits[port / 64] |= 1ULL << port % 64;
	}
	fclose(f);
}

static void refresh(struct ports *p, uint32_t pid)
{
	memset(p->bits, 0, sizeof(p->bits));
	read_table(pid, "tcp", 10, p->bits[0]);
	read_table(pid, "tcp6", 10, p->bits[0]);
	read_table(pid, "udp", 7, p->bits[1]);
	read_table(pid, "udp6", 7, p->bits[1]);
	p->read_ns = clock_ns(CLOCK_MONOTONIC_COARSE);
}

bool listeners__has(struct listeners *l, uint64_t netns, uint32_t pid, uint32_t transport,
		    uint16_t port)
{
	struct ports *p = idmap_get(&l->by_netns, netns);
	unsigned i = transport == IPPROTO_UDP;

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p || idmap_put(&l->by_netns, netns, p)) {
			free(p);
			return false;
		}
	}
	if (!(p->bits[i][port / 64] >> port % 64 & 1) &&
	    clock_ns(CLOCK_MONOTONIC_COARSE) - p->read_ns > FRESH_NS)
		refresh(p, pid);
	return p->bits[i][port / 64] >> port % 64 & 1;
}
