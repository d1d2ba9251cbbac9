/* SPDX-License-Identifier: BSD-2-Clause */
#include "redis_command.h"

#include <string.h>
#include <strings.h>

enum { KEYLESS = 0, CONTAINER = 100, CONTAINER_OF_KEYS, BEHIND_STREAMS };

/* Where the key stands, if not next to the command: behind a number of words (KEYLESS: nowhere),
 * or in a command of two words. Those that count their keys have the count before the first. */
#define COMMAND(name, key)                                                                         \
	{                                                                                          \
		name, sizeof(name) - 1, key                                                        \
	}
static const struct command {
	const char *name;
	uint8_t sz, key;
} commands[] = {
	COMMAND("PING", KEYLESS),
	COMMAND("ECHO", KEYLESS),
	COMMAND("AUTH", KEYLESS),
	COMMAND("HELLO", KEYLESS),
	COMMAND("SELECT", KEYLESS),
	COMMAND("INFO", KEYLESS),
	COMMAND("QUIT", KEYLESS),
	COMMAND("MULTI", KEYLESS),
	COMMAND("EXEC", KEYLESS),
	COMMAND("DISCARD", KEYLESS),
	COMMAND("SCAN", KEYLESS),
	COMMAND("KEYS", KEYLESS),
	COMMAND("WAIT", KEYLESS),
	COMMAND("FLUSHALL", KEYLESS),
	COMMAND("FLUSHDB", KEYLESS),
	COMMAND("SAVE", KEYLESS),
	COMMAND("BGSAVE", KEYLESS),
	COMMAND("SHUTDOWN", KEYLESS),
	COMMAND("REPLICAOF", KEYLESS),
	COMMAND("SLAVEOF", KEYLESS),
	COMMAND("PSYNC", KEYLESS),
	COMMAND("REPLCONF", KEYLESS),
	COMMAND("MONITOR", KEYLESS),
	COMMAND("TIME", KEYLESS),
	COMMAND("DBSIZE", KEYLESS),
	COMMAND("SWAPDB", KEYLESS),
	COMMAND("RESET", KEYLESS),
	COMMAND("EVAL", 3),
	COMMAND("EVALSHA", 3),
	COMMAND("EVAL_RO", 3),
	COMMAND("EVALSHA_RO", 3),
	COMMAND("FCALL", 3),
	COMMAND("FCALL_RO", 3),
	COMMAND("MIGRATE", 3),
	COMMAND("BLMPOP", 3),
	COMMAND("BZMPOP", 3),
	COMMAND("BITOP", 2),
	COMMAND("LMPOP", 2),
	COMMAND("ZMPOP", 2),
	COMMAND("ZUNION", 2),
	COMMAND("ZINTER", 2),
	COMMAND("ZDIFF", 2),
	COMMAND("ZINTERCARD", 2),
	COMMAND("SINTERCARD", 2),
	COMMAND("XREAD", BEHIND_STREAMS),
	COMMAND("XREADGROUP", BEHIND_STREAMS),
	COMMAND("XGROUP", CONTAINER_OF_KEYS),
	COMMAND("XINFO", CONTAINER_OF_KEYS),
	COMMAND("OBJECT", CONTAINER_OF_KEYS),
	COMMAND("MEMORY", CONTAINER_OF_KEYS),
	COMMAND("CONFIG", CONTAINER),
	COMMAND("CLIENT", CONTAINER),
	COMMAND("CLUSTER", CONTAINER),
	COMMAND("COMMAND", CONTAINER),
	COMMAND("SCRIPT", CONTAINER),
	COMMAND("ACL", CONTAINER),
	COMMAND("PUBSUB", CONTAINER),
	COMMAND("SLOWLOG", CONTAINER),
	COMMAND("LATENCY", CONTAINER),
	COMMAND("FUNCTION", CONTAINER),
	COMMAND("DEBUG", CONTAINER),
	COMMAND("MODULE", CONTAINER),
};

static unsigned key_of(struct span method)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (method.len == commands[i].sz && !memcmp(method.p, commands[i].name, method.len))
			return commands[i].key;
	return 1;
}

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && !strncasecmp(s.p, word, s.len);
}

static bool listed(struct span s, const char *const *list)
{
	while (*list && !is_word(s, *list))
		list++;
	return *list;
}

static size_t behind(const struct span *words, size_t cnt, const char *word)
{
	size_t i = 1;

	while (i < cnt && !is_word(words[i], word))
		i++;
	return i + 1;
}

static void add_word(struct redis_name *n, struct l7_message *m, struct span word)
{
	size_t at = m->method.len;

	n->method[at++] = ' ';
	m->method.len = at + l7_upper(word, n->method + at, sizeof(n->method) - at).len;
}

void redis_name(struct redis_name *n, struct l7_message *m, const struct span *words, size_t cnt)
{
	size_t key;

	m->method = l7_upper(words[0], n->method, sizeof(n->method) / 2);
	key = key_of(m->method);
	if (key == CONTAINER || key == CONTAINER_OF_KEYS) {
		if (cnt > 1)
			add_word(n, m, words[1]);
		key = key == CONTAINER ? KEYLESS : 2;
	} else if (key == BEHIND_STREAMS) {
		key = behind(words, cnt, "STREAMS");
	}
	if (key != KEYLESS && key < cnt && !l7_is(words[key - 1], "0")) /* a count of keys */
		m->target = l7_fold(words[key], n->target, sizeof(n->target));
}

bool redis_is_subscription(struct span word)
{
	static const char *const names[] = {"SUBSCRIBE",   "PSUBSCRIBE",   "SSUBSCRIBE",
					    "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
					    NULL};

	return listed(word, names);
}

bool redis_begins_line(struct span word)
{
	static const char *const words[] = {"PING",	  "INFO",   "GET",    "SET",   "DEL",
					    "EXISTS",	  "INCR",   "MULTI",  "ROLE",  "DBSIZE",
					    "SELECT",	  "CONFIG", "CLIENT", "HELLO", "SUBSCRIBE",
					    "PSUBSCRIBE", NULL};

	return listed(word, words);
}
