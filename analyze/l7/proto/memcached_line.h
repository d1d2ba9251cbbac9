/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of memcached's text protocol. */
#ifndef ANALYZE_L7_MEMCACHED_LINE_H
#define ANALYZE_L7_MEMCACHED_LINE_H

#include "analyze/l7/proto/memcached_pair.h"

enum { MC_LINE_MAX = 1 << 17, MC_WORDS_MAX = 24 };

/* What stands behind the command. */
enum mc_form {
	MC_BARE,       /* [anything] [noreply] */
	MC_READ,       /* keys */
	MC_READ_1,     /* time, keys */
	MC_STORE,      /* key flags time bytes [noreply] */
	MC_CAS,	       /* key flags time bytes unique [noreply] */
	MC_KEY,	       /* key [number] [noreply] */
	MC_META,       /* key flags */
	MC_META_STORE, /* key bytes flags */
	MC_SILENT,     /* no answer */
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

/* Up to its end; 0 where that is not in view. */
size_t mc_line_size(const uint8_t *p, size_t len);
/* False: bytes that no command and no answer holds. */
bool mc_split(const uint8_t *p, size_t n, struct mc_words *w);
bool mc_number(struct span s, uint64_t *v);
/* Times may lie in the past. */
bool mc_is_number(struct span s);

/* NULL: none. */
const struct mc_command *mc_command(struct span s);
/* Is it as a client would write it? */
bool mc_is_command(const struct mc_command *c, const struct mc_words *w);
/* The data behind the line, with its \r\n; false: the line is not as it must be. */
bool mc_data_size(const struct mc_command *c, const struct mc_words *w, uint64_t *n);

/* Answers: a value's head, of which `bytes` follow; a row, behind which others come; one line. */
bool mc_is_value(const struct mc_words *w, uint64_t *bytes);
bool mc_is_row(const struct mc_words *w);
bool mc_is_plain(const struct mc_words *w);

#endif
