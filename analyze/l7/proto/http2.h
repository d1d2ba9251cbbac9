/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of HTTP/2: their state and the messages built from them. http2.c parses the frames,
 * http2_stream.c keeps streams until both sides have ended, http2_frame.c knows the frame formats.
 */
#ifndef ANALYZE_L7_HTTP2_H
#define ANALYZE_L7_HTTP2_H

#include "format/hpack.h"
#include "format/text.h"
#include "analyze/l7/engine/l7.h"

/* ---- frames (RFC 9113 4, 6) ---- */

enum { H2_FRAME_HEAD = 9, H2_PREFACE_SZ = 24 };
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

enum h2_type {
	H2_DATA,
	H2_HEADERS,
	H2_PRIORITY,
	H2_RST_STREAM,
	H2_SETTINGS,
	H2_PUSH_PROMISE,
	H2_PING,
	H2_GOAWAY,
	H2_WINDOW_UPDATE,
	H2_CONTINUATION,
	H2_ALTSVC, /* RFC 7838 */
	H2_ORIGIN = 12,
	H2_PRIORITY_UPDATE = 16, /* RFC 9218 */
};

enum h2_flags {
	H2_END_STREAM = 1,
	H2_ACK = 1,
	H2_END_HEADERS = 4,
	H2_PADDED = 8,
	H2_WITH_PRIORITY = 32
};

struct h2_frame {
	uint32_t len; /* of the payload */
	enum h2_type type;
	uint8_t flags; /* flags that its type defines */
	bool odd;      /* flags were set that its type does not define */
	uint32_t stream;
};

/* Parses the frame header at p (H2_FRAME_HEAD bytes). False: not a frame header. */
bool h2_frame(const uint8_t *p, struct h2_frame *f);

/* Bytes before and after the actual payload of a frame. False: they exceed it. Padding of which the
 * length was not captured counts as none. */
bool h2_payload(const struct h2_frame *f, const uint8_t *p, size_t have, uint32_t *before,
		uint32_t *after);

/* What the first bytes of a connection look like, or those of a call if capture began later. */
/* H2_FRAMES_WEAK: frame headers that may be there by chance. */
enum h2_shape { H2_NOTHING, H2_OTHER, H2_FRAMES_WEAK, H2_FRAMES, H2_FRAMES_SURE, H2_BEGINS };
/* *requests: 1 requests, 0 responses, -1 unknown. `odd`: accept undefined flags, which a peer known
 * to speak HTTP/2 may set. */
enum h2_shape h2_shape(const struct l7_view *v, bool odd, int *requests);

/* Do the frames from `from` on end at the end of the call, or are there enough to be certain? */
bool h2_chain(const struct l7_view *v, size_t from);
/* The same, and the header blocks among them must be readable. The cost is proportional to their
 * size. */
bool h2_in_step(const struct l7_view *v, size_t from);

/* ---- header blocks ---- */

enum { H2_STATUS_UNKNOWN = -1, H2_STATUS_NONE = -2 };

struct h2_head {
	struct span method, path, authority, agent, client, message; /* owned while not empty */
	unsigned client_rank;					     /* of client_address() */
	int status;		/* HTTP status, or one of the above */
	int grpc_status;	/* gRPC status, or one of the above */
	bool is_grpc, is_other; /* by content-type: known to be gRPC, known not to be */
	bool unknown;		/* there were fields of unknown name */
};

void h2_head_field(struct h2_head *h, const struct hpack_field *f);
void h2_head_fini(struct h2_head *h);

/* ---- streams ---- */

/* One side of a stream. */
struct h2_half {
	bool begun, ended;
	uint64_t first_ns, last_ns, size;
	/* gRPC messages in it: length-prefixed, across frames */
	bool uncounted; /* bytes were missed: the number of messages is unknown */
	bool missed;	/* part of this half was missed, at least a frame header */
	bool no_begin;	/* its beginning was missed */
	uint32_t messages;
	uint64_t body_left;
	uint8_t prefix[5], prefix_sz;
};

struct h2_stream {
	struct h2_stream *next; /* next in its bucket or in the list of dead streams */
	struct h2_stream *older, *newer;
	uint32_t id;
	struct h2_half half[2]; /* responses, requests */
	struct h2_head head;
	bool grpc, grpc_known, request_out, pushed, reset;
	bool reset_by_client;
	uint32_t reset_code;
	char status[16], target[256];
};

enum { H2_BUCKETS = 64, H2_CLOSED = 64 };

struct h2_streams {
	struct h2_stream *bucket[H2_BUCKETS], *oldest, *newest;
	size_t cnt;
	uint32_t closed[H2_CLOSED]; /* the last ones closed: further frames begin no new stream */
	unsigned closed_at;
	struct h2_stream *dead;
	bool grpc; /* gRPC was seen on this connection */
};

struct h2_stream *h2_find(struct h2_streams *t, uint32_t id);
bool h2_was_closed(const struct h2_streams *t, uint32_t id);
/* NULL: out of memory. If there are too many streams, the oldest is delivered as it is. */
struct h2_stream *h2_add(struct l7_parser *parser, struct h2_streams *t, uint32_t id);
/* Both sides have ended. The stream can be read until h2_bury. */
void h2_close(struct h2_streams *t, struct h2_stream *s);
void h2_bury(struct h2_streams *t);
void h2_streams_fini(struct h2_streams *t);

/* Fills m with the request or response of a stream. */
void h2_request(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s,
		struct l7_message *m);
void h2_response(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s,
		 struct l7_message *m);
/* Delivers what is known of a stream whose end was not seen. */
void h2_give_out(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s);

const char *h2_error_name(uint32_t code);

#endif
