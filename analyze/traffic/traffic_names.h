/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the ends of connections: by --services, else by container and process, else by address.
 * Names are strings of traffic.strings. */
#ifndef ANALYZE_TRAFFIC_NAMES_H
#define ANALYZE_TRAFFIC_NAMES_H

#include "analyze/traffic/traffic.h"

/* The service that --services assigns to an address; 0: none. */
uint32_t traffic_service_name(struct traffic *t, struct span addr, uint32_t port);
/* The same for the process's own end, if it names what listens there; 0: it does not. */
uint32_t traffic_listener_name(struct traffic *t, const struct conn *c);
/* Name of the recorded process's own end. */
uint32_t traffic_own_name(struct traffic *t, const struct conn *c);
/* Name of the other end by address: ADDRESS, or ADDRESS:PORT if it is a server. */
uint32_t traffic_address_name(struct traffic *t, const struct conn *c, struct span a,
			      uint32_t port);
/* Name of the other end of a Unix socket, by its pid. */
uint32_t traffic_pid_name(struct traffic *t, const struct conn *c);
/* The name of the recorded process's own end, as --by tells it from others of the name. */
uint32_t traffic_split_name(struct traffic *t, const struct conn *c, uint32_t name);
/* The caller's name with the values of the call's arguments that --by names. */
uint32_t traffic_name_with_args(struct traffic *t, uint32_t name, struct span detail);
/* Pid of the recorded process; 0: not known. */
uint32_t traffic_pid(struct traffic *t, const struct conn *c);

#endif
