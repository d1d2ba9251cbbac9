/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ends of connections are called: by --services, else container and process, else address.
 * Names are strings of traffic.strings. */
#ifndef ANALYZE_TRAFFIC_NAMES_H
#define ANALYZE_TRAFFIC_NAMES_H

#include "analyze/traffic/traffic.h"

/* The service that --services names for an address; 0: none. */
uint32_t traffic_service_name(struct traffic *t, struct span addr, uint32_t port);
/* The recorded process's own end. */
uint32_t traffic_own_name(struct traffic *t, const struct conn *c);
/* The other end by its address: ADDRESS, or ADDRESS:PORT when it is that of a server. */
uint32_t traffic_address_name(struct traffic *t, const struct conn *c, struct span a,
			      uint32_t port);
/* The other end of a Unix socket by its pid. */
uint32_t traffic_pid_name(struct traffic *t, const struct conn *c);
/* Of the recorded process; 0: not known. */
uint32_t traffic_pid(struct traffic *t, const struct conn *c);

#endif
