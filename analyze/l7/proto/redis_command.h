/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands of Redis are called, and which of their words is the key. */
#ifndef ANALYZE_L7_REDIS_COMMAND_H
#define ANALYZE_L7_REDIS_COMMAND_H

#include "analyze/l7/engine/l7.h"

/* Words of a command that are looked at: as far as the key of XREADGROUP with all its options. */
enum { REDIS_WORDS = 11 };

/* Kinds of answers (l7_message.kinds). */
enum {
	REDIS_OK = 1,
	REDIS_PONG = 2,
	REDIS_INT = 4,
	REDIS_BULK = 8,
	REDIS_NIL = 16,
	REDIS_ARRAY = 32, /* maps and sets, too */
};

struct redis_name {
	char method[64], target[128];
};

/* Method, target and kinds of answers of m, in n; words[0] is the command. */
void redis_name(struct redis_name *n, struct l7_message *m, const struct span *words, size_t cnt);

/* SUBSCRIBE and those like it, and their opposites, in any case: a command, or what confirms it. */
bool redis_is_subscription(struct span word);

/* Does somebody by hand, or a health check, begin a line with this? In any case; words that other
 * protocols answer with "+OK", too, are left out. */
bool redis_begins_line(struct span word);

#endif
