/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Positions of secrets in conversations: a row for each protocol and command, of fixed size. A
 * conversation is `other` in the other direction, then start, any number of fillers, head, secret,
 * tail, and the last three once more; for line-based protocols with lines before them. No part of
 * the secret may be left, wherever the conversation is cut into calls.
 */
#ifndef TESTS_REDACT_PLANT_H
#define TESTS_REDACT_PLANT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"

enum {
	SECRET_SZ = 16,
	TELLING = 5, /* consecutive characters of a secret that count as leaked */
	TALK_MAX = 4096
};

struct planted {
	const char *p;
	size_t sz;
};

struct planter {
	const char *name;
	bool sql, lines;
	struct planted other, start, filler, head, tail;
};

#define P(s)                                                                                       \
	{                                                                                          \
		s, sizeof(s) - 1                                                                   \
	}
#define NONE P("")
/* For a protocol that needs no start. */
#define LINES(name, filler, head, tail)                                                            \
	{name, false, true, NONE, NONE, P(filler), P(head), P(tail)},
#define PLAIN(name, filler, head, tail)                                                            \
	{name, false, false, NONE, NONE, P(filler), P(head), P(tail)},
#define AFTER(name, start, filler, head, tail)                                                     \
	{name, false, false, NONE, P(start), P(filler), P(head), P(tail)},
#define SQL(name, start, filler, head, tail)                                                       \
	{name, true, false, NONE, P(start), P(filler), P(head), P(tail)},
#define ANSWER(name, other, filler, head, tail)                                                    \
	{name, false, false, P(other), NONE, P(filler), P(head), P(tail)},

#define PING "*1\r\n$4\r\nPING\r\n"
#define ZEROS(n) ZEROS_##n
#define ZEROS_6 "\0\0\0\0\0\0"
#define MYSQL_LOGIN(sz, sequence)                                                                  \
	sz "\0\0" sequence "\x85\xa6\xff\1\0\0\0\1\x21" ZEROS(6) ZEROS(6) ZEROS(6) "\0\0\0\0\0me"  \
										   "\0"
#define MYSQL_START MYSQL_LOGIN("\x29", "\1") "\6secre"
#define MYSQL_PING "\1\0\0\0\x0e"
#define PG_START "\0\0\0\x11\0\3\0\0user\0me\0\0"
#define PG_SYNC "S\0\0\0\4"
#define CQL_START "\4\0\0\1\1\0\0\0\x16\0\1\0\x0b\x43QL_VERSION\0\5\x33.4.5"
#define CQL_OPTIONS "\4\0\0\1\5\0\0\0\0"
#define KAFKA_VERSIONS "\0\0\0\x0c\0\x12\0\0\0\0\0\1\0\2me"
#define MONGO(n) n "\0\0\0\1\0\0\0\0\0\0\0\xdd\7\0\0\0\0\0\0\0"
#define MONGO_FIND MONGO("\x2b") "\x16\0\0\0\5payload\0\3\0\0\0\0abc\0"
#define MQTT5_START "\x10\x0d\0\4MQTT\5\2\0\x3c\0\0\0"

/* One row per command. Sizes include the secret's 16 characters. */
static const struct planter planters[] = {
	/* Redis */
	PLAIN("redis auth", PING, "*2\r\n$4\r\nAUTH\r\n$16\r\n", "\r\n") PLAIN(
		"redis auth of a user, in a transaction", "*1\r\n$5\r\nMULTI\r\n",
		"*3\r\n$4\r\nauth\r\n$1\r\nu\r\n$16\r\n",
		"\r\n") PLAIN("redis hello", PING,
			      "*7\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$7\r\nSETNAME\r\n$1\r\nc\r\n$"
			      "4\r\nAUTH\r\n$1\r\nu\r\n$"
			      "16\r\n",
			      "\r\n") PLAIN("redis config set", PING,
					    "*6\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$7\r\ntimeout\r\n$"
					    "1\r\n0\r\n$24\r\ntls-client-key-"
					    "file-pass\r\n$16\r\n",
					    "\r\n")
		PLAIN("redis acl setuser", PING,
		      "*6\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n$1\r\nu\r\n$2\r\non\r\n$2\r\n~*\r\n$"
		      "17\r\n>",
		      "\r\n") PLAIN("redis migrate", PING,
				    "*9\r\n$7\r\nMIGRATE\r\n$1\r\nh\r\n$1\r\n1\r\n$1\r\nk\r\n$"
				    "1\r\n0\r\n$1\r\n9\r\n$5\r\n"
				    "AUTH2\r\n$1\r\nu\r\n$16\r\n",
				    "\r\n") PLAIN("redis config get, its answer", "+OK\r\n",
						  "*2\r\n$10\r\nmasterauth\r\n$16\r\n", "\r\n")
			LINES("redis inline auth", "PING\r\n", "AUTH ", "\r\n") LINES(
				"redis inline auth behind blanks", "PING\r\n", "\t  auth u ", "\n")
				LINES("redis inline auth in quotes", "PING\r\n", "\"AUTH\" \"",
				      "\"\r\n") LINES("redis inline hello", "PING\r\n",
						      "HELLO 3 SETNAME c AUTH u ", "\r\n")
					LINES("redis inline config set", "GET k\r\n",
					      "CONFIG SET timeout 1 requirepass ", "\r\n")
						LINES("redis inline acl", "PING\r\n",
						      "ACL SETUSER u on >", "\r\n")
	/* memcached, NATS */
	PLAIN("memcached text", "version\r\n", "set a 0 0 20\r\nusr ",
	      "\r\n") PLAIN("memcached binary", "\x80\x0a" ZEROS(6) ZEROS(6) ZEROS(6) "\0\0\0\0",
			    "\x80\x21\0\5\0\0\0\0\0\0\0\x18" ZEROS(6) ZEROS(6) "PLAIN\0u\0", "")
		LINES("nats connect", "PING\r\n", "CONNECT {\"user\":\"u\",\"pass\":\"", "\"}\r\n")
			LINES("nats connect without a space", "PING\r\n", "CONNECT{\"jwt\":\"",
			      "\",\"v\":true}\r\n")
	/* Kafka, MongoDB */
	AFTER("kafka sasl authenticate", KAFKA_VERSIONS, KAFKA_VERSIONS,
	      "\0\0\0\x20\0\x24\0\0\0\0\0\1\0\2me\0\0\0\x10",
	      "") AFTER("kafka sasl without a head", KAFKA_VERSIONS, KAFKA_VERSIONS,
			"\0\0\0\x13\0\x11\0\0\0\0\0\1\0\2me\0\5PLAIN\0\0\0\x10",
			"") AFTER("kafka settings", KAFKA_VERSIONS, KAFKA_VERSIONS,
				  "\0\0\0\x3d\0\x21\0\0\0\0\0\1\0\2me\0\0\0\1\4\0\0011\0\0\0\1\0"
				  "\x10ssl.key.password"
				  "\0\x10",
				  "\0") ANSWER("kafka delegation token",
					       "\0\0\0\x18\0\x26\0\1\0\0\0\1\0\2me" ZEROS(6)
						       ZEROS(6),
					       "\0\0\0\6\0\0\0\2ok", "\0\0\0\x17\0\0\0\1\0\0\0", "")
		AFTER("mongodb saslStart", MONGO_FIND, MONGO_FIND,
		      MONGO("\x47") "\x31\0\0\0\x10saslStart\0\1\0\0\0\5payload\0\x10\0\0\0\0",
		      "\0")
			AFTER("mongodb createUser", MONGO_FIND, MONGO_FIND,
			      MONGO("\x46") "\x31\0\0\0\2createUser\0\2\0\0\0b\0\2pwd\0\x11\0\0\0",
			      "\0\0")
	/* MQTT, AMQP */
	PLAIN("mqtt connect", "", "\x10\x23\0\4MQTT\4\xc2\0\x3c\0\1c\0\2me\0\x10",
	      "") AFTER("mqtt 5 auth", MQTT5_START, "\xc0\0", "\xf0\x19\x18\x17\x15\0\1p\x16\0\x10",
			"") AFTER("mqtt 5 user property", MQTT5_START, "\xc0\0",
				  "\x30\x1e\0\1t\x1a\x26\0\5token\0\x10", "")
		AFTER("amqp start-ok", "AMQP\0\0\x09\1", "\x08\0\0\0\0\0\0\xce",
		      "\1\0\0\0\0\0\x28\0\x0a\0\x0b\0\0\0\0\5PLAIN\0\0\0\x10",
		      "\5en_US\xce") AFTER("amqp secure-ok", "AMQP\0\0\x09\1",
					   "\x08\0\0\0\0\0\0\xce",
					   "\1\0\0\0\0\0\x18\0\x0a\0\x15\0\0\0\x10", "\xce")
			AFTER("amqp 1.0 sasl-init", "AMQP\3\1\0\0", "",
			      "\0\0\0\x29\2\1\0\0\0\x53\x41\xc0\x1b\2\xa3\5PLAIN\xa0\x12\0u", "")
	/* Cassandra */
	AFTER("cassandra auth response", CQL_START, CQL_OPTIONS, "\4\0\0\2\x0f\0\0\0\x14\0\0\0\x10",
	      "") AFTER("cassandra create role", CQL_START, CQL_OPTIONS,
			"\4\0\0\1\7\0\0\0\x37\0\0\0\x30"
			"create role r with password = '",
			"'\0\1\0") SQL("cassandra literal", CQL_START, CQL_OPTIONS,
				       "\4\0\0\1\7\0\0\0\x1e\0\0\0\x17"
				       "// '\n'",
				       "'\0\1\0")
	/* PostgreSQL */
	AFTER("postgresql password", PG_START, PG_SYNC, "p\0\0\0\x15", "\0")
		AFTER("postgresql alter role", PG_START, PG_SYNC,
		      "Q\0\0\0\x2d"
		      "alter role r password '",
		      "'\0") AFTER("postgresql alter role, prepared", PG_START, PG_SYNC,
				   "P\0\0\0\x30\0"
				   "alter role r password '",
				   "'\0\0\0") AFTER("postgresql connection", PG_START, PG_SYNC,
						    "Q\0\0\0\x2d"
						    "select dblink('password=",
						    "'\0")
			AFTER("postgresql url", PG_START, PG_SYNC,
			      "Q\0\0\0\x2b"
			      "s connection 'pg://u:",
			      "@h'\0") SQL("postgresql literal", PG_START, PG_SYNC,
					   "Q\0\0\0\x28"
					   "select name'a\\', '",
					   "'\0") SQL("postgresql bound value", PG_START, PG_SYNC,
						      "B\0\0\0\x20\0\0\0\0\0\1\0\0\0\x10", "\0\0")
				SQL("postgresql argument", PG_START, PG_SYNC,
				    "F\0\0\0\x22\0\0\0\7\0\0\0\1\0\0\0\x10", "\0\0")
					SQL("postgresql row", PG_START, PG_SYNC, "d\0\0\0\x14", "")
	/* MySQL */
	PLAIN("mysql login", "", MYSQL_LOGIN("\x34", "\1") "\x10",
	      "") PLAIN("mysql login behind TLS", "", MYSQL_LOGIN("\x34", "\2") "\x10",
			"") AFTER("mysql challenge", MYSQL_START, "", "\x10\0\0\3", "")
		AFTER("mysql change of user", MYSQL_START, MYSQL_PING, "\x15\0\0\0\x11u2\0\x10", "")
			AFTER("mysql set password", MYSQL_START, MYSQL_PING,
			      "\x22\0\0\0\3set password = '", "'")
				AFTER("mysql create user, prepared", MYSQL_START, MYSQL_PING,
				      "\x32\0\0\0\x16"
				      "create user u /*! identified by'",
				      "'") AFTER("mysql change master", MYSQL_START, MYSQL_PING,
						 "\x34\0\0\0\3"
						 "change master to master_password=\"",
						 "\"") SQL("mysql literal", MYSQL_START, MYSQL_PING,
							   "\x20\0\0\0\3select 5--1, '", "'")
					SQL("mysql literal behind an escape", MYSQL_START,
					    MYSQL_PING, "\x20\0\0\0\3select 'a\\', '", "'")
						SQL("mysql parameter", MYSQL_START, MYSQL_PING,
						    "\x1a\0\0\0\x17\1\0\0\0\0\1\0\0\0", "")};
enum { PLANTER_CNT = sizeof(planters) / sizeof(planters[0]) };

static size_t plant_put(uint8_t *to, size_t at, struct planted what)
{
	memcpy(to + at, what.p, what.sz);
	return at + what.sz;
}

/* Writes a conversation: `lines` first, the given number of fillers, the secret twice. */
static size_t plant(uint8_t *to, const struct planter *row, struct planted lines, unsigned fillers,
		    const char *secret)
{
	size_t at = row->lines ? plant_put(to, 0, lines) : 0;

	at = plant_put(to, at, row->start);
	for (int twice = 0; twice < 2; twice++) {
		for (unsigned i = 0; i < fillers; i++)
			at = plant_put(to, at, row->filler);
		at = plant_put(to, at, row->head);
		at = plant_put(to, at, (struct planted){secret, SECRET_SZ});
		at = plant_put(to, at, row->tail);
	}
	return at;
}

static bool plant_shows(const uint8_t *p, size_t sz, const char *secret)
{
	for (size_t i = 0; i + TELLING <= SECRET_SZ; i++)
		if (memmem(p, sz, secret + i, TELLING))
			return true;
	return false;
}

/* Masks the conversation in place; cuts() returns the length of each call. */
static void plant_talk(const struct planter *row, uint8_t *talk, size_t sz,
		       size_t (*cuts)(void *ctx), void *ctx)
{
	struct redact_conn *conn = NULL;
	uint8_t *other = malloc(row->other.sz + 1);
	struct redact_payload p = {1, 0, row->other.sz, row->other.sz, other, other};

	memcpy(other, row->other.p, row->other.sz);
	if (row->other.sz)
		redact__apply(&conn, row->sql, &p);
	free(other);
	for (size_t at = 0, n; at < sz; at += n) {
		uint8_t *call;

		n = cuts(ctx);
		n = n && n < sz - at ? n : sz - at;
		call = malloc(n);
		memcpy(call, talk + at, n);
		p = (struct redact_payload){0, at, n, n, call, call};
		redact__apply(&conn, row->sql, &p);
		memcpy(talk + at, call, n);
		free(call);
	}
	redact_conn__free(conn);
}

#endif
