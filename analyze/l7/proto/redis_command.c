/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/redis_command.h"

#include <string.h>
#include <strings.h>

enum { KEYLESS = 0, CONTAINER = 100, CONTAINER_OF_KEYS, BEHIND_STREAMS };

/* Kinds of replies. */
enum {
	ANY = 0,
	OK = REDIS_OK,
	PONG = REDIS_PONG,
	INT = REDIS_INT,
	BULK = REDIS_BULK,
	NIL = REDIS_NIL,
	ARRAY = REDIS_ARRAY
};

/*
 * The position of the key: after a number of words (KEYLESS: none), or in a two-word command.
 * Commands that count their keys have the count before the first key. Then the possible kinds of
 * replies, if they are few and independent of options. The most frequent commands come first.
 * Commands not listed have their key as the first argument, and any reply.
 */
#define COMMAND(name, key, kinds)                                                                  \
	{                                                                                          \
		name, sizeof(name) - 1, key, kinds                                                 \
	}
static const struct command {
	const char *name;
	uint8_t sz, key, kinds;
} commands[] = {
	COMMAND("SET", 1, OK | NIL),
	COMMAND("GET", 1, BULK | NIL),
	COMMAND("GETDEL", 1, BULK | NIL),
	COMMAND("HGET", 1, BULK | NIL),
	COMMAND("LINDEX", 1, BULK | NIL),
	COMMAND("GETRANGE", 1, BULK | NIL),
	COMMAND("INCR", 1, INT),
	COMMAND("DECR", 1, INT),
	COMMAND("INCRBY", 1, INT),
	COMMAND("DECRBY", 1, INT),
	COMMAND("APPEND", 1, INT),
	COMMAND("STRLEN", 1, INT),
	COMMAND("DEL", 1, INT),
	COMMAND("UNLINK", 1, INT),
	COMMAND("EXISTS", 1, INT),
	COMMAND("EXPIRE", 1, INT),
	COMMAND("PEXPIRE", 1, INT),
	COMMAND("EXPIREAT", 1, INT),
	COMMAND("PEXPIREAT", 1, INT),
	COMMAND("PERSIST", 1, INT),
	COMMAND("TTL", 1, INT),
	COMMAND("PTTL", 1, INT),
	COMMAND("TOUCH", 1, INT),
	COMMAND("LPUSH", 1, INT),
	COMMAND("RPUSH", 1, INT),
	COMMAND("LPUSHX", 1, INT),
	COMMAND("RPUSHX", 1, INT),
	COMMAND("LLEN", 1, INT),
	COMMAND("LREM", 1, INT),
	COMMAND("SADD", 1, INT),
	COMMAND("SREM", 1, INT),
	COMMAND("SCARD", 1, INT),
	COMMAND("SISMEMBER", 1, INT),
	COMMAND("HSET", 1, INT),
	COMMAND("HSETNX", 1, INT),
	COMMAND("HDEL", 1, INT),
	COMMAND("HLEN", 1, INT),
	COMMAND("HEXISTS", 1, INT),
	COMMAND("HINCRBY", 1, INT),
	COMMAND("ZREM", 1, INT),
	COMMAND("ZCARD", 1, INT),
	COMMAND("ZCOUNT", 1, INT),
	COMMAND("SETNX", 1, INT),
	COMMAND("SETRANGE", 1, INT),
	COMMAND("GETBIT", 1, INT),
	COMMAND("SETBIT", 1, INT),
	COMMAND("BITCOUNT", 1, INT),
	COMMAND("PFADD", 1, INT),
	COMMAND("PFCOUNT", 1, INT),
	COMMAND("XLEN", 1, INT),
	COMMAND("XACK", 1, INT),
	COMMAND("XDEL", 1, INT),
	COMMAND("PUBLISH", 1, INT),
	COMMAND("HGETALL", 1, ARRAY),
	COMMAND("LRANGE", 1, ARRAY),
	COMMAND("MGET", 1, ARRAY),
	COMMAND("HMGET", 1, ARRAY),
	COMMAND("HKEYS", 1, ARRAY),
	COMMAND("HVALS", 1, ARRAY),
	COMMAND("SMEMBERS", 1, ARRAY),
	COMMAND("SMISMEMBER", 1, ARRAY),
	COMMAND("ZRANGE", 1, ARRAY),
	COMMAND("ZRANGEBYSCORE", 1, ARRAY),
	COMMAND("ZREVRANGE", 1, ARRAY),
	COMMAND("XRANGE", 1, ARRAY),
	COMMAND("XREVRANGE", 1, ARRAY),
	COMMAND("HSCAN", 1, ARRAY),
	COMMAND("SSCAN", 1, ARRAY),
	COMMAND("ZSCAN", 1, ARRAY),
	COMMAND("MSET", 1, OK),
	COMMAND("HMSET", 1, OK),
	COMMAND("SETEX", 1, OK),
	COMMAND("PSETEX", 1, OK),
	COMMAND("LTRIM", 1, OK),
	COMMAND("RENAME", 1, OK),
	COMMAND("PING", KEYLESS, PONG | BULK | ARRAY),
	COMMAND("ECHO", KEYLESS, BULK),
	COMMAND("AUTH", KEYLESS, OK),
	COMMAND("HELLO", KEYLESS, ANY),
	COMMAND("SELECT", KEYLESS, OK),
	COMMAND("INFO", KEYLESS, ANY),
	COMMAND("QUIT", KEYLESS, OK),
	COMMAND("MULTI", KEYLESS, OK),
	COMMAND("EXEC", KEYLESS, ARRAY | NIL),
	COMMAND("DISCARD", KEYLESS, OK),
	COMMAND("SCAN", KEYLESS, ARRAY),
	COMMAND("KEYS", KEYLESS, ARRAY),
	COMMAND("WAIT", KEYLESS, INT),
	COMMAND("FLUSHALL", KEYLESS, OK),
	COMMAND("FLUSHDB", KEYLESS, OK),
	COMMAND("SAVE", KEYLESS, ANY),
	COMMAND("BGSAVE", KEYLESS, ANY),
	COMMAND("SHUTDOWN", KEYLESS, ANY),
	COMMAND("REPLICAOF", KEYLESS, ANY),
	COMMAND("SLAVEOF", KEYLESS, ANY),
	COMMAND("PSYNC", KEYLESS, ANY),
	COMMAND("SYNC", KEYLESS, ANY),
	COMMAND("REPLCONF", KEYLESS, ANY),
	COMMAND("MONITOR", KEYLESS, ANY),
	COMMAND("TIME", KEYLESS, ARRAY),
	COMMAND("DBSIZE", KEYLESS, INT),
	COMMAND("SWAPDB", KEYLESS, ANY),
	COMMAND("RESET", KEYLESS, ANY),
	COMMAND("EVAL", 3, ANY),
	COMMAND("EVALSHA", 3, ANY),
	COMMAND("EVAL_RO", 3, ANY),
	COMMAND("EVALSHA_RO", 3, ANY),
	COMMAND("FCALL", 3, ANY),
	COMMAND("FCALL_RO", 3, ANY),
	COMMAND("MIGRATE", 3, ANY),
	COMMAND("BLMPOP", 3, ANY),
	COMMAND("BZMPOP", 3, ANY),
	COMMAND("BITOP", 2, ANY),
	COMMAND("LMPOP", 2, ANY),
	COMMAND("ZMPOP", 2, ANY),
	COMMAND("ZUNION", 2, ANY),
	COMMAND("ZINTER", 2, ANY),
	COMMAND("ZDIFF", 2, ANY),
	COMMAND("ZINTERCARD", 2, ANY),
	COMMAND("SINTERCARD", 2, ANY),
	COMMAND("XREAD", BEHIND_STREAMS, ANY),
	COMMAND("XREADGROUP", BEHIND_STREAMS, ANY),
	COMMAND("XGROUP", CONTAINER_OF_KEYS, ANY),
	COMMAND("XINFO", CONTAINER_OF_KEYS, ANY),
	COMMAND("OBJECT", CONTAINER_OF_KEYS, ANY),
	COMMAND("MEMORY", CONTAINER_OF_KEYS, ANY),
	COMMAND("CONFIG", CONTAINER, ANY),
	COMMAND("CLIENT", CONTAINER, ANY),
	COMMAND("CLUSTER", CONTAINER, ANY),
	COMMAND("COMMAND", CONTAINER, ANY),
	COMMAND("SCRIPT", CONTAINER, ANY),
	COMMAND("ACL", CONTAINER, ANY),
	COMMAND("PUBSUB", CONTAINER, ANY),
	COMMAND("SLOWLOG", CONTAINER, ANY),
	COMMAND("LATENCY", CONTAINER, ANY),
	COMMAND("FUNCTION", CONTAINER, ANY),
	COMMAND("DEBUG", CONTAINER, ANY),
	COMMAND("MODULE", CONTAINER, ANY),
};

static const struct command *command_of(struct span method)
{
	static const struct command other = COMMAND("", 1, ANY);

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (method.len == commands[i].sz && !memcmp(method.p, commands[i].name, method.len))
			return &commands[i];
	return &other;
}

static bool has_key(const struct command *c)
{
	return c->sz && c->key != KEYLESS && c->key < CONTAINER;
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
	const struct command *command;
	size_t key;

	m->method = l7_upper(words[0], n->method, sizeof(n->method) / 2);
	command = command_of(m->method);
	key = command->key;
	m->kinds = command->kinds;
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

bool redis_waits(struct span word)
{
	static const char *const names[] = {"BLPOP",  "BRPOP",	    "BRPOPLPUSH", "BLMOVE",
					    "BLMPOP", "BZPOPMIN",   "BZPOPMAX",	  "BZMPOP",
					    "XREAD",  "XREADGROUP", "WAIT",	  "WAITAOF",
					    "PSYNC",  "SYNC",	    "MONITOR",	  NULL};

	return listed(word, names);
}

bool redis_begins_line(struct span word)
{
	/* Words such as QUIT and AUTH are excluded, because other protocols have them and also
	 * answer "+OK". */
	static const char *const words[] = {"PING",   "INFO",	"MULTI",  "ROLE",  "DBSIZE",
					    "SELECT", "CONFIG", "CLIENT", "HELLO", NULL};
	char upper[32];

	return listed(word, words) || redis_is_subscription(word) ||
	       has_key(command_of(l7_upper(word, upper, sizeof(upper))));
}
