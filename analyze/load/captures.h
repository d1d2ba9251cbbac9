/* SPDX-License-Identifier: BSD-2-Clause */
/* The archives given to a command. They stay open for the whole run, with their first and last
 * member parsed. */
#ifndef ANALYZE_CAPTURES_H
#define ANALYZE_CAPTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json_object.h>

#include "format/archive.h"
#include "analyze/base/load_budget.h"

/* A debug member of the archive: symbols of one build-id. */
struct debug_member {
	const struct obz_member *m;
	char content[33]; /* hex hash of its bytes; empty: not computed yet */
	int8_t unpacked;  /* 1: decompressed before, -1: failed */
};

struct capture {
	const char *path; /* as given; FILE#N for a part of a merged archive */
	char *own_path;	  /* path, if allocated */
	struct obz_reader *reader;
	struct json_object *header, *end;				 /* NULL: lost, truncated */
	const char *uuid, *host, *kernel, *arch, *version, *stop_reason; /* "": not known */
	char *command;	      /* argv joined, quoted where needed */
	char *probes;	      /* comma-separated */
	bool complete;	      /* ended by the recorder itself */
	uint64_t started_ns;  /* CLOCK_REALTIME */
	uint64_t duration_ns; /* truncated archive: until the last event */
	uint64_t from_ns;     /* CLOCK_MONOTONIC: when the probes were attached; 0: not known */
	uint64_t to_realtime; /* added to archive times, modulo 2^64 */
	uint64_t cpus, freq;  /* 0: not known */
	uint64_t payload;     /* bytes captured per call; more for pipelines if: */
	bool payload_many;
	uint64_t leak_age_ns; /* younger memory is no leak; 0: leaks are not looked for */
	uint64_t unnamed_calls, unnamed_bytes; /* skipped: unknown protocol */
	double sample;			       /* share of connections with payload; 1: all */
	struct debug_member *debug;	       /* sorted by name */
	size_t debug_cnt;
	struct budget budget, traffic_budget; /* that of traffic may be used by another thread */
};

struct unpacking;

struct captures {
	struct capture *v;
	size_t cnt, cap;
	bool missing; /* a part of a merged archive could not be opened */
	struct unpacking *unpacking;
};

/* Row id that is unique across captures: the archive's id is in the lower 32 bits. */
static inline int64_t capture_row(size_t capture, uint32_t id)
{
	return (int64_t)capture << 32 | id;
}
static inline int64_t capture_id(size_t capture)
{
	return capture + 1;
}

/* Opens all archives in order; one given twice is opened once. Errors are reported on one line. 0
 * or negative errno. */
int captures__open(struct captures *c, char *const *paths, size_t cnt);
void captures__close(struct captures *c);

/* Its first and last moment by CLOCK_MONOTONIC, which is the same in all archives since a boot. */
void capture_span(const struct capture *c, uint64_t span[2]);
/* Whether both are of one host, since the same boot. */
bool capture_same_boot(const struct capture *a, const struct capture *b);

/* Whether the member belongs to the stream. */
bool capture_streams(const struct obz_member *m, const char *stream);

/* Rows beyond the limits of load_budget.h. */
uint64_t capture_rows_left_out(const struct capture *c);
/* Whether anything is missing or damaged. Complete only after all chunks were decoded. `what` (if
 * not NULL) is set to a phrase. */
bool capture_damaged(const struct capture *c, char *what, size_t sz);
bool captures_damaged(const struct captures *c);

/* The debug member for a build-id. If there is none and only one archive was given: the one that
 * `member`, from the binary's record, names. NULL: none. Both names may be NULL. */
struct debug_member *captures__find_debug(const struct captures *c, size_t capture,
					  const char *member, const char *build_id);
/* Further debug member of the same binary, numbered from 0. NULL: no more. */
struct debug_member *captures__debug_part(const struct captures *c, size_t capture,
					  const struct debug_member *first, size_t number);
/* Returns a new fd of the decompressed member, or negative errno. -EFBIG: over the limit of
 * repeated decompression. */
int captures__open_debug(const struct captures *c, size_t capture, struct debug_member *d);
/* Content hash of the member including its parts, 32 hex digits. It distinguishes members of the
 * same build-id. "": d is NULL or cannot be read. */
const char *captures__content(const struct captures *c, size_t capture, struct debug_member *d);

#endif
