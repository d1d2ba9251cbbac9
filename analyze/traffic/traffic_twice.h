/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets recorded in several archives of one host, as with obrec -a and -p at the same time. Such
 * a socket is one connection, and at each moment one of the archives counts: the one that saw more
 * of it. Archives that recorded one after the other add up.
 */
#ifndef ANALYZE_TRAFFIC_TWICE_H
#define ANALYZE_TRAFFIC_TWICE_H

#include "analyze/traffic/traffic.h"

/* Sets t->several: the archives of hosts, since their boot, of which others are loaded too. */
void traffic_find_several(struct traffic *t);
/* Finds the sockets, and counts the statistics that were held until then. 0 or negative errno. */
int traffic_find_twice(struct traffic *t);
/* Whether what c did then counts in another archive. ns: time of the archives. */
bool traffic_is_twice(const struct conn *c, uint64_t ns);
/* The row of the connection, the same in all archives. */
int64_t traffic_row(const struct conn *c);
/* Whether messages of the connection were counted in any archive. */
bool traffic_has_messages(const struct conn *c);

#endif
