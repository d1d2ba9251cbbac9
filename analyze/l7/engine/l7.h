/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Turns the bytes of a connection into messages.
 *
 * A connection is two byte streams that may have holes. The engine (engine.c) orders the pieces of
 * each stream (stream.c), asks every protocol for a bid (bid.c), lets the winner parse both
 * directions in time order (advance.c), and pairs requests with responses (pair.c). A protocol is
 * one file that exports one const struct l7_protocol, and one line in format/protocols.def. It sees
 * only views and its own state, never the archive, the database or another protocol.
 *
 * Lifecycle: l7_conn__new, __feed for each piece, __finish, __free. Exchanges are passed to the
 * sink as soon as they are complete. Data passed to the sink is valid only during that call.
 */
#ifndef ANALYZE_L7_H
#define ANALYZE_L7_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"
#include "analyze/l7/engine/cursor.h"

/* As seen by the recorded process. */
enum l7_dir { L7_SENT = 0, L7_RECEIVED = 1 };
enum l7_role { L7_ROLE_UNKNOWN = 0, L7_CLIENT = 1, L7_SERVER = 2 };

/* Received bytes that waited to be read. */
enum l7_unread { L7_UNREAD_UNKNOWN = 0, L7_UNREAD_NONE, L7_UNREAD_SOME };

/* The bytes of one system call, datagram or TCP segment: `len` bytes in all, of which the first
 * data.len were captured. */
struct l7_piece {
	enum l7_dir dir;
	enum l7_unread unread; /* when it was sent */
	uint64_t pos;	       /* of its first byte in this direction of the connection */
	uint64_t len;
	uint64_t ts_ns;
	struct span data;
	bool datagram; /* a message boundary by itself */
	uint32_t peer; /* caller's number of the peer of this datagram; 0: all have the same peer */
};

/*
 * The input of a parser: captured bytes without a gap, from a message boundary to the end of a
 * call. With `cut` the call had more bytes, which were not captured and will never come. `known`
 * includes them (otherwise known == len).
 */
struct l7_view {
	const uint8_t *p;
	size_t len;
	uint64_t known;
	uint64_t pos;	/* of the first byte in its direction */
	uint64_t ts_ns; /* time of the first byte */
	bool requests;	/* this direction carries requests (client to server) */
	bool cut;
	bool last; /* no more data will come: a partial message stays partial */
	bool full; /* the buffer limit is reached: no more bytes of the message are added */
	bool datagram;
	uint32_t peer; /* of the piece */
	enum l7_unread unread;
};

/* Result of parse: size of the whole message on the wire, or one of these. The size may exceed
 * view.len; the engine skips the rest. */
#define L7_PARTIAL 0 /* undecided: more contiguous bytes are needed */
#define L7_BAD                                                                                     \
	(-1) /* not this protocol, or out of step: the engine looks for the next boundary          \
	      */

enum l7_type {
	L7_SKIP, /* bytes that end no message: preface, settings, a frame of a longer message */
	L7_REQUEST,
	L7_RESPONSE,
	L7_ONEWAY, /* a message without a response, in either direction */
};

/* Which waiting request a response takes, in protocols that pair in order. */
enum l7_takes {
	L7_OLDEST,   /* the oldest request */
	L7_BY_ORDER, /* the request with the same `id`, derived from order: quiet requests before
		      * it are skipped; no match: no request */
	L7_BY_NAME,  /* the same, but the message itself names the request, so it is reliable
		      * after a hole, too. Request ids increase */
};

/*
 * One message, filled by parse; zeroed before the call. Strings are spans into the view, the
 * parser's state, or l7_text memory. The engine copies what must outlive the call.
 */
struct l7_message {
	enum l7_type type;
	uint64_t id;	/* pairing key, for protocols with pair_by_id, or as `takes` says */
	uint64_t note;	/* request: private to the parser, for l7_pending */
	uint32_t kinds; /* pairing in order. Response: one bit, its kind. Request: bit mask of
			 * the response kinds it allows. 0: any. Errors fit any request */
	bool quiet;	/* request, pairing in order: may legitimately stay unanswered. It
			 * becomes one-way when a later request is answered, or at the end */
	bool waits;	 /* request that waits for something to happen: it may stay unanswered */
	enum l7_takes takes;
	bool interim; /* response: the final one follows (1xx) */
	bool cut;     /* the end is unknown, because bytes were not captured. The engine skips the
		       * rest of the call, whatever parse returned, and treats what follows as after
		       * a hole */
	bool opaque_after;   /* what follows is another protocol (Upgrade, CONNECT, STARTTLS) */
	const char *goes_on; /* name of the protocol that both directions switch to; the oldest
			      * waiting request is its first request, with id 1 */
	bool no_end;	     /* response: its end was not seen; the last byte came later */
	bool no_begin;	     /* response: its beginning was not seen; it began before first_ns */
	bool partial;	     /* bytes were missed: the message is larger than `size` */
#define L7_NO_END                                                                                  \
	"{\"end\":\"not seen\",\"response_bytes\":\"at least\"}" /* `detail` when both apply */
	bool is_error;
	struct span method;   /* command, verb, RPC method */
	struct span target;   /* path template, key pattern, statement digest, topic */
	struct span status;   /* "200", "OK", "ERR" */
	struct span detail;   /* JSON object text with further attributes; empty for none */
	const char *protocol; /* NULL: that of the connection; else for example gRPC over HTTP/2 */

	/* Set by the engine from the bytes consumed. A parser that assembles a message from several
	 * frames sets the first two. */
	uint64_t first_ns; /* time of the first byte */
	uint64_t size;	   /* bytes on the wire */
	uint64_t missed;   /* unparsed bytes of this direction before it; the flag below */
#define L7_MISSED_UNKNOWN (1ull << 40) /* says that they may include parts of messages seen */
	uint64_t last_ns;	       /* time of the last byte */
	uint64_t pos; /* of its first byte in its direction, unless the parser set it */
	enum l7_dir dir;
	uint32_t peer;	       /* of its piece; only messages of the same peer are paired */
	enum l7_unread unread; /* responses that waited to be read when the request was sent */
};

enum l7_why {
	L7_UNANSWERED, /* no bytes were missed: no response came, no request matches, or the
			* request came before the capture */
	L7_NOT_KEPT,   /* the other half may be in bytes that were not captured */
	L7_LOST,       /* the other half may be in bytes that were lost */
	L7_LATE,       /* capture began while requests may have been outstanding: it is unknown
			* which response answers which request */
};

/* A request with its response. */
struct l7_exchange {
	const struct l7_message *request;  /* NULL: only the response was seen */
	const struct l7_message *response; /* NULL: not seen, or none exists (oneway) */
	bool paired;			   /* request and response are known to belong together */
	enum l7_why why;		   /* if not paired: the reason */
};

/* Parser context, for the calls to the engine below. */
struct l7_parser {
	void *state;	 /* of the protocol, for both directions: state_sz bytes, zeroed at first */
	bool after_hole; /* bytes before this view are missing; state may be stale */
	void *engine;
	struct arena *arena; /* for l7_text and l7_keep */
	const struct l7_conn_opts *opts;
};

/*
 * Returns the request that a response would be paired with now: the oldest waiting one, or the one
 * with that id. NULL: none. The format of a response can depend on it (HEAD, prepared statements).
 */
const struct l7_message *l7_pending(const struct l7_parser *parser, uint64_t id);

/* Adds `size` bytes of the view to that waiting request: bulk data that follows it. */
void l7_grow(struct l7_parser *parser, uint64_t id, const struct l7_view *view, uint64_t size);

/* Pairing in order: the request that waits after m. NULL: none. */
const struct l7_message *l7_pending_next(const struct l7_message *m);

/* Passes a message to pairing ahead of the one that parse fills. It ended before this view, but its
 * end is known only now. The caller sets first_ns, last_ns, size and dir. */
void l7_deliver(struct l7_parser *parser, const struct l7_message *m);

/* Marks a message whose end was not seen: `detail` says so, and that the size is a minimum. */
void l7_partial(struct l7_parser *parser, struct l7_message *m);

/* The direction that carries requests. */
enum l7_dir l7_requests_dir(const struct l7_parser *parser);

/* With pair_by_id: no response will come for this request. It is delivered unpaired. */
void l7_give_up(struct l7_parser *parser, uint64_t id);

/* printf into memory that lives until the message is delivered. Escape JSON strings with l7_json
 * first. */
struct span l7_text(struct l7_parser *parser, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A NUL-terminated copy with the same lifetime. */
struct span l7_keep(struct l7_parser *parser, struct span s);

struct l7_protocol {
	const char *name;
	/*
	 * Returns the confidence, 0..100, that the connection speaks this protocol, from the first
	 * captured bytes of each direction. Either view may be empty. If capture began in the
	 * middle of the connection, the views begin at a call boundary. 0: impossible. 100: cannot
	 * be anything else. Below 50 counts only with a well-known port. Below 70 does not count if
	 * earlier calls were skipped as unrecognized. bid is called again for later calls, so
	 * random bytes must not be accepted.
	 *
	 * *requests_sent is set to 1 if the content shows that the recorded process sends the
	 * requests, to 0 if it receives them, and not changed if the content does not tell.
	 */
	int (*bid)(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);
	/* Parses one message (or frame) at view->p. */
	int64_t (*parse)(struct l7_parser *parser, const struct l7_view *view,
			 struct l7_message *m);
	/*
	 * After a hole: returns the offset of the next certain message boundary at or after `from`,
	 * or view->len if there is none. NULL: only the beginning of a call may be a boundary, and
	 * parse decides.
	 */
	size_t (*resync)(const struct l7_view *view, size_t from);
	/* Bytes of that direction are missing from here on; pairing has not been told yet. Calls
	 * l7_deliver for messages that ended before. May be NULL. */
	void (*hole)(struct l7_parser *parser, bool requests);
	/* The view has no bytes: `known` bytes were not captured. Returns whether they belong to a
	 * message that goes on behind them, or ends with them (l7_deliver); otherwise they are a
	 * hole. May be NULL. */
	bool (*unkept)(struct l7_parser *parser, const struct l7_view *view);
	/* No more data will come: calls l7_deliver for messages that waited for their end. May be
	 * NULL. */
	void (*finish)(struct l7_parser *parser);
	size_t state_sz;
	bool state_stays; /* state must not be moved: it may point into itself */
	void (*fini)(void *state);
	bool pair_by_id;
	bool asks_singly;  /* in order; clients send one request at a time */
	bool datagrams;	   /* also used over datagrams */
	uint16_t ports[6]; /* well-known ports, a hint for weak bids; 0 ends the list */
};

/* ---- shared by parsers ---- */

/*
 * Replaces the variable parts of a path or key. Segments (between / : . | - _ and the like) that
 * are numbers become {n}, UUIDs {uuid}, long hexadecimal or mixed tokens {id}. The result is in
 * `dst`, of dst_sz bytes. "/users/17/a" gives "/users/{n}/a".
 */
struct span l7_fold(struct span s, char *dst, size_t dst_sz);

/* Upper-case ASCII copy, truncated to dst_sz. */
struct span l7_upper(struct span s, char *dst, size_t dst_sz);

/* s escaped as the inside of a JSON string, in parser memory; input is truncated to `max` bytes. */
struct span l7_json(struct l7_parser *parser, struct span s, size_t max);

static inline bool l7_is(struct span s, const char *text)
{
	return s.len == __builtin_strlen(text) && !__builtin_memcmp(s.p, text, s.len);
}

/* ---- connections ---- */

struct l7_conn;

/* An argument of an RPC to be shown (--thrift-arg METHOD:1.3=name). */
struct l7_arg {
	const char *method, *path, *name;
};

struct l7_conn_opts {
	enum l7_role role;
	uint16_t server_port; /* 0: not known */
	bool late;	      /* open before capture; requests may be outstanding */
	bool open;	      /* still open after capture; the last message may continue */
	const struct l7_protocol *only; /* NULL: detect by bids */
	void (*sink)(void *ctx, struct l7_conn *conn, const struct l7_exchange *x);
	void *ctx;
	const struct l7_arg *args; /* must live as long as the connection */
	size_t arg_cnt;
	struct arena *arena; /* of parsers, shared by connections that are fed in turn; NULL: the
			      * connection's own */
	size_t max_buffer;   /* limit of bytes held per direction for reordering and partial
			      * messages; 0: 1 MiB */
};

int l7_conn__new(struct l7_conn **c, const struct l7_conn_opts *opts);
/* Adds a piece. Pieces of one direction may be slightly out of order. Copies what it must keep. 0
 * or -ENOMEM. */
int l7_conn__feed(struct l7_conn *c, const struct l7_piece *piece);
/* End of data: parses what is left and delivers waiting requests unpaired. */
void l7_conn__finish(struct l7_conn *c);
void l7_conn__free(struct l7_conn *c);

const struct l7_protocol *l7_conn__protocol(const struct l7_conn *c); /* NULL: unknown */
enum l7_role l7_conn__role(const struct l7_conn *c);		      /* as given or detected */

struct l7_stats {
	uint64_t messages, paired, unpaired, holes, bad, resyncs, opaque_bytes;
	/* Places where payload was not captured and therefore the next message boundary was
	 * unknown; bytes not captured there, and the size of the longest call among them. */
	uint64_t unkept_places, unkept_bytes, unkept_call;
	uint64_t missing; /* messages that those places held, as far as known */
};
struct l7_stats l7_conn__stats(const struct l7_conn *c);

/* Position behind the last byte of a direction. */
uint64_t l7_conn__end(const struct l7_conn *c, enum l7_dir dir);
/* Approximate memory in use now. */
size_t l7_conn__held(const struct l7_conn *c);
/* Time of the last piece. */
uint64_t l7_conn__now_ns(const struct l7_conn *c);

/*
 * Compact form of an idle connection, in a fraction of the memory. __rest consumes the connection,
 * or returns NULL and leaves it unchanged (it still holds data, its arena is not the caller's, or
 * memory is short). __wake restores the connection and frees the compact form, or returns NULL and
 * leaves it unchanged. __held does not count waiting messages.
 */
struct l7_rest;
struct l7_rest *l7_conn__rest(struct l7_conn *c);
struct l7_conn *l7_rest__wake(struct l7_rest *r);
size_t l7_rest__held(const struct l7_rest *r);

/* All protocols, in the order of format/protocols.def; NULL ends the array. */
extern const struct l7_protocol *const l7_protocols[];

/* A cursor over the bytes of a view. */
static inline struct l7_cursor l7_cursor(const struct l7_view *v)
{
	return l7_cursor_at(v->p, v->len);
}

#endif
