/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of messages. */
#ifndef ANALYZE_MESSAGE_FILTER_H
#define ANALYZE_MESSAGE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/* Lists are comma-separated patterns (* and ?), case ignored; NULL: all. */
struct message_filter {
	const char *protocol, *method, *target, *peer, *role, *service;
	const char *status; /* besides, 5xx stands for 500 to 599 */
	uint64_t slower_ns; /* at least this long; unpaired ones are not */
	bool errors;
	bool one_connection;
	int64_t connection;
};

struct message_facts {
	struct span protocol, method, target, status, role, service;
	struct span peer, peer_addr; /* either may match */
	uint64_t latency_ns;
	bool timed, error;
	int64_t connection;
};

bool message_filter_any(const struct message_filter *f);
bool message_filter_wants(const struct message_filter *f, const struct message_facts *m);
/* What can be told before there is a message. */
bool message_filter_wants_side(const struct message_filter *f, const struct message_facts *m);

#endif
