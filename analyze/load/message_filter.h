/* SPDX-License-Identifier: BSD-2-Clause */
/* Message filters. */
#ifndef ANALYZE_MESSAGE_FILTER_H
#define ANALYZE_MESSAGE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

/* Lists are comma-separated patterns with * and ?, case-insensitive. NULL: all. */
struct message_filter {
	const char *protocol, *method, *target, *peer, *role, *service;
	const char *detail; /* KEY=VALUE of a field of the request or the response */
	const char *status; /* 5xx also matches 500 to 599 */
	uint64_t slower_ns; /* minimum latency; unpaired messages do not match */
	bool errors;
	bool one_connection;
	int64_t connection;
};

struct message_facts {
	struct span protocol, method, target, status, role, service;
	struct span peer, peer_addr; /* a match of either is sufficient */
	uint64_t latency_ns;
	bool timed, error;
	struct span detail[2];
	int64_t connection;
};

bool message_filter_any(const struct message_filter *f);
bool message_filter_wants(const struct message_filter *f, const struct message_facts *m);
/* Whether a message can match, from what is known before it is complete. */
bool message_filter_wants_side(const struct message_filter *f, const struct message_facts *m);

#endif
