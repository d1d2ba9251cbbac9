/* SPDX-License-Identifier: BSD-2-Clause */
/* Envelopes and segments of the Cassandra native protocol, and the bid on them. */
#ifndef ANALYZE_L7_CASSANDRA_FRAME_H
#define ANALYZE_L7_CASSANDRA_FRAME_H

#include "analyze/l7/engine/l7.h"

enum cql_opcode {
	CQL_ERROR = 0,
	CQL_STARTUP = 1,
	CQL_READY = 2,
	CQL_AUTHENTICATE = 3,
	CQL_OPTIONS = 5,
	CQL_SUPPORTED = 6,
	CQL_QUERY = 7,
	CQL_RESULT = 8,
	CQL_PREPARE = 9,
	CQL_EXECUTE = 10,
	CQL_REGISTER = 11,
	CQL_EVENT = 12,
	CQL_BATCH = 13,
	CQL_AUTH_CHALLENGE = 14,
	CQL_AUTH_RESPONSE = 15,
	CQL_AUTH_SUCCESS = 16,
};

enum cql_flags { CQL_COMPRESSED = 1, CQL_TRACING = 2, CQL_PAYLOAD = 4, CQL_WARNING = 8 };
enum { CQL_HEAD = 9, CQL_CRC_SZ = 4, CQL_LOOK = 2048 };

struct cql_envelope {
	uint8_t version, flags, opcode;
	bool response;
	uint16_t stream;
	uint32_t len;	  /* of the body */
	const uint8_t *p; /* body, of which `have` bytes are in view */
	size_t have;
};

/* Version 5: contains envelopes once both sides have agreed. */
struct cql_segment {
	unsigned head; /* header size: 6, or 8 with compression */
	uint32_t len;  /* payload length on the wire; a 4-byte CRC follows */
	uint32_t raw;  /* payload length before compression; 0: not compressed */
	bool whole;    /* contains whole envelopes */
};

enum cql_at { CQL_IS, CQL_SHORT, CQL_NOT };
/* Parses the header at p, of which `have` bytes are in view. */
enum cql_at cql_envelope_at(const uint8_t *p, size_t have, struct cql_envelope *e);
enum cql_at cql_segment_at(const uint8_t *p, size_t have, struct cql_segment *s);

const char *cql_opcode_name(unsigned opcode); /* NULL: none */
const char *cql_error_name(uint32_t code);    /* NULL: none */

size_t cql_resync(const struct l7_view *v, size_t from);
int cql_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);

#endif
