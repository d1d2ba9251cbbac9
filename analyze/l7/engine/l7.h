/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the bytes of a connection to its messages.
 *
 * A connection is two byte streams with holes. The engine (engine.c) puts the pieces of each in
 * order (stream.c), asks every protocol for a bid (bid.c), lets the winner parse both directions in
 * the order of time (advance.c), and pairs requests with responses (pair.c). A protocol is one file
 * exporting one const struct l7_protocol and one line in format/protocols.def; it sees only views
 * and its own state, never the archive, the store or another protocol.
 *
 * Life: l7_conn__new, __feed for each piece, __finish, __free; exchanges go to the sink as soon as
 * they are complete. Everything given to the sink is borrowed for that call.
 */
#ifndef ANALYZE_L7_H
#define ANALYZE_L7_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/records.h"
#include "analyze/l7/engine/cursor.h"

/* As the recorded process saw it. */
enum l7_dir { L7_SENT = 0, L7_RECEIVED = 1 };
enum l7_role { L7_ROLE_UNKNOWN = 0, L7_CLIENT = 1, L7_SERVER = 2 };

/* One system call's bytes, a datagram's or a TCP segment's: `len` passed by, the first data.len of
 * them were kept. */
struct l7_piece {
	enum l7_dir dir;
	uint64_t pos; /* of its first byte in this direction of the connection */
	uint64_t len;
	uint64_t ts_ns;
	struct span data;
	bool datagram; /* a message boundary by itself */
	uint32_t peer; /* the caller's number for who is at the other end of this datagram; 0: the
			  same for all */
};

/*
 * What a parser looks at: the bytes kept without a gap from a message boundary on, to the end of a
 * call. With `cut` the call had more bytes, which were not kept and will never come: `known` counts
 * them in (else known == len).
 */
struct l7_view {
	const uint8_t *p;
	size_t len;
	uint64_t known;
	uint64_t pos;	/* of the first byte in its direction */
	uint64_t ts_ns; /* when it passed */
	bool requests;	/* this direction carries requests (client to server) */
	bool cut;
	bool last; /* nothing more will come: what is partial now stays so */
	bool full; /* nor does it here: more of a message than this is not held */
	bool datagram;
	uint32_t peer; /* of the piece */
};

/* parse's result: bytes of the whole message on the wire (may exceed view.len: the rest is passed
 * over), or */
#define L7_PARTIAL 0 /* cannot tell yet: wants more contiguous bytes */
#define L7_BAD                                                                                     \
	(-1) /* not this protocol, or out of step: the engine looks for the next boundary          \
	      */

enum l7_type {
	L7_SKIP, /* bytes that end no message: preface, settings, a frame of a longer message */
	L7_REQUEST,
	L7_RESPONSE,
	L7_ONEWAY, /* a message of its own, in either direction: no response belongs to it */
};

/* Which waiting request a response takes, where the protocol pairs in order. */
enum l7_takes {
	L7_OLDEST,   /* the oldest */
	L7_BY_ORDER, /* that with its `id`, as the order tells: behind quiet ones; none: no other */
	L7_BY_NAME,  /* the same, as the message itself tells: sure behind a hole, too. Requests'
		      * ids rise */
};

/*
 * One message as parse fills it; it comes zeroed. Strings are spans into the view, the parser's
 * state, or l7_text; the engine copies what must outlive the call.
 */
struct l7_message {
	enum l7_type type;
	uint64_t id;	/* pairing key, for protocols with pair_by_id, or as `takes` says */
	uint64_t note;	/* request: the parser's own, for l7_pending */
	uint32_t kinds; /* in order; response: the kind it is of, a bit, request: those that can
			 * answer it; 0: any. Errors are of any kind */
	bool quiet;	/* request, in order: it may rightly stay without an answer; it is one-way
			 * once a later one is answered, or at the end */
	enum l7_takes takes;
	bool interim; /* response: the final one follows (1xx) */
	bool cut; /* its end is not known (bytes that were not kept): the rest of the call is passed
		   * over, whatever n parse returned, and what follows counts as after a hole */
	bool opaque_after;   /* the rest of both directions is another protocol (Upgrade, CONNECT,
				STARTTLS) */
	const char *goes_on; /* name of the protocol that the rest of both directions is; the
				oldest request that waits is the first of it, with id 1 */
	bool no_end;	     /* response: it went on where nobody saw; its last byte came later */
	bool no_begin;	     /* response: it began where nobody saw, before first_ns */
	bool partial;	     /* bytes of it were missed: it is larger than `size` */
#define L7_NO_END                                                                                  \
	"{\"end\":\"not seen\",\"response_bytes\":\"at least\"}" /* as `detail` says both */
	bool is_error;
	struct span method;   /* command, verb, RPC method */
	struct span target;   /* path template, key pattern, statement digest, topic */
	struct span status;   /* "200", "OK", "ERR" */
	struct span detail;   /* JSON object text of the rest; empty for none */
	const char *protocol; /* what runs over the connection's (gRPC over HTTP/2); NULL: that
				 itself */

	/* Filled by the engine from the bytes consumed; a parser that gathers a message from
	 * several frames sets the first two. */
	uint64_t first_ns; /* when its first byte passed */
	uint64_t size;	   /* bytes on the wire */
	uint64_t missed;   /* bytes of its direction before it that nothing was made of; with */
#define L7_MISSED_UNKNOWN (1ull << 40) /* parts of messages that were seen may be among them */
	uint64_t last_ns;	       /* when its last byte passed */
	uint64_t pos; /* of its first byte in its direction, if the parser set none */
	enum l7_dir dir;
	uint32_t peer; /* of its piece: responses belong to requests of the same */
};

enum l7_why {
	L7_UNANSWERED, /* all bytes were there: none came, none belongs to it, or it was asked
			  before */
	L7_NOT_KEPT,   /* bytes that were not kept may hold the other half */
	L7_LOST,       /* bytes that were lost may hold it */
};

/* A request with its response. */
struct l7_exchange {
	const struct l7_message *request;  /* NULL: only the response was seen */
	const struct l7_message *response; /* NULL: none seen, or none exists (oneway) */
	bool paired;			   /* they are known to belong together */
	enum l7_why why;		   /* not paired: what stands in the way */
};

/* What a parser may ask the engine. */
struct l7_parser {
	void *state;	 /* the protocol's own for both directions: state_sz zeroed bytes */
	bool after_hole; /* bytes before this view are missing in this direction: state may be stale
			  */
	void *engine;
	struct arena *arena; /* of l7_text and l7_keep */
	const struct l7_conn_opts *opts;
};

/* The request a response would be paired with now: the oldest waiting one, or the one with that id;
 * NULL when there is none. A response's form can depend on it (HEAD, prepared statements). */
const struct l7_message *l7_pending(const struct l7_parser *parser, uint64_t id);

/* So much of the view followed that waiting request, and belongs to it: bulk data. */
void l7_grow(struct l7_parser *parser, uint64_t id, const struct l7_view *view, uint64_t size);

/* In order: the request that waits behind that one; NULL: none. */
const struct l7_message *l7_pending_next(const struct l7_message *m);

/* A message that ended before this view (its end is known only now) goes to pairing ahead of the
 * one parse fills; the caller sets first_ns, last_ns, size and dir. */
void l7_deliver(struct l7_parser *parser, const struct l7_message *m);

/* Its end was not seen: it says so, and that it is larger than what was. */
void l7_partial(struct l7_parser *parser, struct l7_message *m);

/* The direction that carries requests. */
enum l7_dir l7_requests_dir(const struct l7_parser *parser);

/* With pair_by_id: no response will come for this request any more; it is handed out unpaired. */
void l7_give_up(struct l7_parser *parser, uint64_t id);

/* printf into memory that lives until the message was delivered. JSON: l7_json_escape before. */
struct span l7_text(struct l7_parser *parser, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A copy that lives as long, NUL-terminated besides. */
struct span l7_keep(struct l7_parser *parser, struct span s);

struct l7_protocol {
	const char *name;
	/*
	 * How sure, 0..100, that a connection speaks it, from the first kept bytes of each
	 * direction (either may be empty; joined in the middle they begin at a call's boundary).
	 * *requests_sent: 1 when the content tells that the recorded process sends the requests, 0
	 * that it receives them; left alone when it does not tell. 0: impossible. 100: cannot be
	 * anything else. Below 50 counts only together with a well-known port; where earlier calls
	 * were nobody's (joined late), below 70 does not count. It is asked again at later calls:
	 * random bytes must not pass.
	 */
	int (*bid)(const struct l7_view *sent, const struct l7_view *received, int *requests_sent);
	/* One message (or frame) from view->p on. */
	int64_t (*parse)(struct l7_parser *parser, const struct l7_view *view,
			 struct l7_message *m);
	/* After a hole: offset of the next sure message boundary at or after `from`, view->len when
	 * there is none. NULL: only the beginning of a call may be one, and parse decides. */
	size_t (*resync)(const struct l7_view *view, size_t from);
	/* Bytes of that direction are missing from here on, which pairing does not know yet:
	 * l7_deliver what the bytes before them told. May be NULL. */
	void (*hole)(struct l7_parser *parser, bool requests);
	/* Nothing more will come: l7_deliver what waited for its end. May be NULL. */
	void (*finish)(struct l7_parser *parser);
	size_t state_sz;
	bool state_stays; /* it may hold pointers into itself: it is not moved (l7_conn__rest) */
	void (*fini)(void *state);
	bool pair_by_id;
	bool asks_singly;  /* in order, and clients ask on when they have the answer */
	bool datagrams;	   /* it is spoken in datagrams, too */
	uint16_t ports[6]; /* well-known, a hint for weak bids; 0 ends */
};

/* ---- shared by parsers ---- */

/*
 * Folds what varies out of a path or key: segments (between / : . | - _ and the like) that are
 * numbers become {n}, UUIDs {uuid}, long hexadecimal or mixed tokens {id}; `dst` of dst_sz bytes is
 * filled. "/users/17/a" gives "/users/{n}/a".
 */
struct span l7_fold(struct span s, char *dst, size_t dst_sz);

/* Upper-cased ASCII copy, cut at dst_sz. */
struct span l7_upper(struct span s, char *dst, size_t dst_sz);

/* s as the inside of a JSON string, in parser memory, cut after `max` bytes of input. */
struct span l7_json(struct l7_parser *parser, struct span s, size_t max);

static inline bool l7_is(struct span s, const char *text)
{
	return s.len == __builtin_strlen(text) && !__builtin_memcmp(s.p, text, s.len);
}

/* ---- connections ---- */

struct l7_conn;

/* A value in the arguments of an RPC that is to be shown (--thrift-arg METHOD:1.3=name). */
struct l7_arg {
	const char *method, *path, *name;
};

struct l7_conn_opts {
	enum l7_role role;
	uint16_t server_port; /* 0: not known */
	bool late;	      /* it was open before: requests may have been on their way already */
	bool open;	      /* and still when the recording ended: its last message may go on */
	const struct l7_protocol *only; /* NULL: bid */
	void (*sink)(void *ctx, struct l7_conn *conn, const struct l7_exchange *x);
	void *ctx;
	const struct l7_arg *args; /* live as long as the connection */
	size_t arg_cnt;
	struct arena *arena; /* of parsers, shared by connections that are fed in turn; NULL: its
				own */
	size_t max_buffer; /* bytes held of one direction for reordering and partial messages; 0: 1
			      MiB */
};

int l7_conn__new(struct l7_conn **c, const struct l7_conn_opts *opts);
/* Pieces of one direction may come a little out of order. Copies what it must keep. 0 or -ENOMEM.
 */
int l7_conn__feed(struct l7_conn *c, const struct l7_piece *piece);
/* Nothing more comes: parses what is left, hands out waiting requests unpaired. */
void l7_conn__finish(struct l7_conn *c);
void l7_conn__free(struct l7_conn *c);

const struct l7_protocol *l7_conn__protocol(const struct l7_conn *c); /* NULL: unknown */
enum l7_role l7_conn__role(const struct l7_conn *c);		      /* as given or learned */

struct l7_stats {
	uint64_t messages, paired, unpaired, holes, bad, resyncs, opaque_bytes;
	/* Places where bytes were not kept and the next message could not be told for it; what was
	 * not kept there, and the longest call among them. */
	uint64_t unkept_places, unkept_bytes, unkept_call;
	uint64_t missing; /* messages that those must have held, as far as pairing tells */
};
struct l7_stats l7_conn__stats(const struct l7_conn *c);

/* The memory that it takes now, about. */
size_t l7_conn__held(const struct l7_conn *c);
/* When its last piece passed. */
uint64_t l7_conn__now_ns(const struct l7_conn *c);

/*
 * Until its next piece comes, a connection that waits for nothing can take a fraction of its
 * memory:
 * __rest takes it, or gives NULL and leaves it as it is; __wake makes one of it again, or gives
 * NULL and leaves it. What messages wait for is not counted in __held. The arena must be the
 * caller's.
 */
struct l7_rest;
struct l7_rest *l7_conn__rest(struct l7_conn *c);
struct l7_conn *l7_rest__wake(struct l7_rest *r);
size_t l7_rest__held(const struct l7_rest *r);

/* All protocols, in the order of format/protocols.def; NULL ends. */
extern const struct l7_protocol *const l7_protocols[];

/* The bytes of a view. */
static inline struct l7_cursor l7_cursor(const struct l7_view *v)
{
	return l7_cursor_at(v->p, v->len);
}

#endif
