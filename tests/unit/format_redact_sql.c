/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is masked in statements; one row a case. Each is sent in the ways its protocol has, at once,
 * cut at every byte, byte by byte and on a connection that was joined late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/redact/redact.h"

enum way { MYSQL, POSTGRESQL, CASSANDRA };

struct row {
	enum way way;
	enum { SECRETS, WHOLE, LITERALS } mask; /* WHOLE: one that is cut is masked further */
	const char *in, *out;			/* out NULL: as it was */
};

static const struct row rows[] = {
	/* ---- MySQL: where literals end ---- */
	{MYSQL, LITERALS, "select 5--1, 'x'", "select ?--?, '*'"},
	{MYSQL, LITERALS, "select 5-- 'x\n, 'y'", "select ?-- 'x\n, '*'"},
	{MYSQL, LITERALS, "select 5--\n'x'", "select ?--\n'*'"},
	{MYSQL, LITERALS, "select 5---1,'x'", "select ?---?,'*'"},
	{MYSQL, LITERALS, "select 1 # 'x\n,'y'", "select ? # 'x\n,'*'"},
	{MYSQL, LITERALS, "select 1 -- a\r'x'\n, 'y'", "select ? -- a\r'x'\n, '*'"},
	{MYSQL, LITERALS, "/*!40101 set a='x' */ , 'y'", "/*!????? set a='*' */ , '*'"},
	{MYSQL, LITERALS, "/*M!100 set a='x' */ , 'y'", "/*M!??? set a='*' */ , '*'"},
	{MYSQL, LITERALS, "/*! set a='x' */, 'y'", "/*! set a='*' */, '*'"},
	{MYSQL, LITERALS, "/*+ a('x') */, 'y'", "/*+ a('*') */, '*'"},
	{MYSQL, LITERALS, "/* it's */ 'y'", "/* it's */ '*'"},
	{MYSQL, LITERALS, "/* /* */ 'y' /**/ 'z'", "/* /* */ '*' /**/ '*'"},
	{MYSQL, LITERALS, "/*!99999 it's */ select 'secret'", "/*!????? it'********************"},
	{MYSQL, LITERALS, "/*! # */ 'secret'\n 'x'", "/*! # ****************"},
	{MYSQL, LITERALS, "/*!5 /* ' */ ' */ 'x'", "/*!? /* ' */ '*******"},
	{MYSQL, LITERALS, "select 'a\\', 'secret'", "select '*************"},
	{MYSQL, LITERALS, "select 'a\\'b', secret", "select '*************"},
	{MYSQL, LITERALS, "select \"a\\\", 'secret'", "select \"*************"},
	{MYSQL, LITERALS, "select 'a\\\\', `t`, 'b'", "select '***', `t`, '*'"},
	{MYSQL, LITERALS, "select 'a\\nb', `t`, 'b'", "select '****', `t`, '*'"},
	{MYSQL, LITERALS, "select 'a''b', \"c\"\"d\", `e``'f`",
	 "select '*''*', \"*\"\"*\", `e``'f`"},
	{MYSQL, LITERALS, "select n'ab', _utf8'ab', x'4142', b'01'",
	 "select n'**', _utf8'**', x'****', b'**'"},
	{MYSQL, LITERALS, "select 0xab12, t1.a2, 1.5e3, -7", "select ??????, t1.a2, ?????, -?"},
	{MYSQL, LITERALS, "select 'a' 'b'\t'c'", "select '*' '*'\t'*'"},
	{MYSQL, LITERALS, "create f as $$ it's secret $$", "create f as $$***************"},
	{MYSQL, LITERALS, "select a$b, $c 'x'", "select a$b, $c '*'"},
	/* ---- PostgreSQL ---- */
	{POSTGRESQL, LITERALS, "select name'a\\', 'x'", "select name'********"},
	{POSTGRESQL, LITERALS, "select date'1-2', 'x'", "select date'***', '*'"},
	{POSTGRESQL, LITERALS, "select 'a\\', 'secret'", "select '*************"},
	{POSTGRESQL, LITERALS, "select 'C:\\\\d', 'x'", "select '*****', '*'"},
	{POSTGRESQL, LITERALS, "select E'a\\'b', 'x', e'\\\\', \"q\"",
	 "select E'****', '*', e'**', \"q\""},
	{POSTGRESQL, LITERALS, "select 1e'a\\', secret'", "select ?\?'************"},
	{POSTGRESQL, LITERALS, "select e'a'\n'b\\', x'", "select e'*'\n'*******"},
	{POSTGRESQL, LITERALS, "select U&'d\\0061', U&\"d\\0061\"",
	 "select U&'******', U&\"d\\0061\""},
	{POSTGRESQL, LITERALS, "select U&'a\\', 'x'", "select U&'********"},
	{POSTGRESQL, LITERALS, "select B'01', X'1f', N'ab'", "select B'**', X'**', N'**'"},
	{POSTGRESQL, LITERALS, "select $$a'b$c$$, $t$a$$b$t$, $1",
	 "select $$***$*$$, $t$*$$*$t$, $1"},
	{POSTGRESQL, LITERALS, "select $abc'secret', 'x'", "select $abc'******', '*'"},
	{POSTGRESQL, LITERALS, "select a$b$c'secret'", "select a$b$c'******'"},
	{POSTGRESQL, LITERALS, "-- it's\rselect 'x'", "-- it's\rselect '*'"},
	{POSTGRESQL, LITERALS, "/* it's /* n */ ' */ 'x'--'\n,'y'",
	 "/* it's /* n */ ' */ '*'--'\n,'*'"},
	{POSTGRESQL, LITERALS, "select 5--1, 'x'", "select ?--1, 'x'"},
	{POSTGRESQL, LITERALS, "select 5/*! 'x'*/", "select ?/*! 'x'*/"},
	/* ---- CQL ---- */
	{CASSANDRA, LITERALS, "select 'a\\', b, 'c''d' // it's\n, 'x'",
	 "select '**', b, '*''*' // it's\n, '*'"},
	{CASSANDRA, LITERALS, "select $$a'b$$, \"Q\", 0x12 -- '\n, 'x'",
	 "select $$***$$, \"Q\", ???? -- '\n, '*'"},
	{CASSANDRA, LITERALS, "/* /* it's */ 'x'", "/* /* it's */ '*'"},
	/* ---- secrets by default ---- */
	{MYSQL, SECRETS, "select 'a', 12 from t1 where b = \"c\"", NULL},
	{MYSQL, SECRETS, "create user 'u'@'h' identified by 's3cret'",
	 "create user 'u'@'h' identified by '******'"},
	{MYSQL, SECRETS, "CREATE USER u IDENTIFIED WITH p AS '*0AF' REQUIRE SSL",
	 "CREATE USER u IDENTIFIED WITH p AS '****' REQUIRE SSL"},
	{MYSQL, SECRETS, "alter user u identified by\"s3\" replace 's2'",
	 "alter user u identified by\"**\" replace '**'"},
	{MYSQL, SECRETS, "SET PASSWORD FOR 'u'@'h' = 'x'", "SET PASSWORD FOR '*'@'*' = '*'"},
	{MYSQL, SECRETS, "set password='x'", "set password='*'"},
	{MYSQL, SECRETS, "set password = old_password(0x7878)",
	 "set password = old_password(?????\?)"},
	{MYSQL, SECRETS, "grant all on *.* to 'u' identified by 'x'",
	 "grant all on *.* to 'u' identified by '*'"},
	{MYSQL, SECRETS, "change master to master_host='h', master_password='x'",
	 "change master to master_host='h', master_password='*'"},
	{MYSQL, SECRETS, "CHANGE REPLICATION SOURCE TO SOURCE_USER='r',SOURCE_PASSWORD='x'",
	 "CHANGE REPLICATION SOURCE TO SOURCE_USER='r',SOURCE_PASSWORD='*'"},
	{MYSQL, SECRETS, "start replica user='r' password='x'",
	 "start replica user='r' password='*'"},
	{MYSQL, SECRETS, "insert into t values(aes_encrypt('data','k3y'))",
	 "insert into t values(aes_encrypt('****','***'))"},
	{MYSQL, SECRETS, "select 1; set /* c */ password = 'x'",
	 "select 1; set /* c */ password = '*'"},
	{MYSQL, SECRETS, "/*!50701 alter user u identified by 'x' */",
	 "/*!50701 alter user u identified by '*' */"},
	{MYSQL, SECRETS, "create server s options(host 'h', password 'x')",
	 "create server s options(host 'h', password '*')"},
	{MYSQL, SECRETS, "create table f(a int) connection='mysql://u:s3cret@h/d/t'",
	 "create table f(a int) connection='mysql://********@*/d/t'"},
	{MYSQL, WHOLE, "insert into u values('http://h/p', 'a@b')", NULL},
	{MYSQL, SECRETS, "select 'it\\'s', password='x', secret",
	 "select 'it\\'s', password=***********"},
	{MYSQL, SECRETS, "select created_at, first_name, pass from crs where a='class'", NULL},
	{POSTGRESQL, SECRETS, "create role r login encrypted password 'x' valid until '2'",
	 "create role r login encrypted password '*' valid until '*'"},
	{POSTGRESQL, SECRETS, "ALTER USER u WITH PASSWORD E'a\\'b'",
	 "ALTER USER u WITH PASSWORD E'****'"},
	{POSTGRESQL, SECRETS, "alter role u password $$x$$", "alter role u password $$*$$"},
	{POSTGRESQL, SECRETS, "create subscription s connection 'host=h password=x' publication p",
	 "create subscription s connection 'host=h password=*' publication p"},
	{POSTGRESQL, SECRETS, "create subscription s connection 'postgres://u:x@h/d' publication p",
	 "create subscription s connection 'postgres://***@*/d' publication p"},
	{POSTGRESQL, SECRETS, "create user mapping for u server s options (user 'u', password 'x')",
	 "create user mapping for u server s options (user 'u', password '*')"},
	{POSTGRESQL, SECRETS, "select * from dblink('dbname=d password=x','select 1') as t(a int)",
	 "select * from dblink('dbname=d password=*','********') as t(a int)"},
	{POSTGRESQL, SECRETS, "select crypt('x', gen_salt('bf'))",
	 "select crypt('*', gen_salt('**'))"},
	{POSTGRESQL, SECRETS, "copy t from 's3:/b' credentials 'aws_secret_access_key=x'",
	 "copy t from 's3:/b' credentials '***********************'"},
	{POSTGRESQL, SECRETS, "select 1, 'x'", NULL},
	{CASSANDRA, SECRETS, "create role r with password = 'x' and login = true",
	 "create role r with password = '*' and login = true"},
	{CASSANDRA, SECRETS, "ALTER USER u WITH PASSWORD 'x'", "ALTER USER u WITH PASSWORD '*'"},
	{CASSANDRA, SECRETS, "select a from t where b = 'c' and d = 12", NULL},
};

#define MYSQL_LOGIN(flags)                                                                         \
	"\x29\0\0\1\x85\xa6\xff" flags                                                             \
	"\0\0\0\1\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"                               \
	"me\0******"
#define PG_STARTUP "\0\0\0\x11\0\3\0\0user\0me\0\0"
#define CQL_STARTUP                                                                                \
	"\4\0\0\1\1\0\0\0\x16\0\1\0\x0b\x43QL_VERSION\0\5"                                         \
	"3.4.5"
#define TEXT(s) s, sizeof(s) - 1

/* What comes first on a connection, and what stands around a statement. */
static const struct carrier {
	const char *name;
	enum way way;
	bool late; /* can be joined at it */
	const char *first;
	size_t first_sz;
	const char *head;
	size_t head_sz;
	const char *tail;
	size_t tail_sz;
	uint8_t size_at, size_sz, size_of; /* what it counts begins there */
	uint8_t text_at;		   /* the text's own */
} carriers[] = {
	{"COM_QUERY", MYSQL, true, TEXT(MYSQL_LOGIN("\1")), TEXT("\0\0\0\0\3"), TEXT(""), 0, 3, 4,
	 0},
	{"COM_STMT_PREPARE", MYSQL, true, TEXT(MYSQL_LOGIN("\1")), TEXT("\0\0\0\0\x16"), TEXT(""),
	 0, 3, 4, 0},
	{"COM_QUERY with attributes", MYSQL, true, TEXT(MYSQL_LOGIN("\x09")),
	 TEXT("\0\0\0\0\3\0\1"), TEXT(""), 0, 3, 4, 0},
	{"Query", POSTGRESQL, true, TEXT(PG_STARTUP), TEXT("Q\0\0\0\0"), TEXT("\0"), 1, 4, 1, 0},
	{"Parse", POSTGRESQL, true, TEXT(PG_STARTUP), TEXT("P\0\0\0\0s1\0"), TEXT("\0\0\0"), 1, 4,
	 1, 0},
	{"QUERY", CASSANDRA, false, TEXT(CQL_STARTUP), TEXT("\4\0\0\1\7\0\0\0\0\0\0\0\0"),
	 TEXT("\0\1\0"), 5, 4, 9, 9},
	{"PREPARE", CASSANDRA, false, TEXT(CQL_STARTUP), TEXT("\4\0\0\1\x09\0\0\0\0\0\0\0\0"),
	 TEXT(""), 5, 4, 9, 9},
};

static size_t put_packet(uint8_t *to, const struct carrier *c, const char *text)
{
	size_t sz = strlen(text), end = c->head_sz + sz + c->tail_sz, n = end - c->size_of;

	memcpy(to, c->head, c->head_sz);
	memcpy(to + c->head_sz, text, sz);
	memcpy(to + c->head_sz + sz, c->tail, c->tail_sz);
	to[c->size_at + (c->way == MYSQL ? 0 : c->size_sz - 1)] = n;
	if (c->text_at)
		to[c->text_at + 3] = sz;
	return end;
}

/* The connection's next call. */
static void apply(struct redact_conn **conn, bool sql, uint64_t pos, const uint8_t *p, size_t sz,
		  uint8_t *out)
{
	uint8_t *in = malloc(sz), *masked = malloc(sz);
	struct redact_payload call = {0, pos, sz, sz, in, masked};

	memcpy(in, p, sz);
	memcpy(out, redact__apply(conn, sql, &call) ? masked : in, sz);
	free(in);
	free(masked);
}

/* Cut before every `step` bytes from `from` on; 0: nowhere. */
static int check(const struct row *row, const struct carrier *c, bool late, size_t from,
		 size_t step)
{
	uint8_t in[256], want[256], got[256], first[64];
	size_t sz = put_packet(in, c, row->in), text = strlen(row->in);
	size_t pos = late ? 1000 : c->first_sz;
	struct redact_conn *conn = NULL;

	put_packet(want, c, row->in);
	if (row->out)
		memcpy(want + c->head_sz, row->out, text);
	if (!late)
		apply(&conn, row->mask == LITERALS, 0, (const uint8_t *)c->first, c->first_sz,
		      first);
	for (size_t at = 0, n; at < sz; at += n) {
		n = at < from ? from : step ? step : sz;
		n = n < sz - at ? n : sz - at;
		apply(&conn, row->mask == LITERALS, pos + at, in + at, n, got + at);
	}
	redact_conn__free(conn);
	/* What may stand behind a statement of CQL are values. */
	if (!memcmp(got, want, c->head_sz + text))
		return 0;
	printf("%s%s, cut at %zu, then each %zu\n  in   %s\n  got  %.*s\n  want %s\n", c->name,
	       late ? ", joined late" : "", from, step, row->in, (int)text,
	       (char *)got + c->head_sz, row->out ? row->out : row->in);
	return 1;
}

static int check_row(const struct row *row, const struct carrier *c)
{
	size_t sz = c->head_sz + strlen(row->in) + c->tail_sz;

	if (check(row, c, false, 0, 0) || row->mask == WHOLE)
		return check(row, c, false, 0, 0);
	if (check(row, c, false, 0, 1) || check(row, c, false, 1, 3) ||
	    (c->late && check(row, c, true, 0, 0)))
		return 1;
	for (size_t from = 1; from < sz; from++)
		if (check(row, c, false, from, 0))
			return 1;
	return 0;
}

int main(void)
{
	int failed = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].out && strlen(rows[i].in) != strlen(rows[i].out)) {
			printf("%s\n%s: not of one size\n", rows[i].in, rows[i].out);
			failed++;
			continue;
		}
		for (size_t k = 0; k < sizeof(carriers) / sizeof(carriers[0]); k++)
			failed +=
				carriers[k].way == rows[i].way && check_row(&rows[i], &carriers[k]);
	}
	printf("%zu statements, %d failed\n", sizeof(rows) / sizeof(rows[0]), failed);
	return failed != 0;
}
