/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of memcached's text protocol. */
#ifndef ANALYZE_L7_MEMCACHED_LINE_H
#define ANALYZE_L7_MEMCACHED_LINE_H

#include "analyze/l7/proto/memcached_pair.h"

enum { MC_LINE_MAX = 1 << 17, MC_WORDS_MAX = 24 };

/* Arguments of a command. */
enum mc_form {
	MC_BARE,       /* [anything] [noreply] */
	MC_READ,       /* keys */
	MC_READ_1,     /* time, keys */
	MC_STORE,      /* key flags time bytes [noreply] */
	MC_CAS,	       /* key flags time bytes unique [noreply] */
	MC_KEY,	       /* key [number] [noreply] */
	MC_META,       /* key flags */
	MC_META_STORE, /* key bytes flags */
	MC_SILENT,     /* no response */
};

struct mc_command {
	const char *name;
	enum mc_form form;
};

struct mc_words {
	struct span v[MC_WORDS_MAX];
	size_t cnt;   /* in v */
	size_t total; /* in the line */
};

/* Size including the line end; 0: the end is not in view. */
size_t mc_line_size(const uint8_t *p, size_t len);
/* False: bytes that occur in no command or response. */
bool mc_split(const uint8_t *p, size_t n, struct mc_words *w);
bool mc_number(struct span s, uint64_t *v);
/* Negative numbers, too, because times may be in the past. */
bool mc_is_number(struct span s);

/* NULL: not a command. */
const struct mc_command *mc_command(struct span s);
/* Does the line have the form of that command? */
bool mc_is_command(const struct mc_command *c, const struct mc_words *w);
/*
 * *n: size of the data after the line, including \r
 * . False: the line is malformed.
 */
bool mc_data_size(const struct mc_command *c, const struct mc_words *w, uint64_t *n);

/* Responses: the header of a value of `bytes` bytes; a row, followed by others; a single line. */
bool mc_is_value(const struct mc_words *w, uint64_t *bytes);
bool mc_is_row(const struct mc_words *w);
bool mc_is_plain(const struct mc_words *w);

#endif
