/* SPDX-License-Identifier: BSD-2-Clause */
/* The archives a command was given: open, with what their first and last member say, for the whole
 * run. */
#ifndef ANALYZE_CAPTURES_H
#define ANALYZE_CAPTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json_object.h>

#include "format/archive.h"
#include "analyze/base/load_budget.h"

/* Symbols of one build-id, as this archive has them. */
struct debug_member {
	const struct obz_member *m;
	char content[33]; /* hash of its bytes in hex; empty: not computed so far */
	int8_t unpacked;  /* 1 once already, -1 in vain */
};

struct capture {
	const char *path; /* as given */
	struct obz_reader *reader;
	struct json_object *header, *end;				 /* NULL: lost, cut */
	const char *uuid, *host, *kernel, *arch, *version, *stop_reason; /* "" when not known */
	char *command;	      /* argv joined, quoted where needed */
	char *probes;	      /* comma list */
	bool complete;	      /* the recorder ended it itself */
	uint64_t started_ns;  /* CLOCK_REALTIME */
	uint64_t duration_ns; /* when cut: until the last event */
	uint64_t to_realtime; /* add to an archive's time, modulo 2^64 */
	uint64_t cpus, freq;  /* 0: not known */
	uint64_t payload;     /* bytes kept of a call; more of pipelines when: */
	bool payload_many;
	uint64_t unnamed_calls, unnamed_bytes; /* left out: no protocol could be named */
	double sample;		    /* share of connections whose payload was kept; 1: all */
	struct debug_member *debug; /* by name */
	size_t debug_cnt;
	struct budget budget;
};

struct unpacking;

struct captures {
	struct capture *v;
	size_t cnt;
	struct unpacking *unpacking;
};

/* Ids of several captures lie side by side in one table: the archive's id in the lower 32 bits. */
static inline int64_t capture_row(size_t capture, uint32_t id)
{
	return (int64_t)capture << 32 | id;
}
static inline int64_t capture_id(size_t capture)
{
	return capture + 1;
}

/* Opens all, in this order; an archive given twice is taken once. Reports on one line; -errno. */
int captures__open(struct captures *c, char *const *paths, size_t cnt);
void captures__close(struct captures *c);

/* A member of the stream? */
bool capture_streams(const struct obz_member *m, const char *stream);

/* Is anything missing or broken? Known in full once all chunks were decoded. `what` (if not NULL)
 * gets a phrase. */
bool capture_damaged(const struct capture *c, char *what, size_t sz);
bool captures_damaged(const struct captures *c);

/* The debug member for a build-id; where only one archive was given, else the one that its record
 * names. NULL: none. Both may be NULL. */
struct debug_member *captures__find_debug(const struct captures *c, size_t capture,
					  const char *member, const char *build_id);
/* A new fd of it, decompressed, or negative errno. -EFBIG: it was unpacked before, and that has been
 * done too often. */
int captures__open_debug(const struct captures *c, size_t capture, struct debug_member *d);
/* What tells it from others of that build-id, 32 hex digits; "" where d is NULL or cannot be read.
 */
const char *captures__content(const struct captures *c, size_t capture, struct debug_member *d);

#endif
