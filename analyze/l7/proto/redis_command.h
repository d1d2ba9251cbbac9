/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of Redis commands, and the position of the key among the arguments. */
#ifndef ANALYZE_L7_REDIS_COMMAND_H
#define ANALYZE_L7_REDIS_COMMAND_H

#include "analyze/l7/engine/l7.h"

/* Number of words examined per command: enough for the key of XREADGROUP with all options. */
enum { REDIS_WORDS = 11 };

/* Kinds of responses (l7_message.kinds). */
enum {
	REDIS_OK = 1,
	REDIS_PONG = 2,
	REDIS_INT = 4,
	REDIS_BULK = 8,
	REDIS_NIL = 16,
	REDIS_ARRAY = 32, /* includes maps and sets */
};

struct redis_name {
	char method[64], target[128];
};

/* Sets method, target and response kinds of m, with strings in n; words[0] is the command. */
void redis_name(struct redis_name *n, struct l7_message *m, const struct span *words, size_t cnt);

/* Is it SUBSCRIBE, a related command or its opposite, in any case? Applies to commands and to their
 * confirmations. */
bool redis_is_subscription(struct span word);
/* Waits for something to happen, or begins a stream without end. */
bool redis_waits(struct span word);

/* Does a line typed by hand, or sent by a health check, begin with this word, in any case? Words to
 * which other protocols also answer "+OK" are excluded. */
bool redis_begins_line(struct span word);

#endif
