/* SPDX-License-Identifier: BSD-2-Clause */
/* What is masked of databases and brokers beyond their logins. */
#include "redact_case.h"

#define STARTUP "\0\0\0\x11\0\3\0\0user\0me\0\0"
#define GREETING                                                                                   \
	"\x1e\0\0\0\x0a"                                                                           \
	"8.0.1\0salt+salt+salt+salt+salt"
/* MySQL's login: the first and fourth byte of its capabilities, its sequence */
#define LOGIN(first, fourth, sequence)                                                             \
	"\x29\0\0" sequence first "\xa6\xff" fourth                                                \
	"\0\0\0\1\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0me\0"
#define PLAIN_LOGIN LOGIN("\x85", "\1", "\1")

/* Kafka's requests: length, key, version, correlation id, client "me" */
#define KAFKA(size, key, version) "\0\0\0" size "\0" key "\0" version "\0\0\0\1\0\2me"
/* MongoDB: a message of so many bytes, of an opcode */
#define MONGO(n, op) n "\0\0\0\1\0\0\0\0\0\0\0" op "\7\0\0"

static const struct row rows[] = {
	/* ---- memcached, NATS ---- */
	{"memcached login behind another command, and once more after it was refused",
	 false,
	 true,
	 {C("version\r\nset log 0 0 7\r\nme s3cr\r\n", "version\r\nset log 0 0 7\r\n*******\r\n"),
	  RSAME("CLIENT_ERROR unauthenticated\r\nCLIENT_ERROR authentication failure\r\n"),
	  C("set log 0 0 7\r\nme s3cR\r\n", "set log 0 0 7\r\n*******\r\n"), RSAME("STORED\r\n"),
	  SAME("set log 0 0 7\r\nme s3cr\r\n")}},
	{"memcached that wants no login",
	 false,
	 true,
	 {SAME("get a\r\n"), RSAME("END\r\n"), SAME("set log 0 0 7\r\nme s3cr\r\n")}},
	{"nats connect without a space, another name",
	 false,
	 true,
	 {C("CONNECT{\"pass\":\"s3\",\"access_token\":\"s3\",\"name\":\"s3\"}\r\nPING\r\n",
	    "CONNECT{\"pass\":\"**\",\"access_token\":\"**\",\"name\":\"s3\"}\r\nPING\r\n"),
	  RSAME("-ERR 'Authorization Violation'\r\n")}},
	{"amqp 1.0 login, then frames",
	 false,
	 true,
	 {C("AMQP\3\1\0\0\0\0\0\x16\2\1\0\0\0\x53\x41\xc0\x0b\2\xa3\1P\xa0\3s3c"
	    "AMQP\0\1\0\0\0\0\0\x0c\2\0\0\0open",
	    "AMQP\3\1\0\0\0\0\0\x16\2\1\0\0\0\x53\x41***********"
	    "AMQP\0\1\0\0\0\0\0\x0c\2\0\0\0open")}},
	/* ---- MQTT 5 ---- */
	{"mqtt user properties",
	 false,
	 true,
	 {C("\x10\x23\0\4MQTT\5\2\0\x3c\x16\x26\0\5token\0\3abc\x26\0\2id\0\2xy\0\0"
	    "\x30\x12\0\1t\x0c\x26\0\3PWD\0\4s3crp",
	    "\x10\x23\0\4MQTT\5\2\0\x3c\x16\x26\0\5token\0\3***\x26\0\2id\0\2xy\0\0"
	    "\x30\x12\0\1t\x0c\x26\0\3PWD\0\4****p"),
	  R("\x20\3\0\0\0\x32\x14\0\1t\0\1\x0c\x26\0\3pwd\0\4s3crp",
	    "\x20\3\0\0\0\x32\x14\0\1t\0\1\x0c\x26\0\3pwd\0\4****p")}},
	/* ---- Kafka ---- */
	{"kafka settings",
	 false,
	 true,
	 {C(KAFKA("\x3d", "\x21", "\0") "\0\0\0\1\4\0\0011\0\0\0\2"
					"\0\7segment\0\1\x39\0\x10ssl.key.password\0\4s3cr\0" KAFKA(
						"\x0c", "\x12", "\0"),
	    KAFKA("\x3d", "\x21", "\0") "\0\0\0\1\4\0\0011\0\0\0\2"
					"\0\7segment\0\1\x39\0\x10ssl.key.passw**********" KAFKA(
						"\x0c", "\x12", "\0"))}},
	{"kafka settings one by one, compact",
	 false,
	 true,
	 {C(KAFKA("\x2f", "\x2c", "\1") "\0\2\4\0021\2\x11sasl.jaas.config\0\7s3cret\0\0\0\0",
	    KAFKA("\x2f", "\x2c", "\1") "\0\2\4\0021\2\x11sasl.jaas.con***************")}},
	/* ---- MongoDB ---- */
	{"mongodb answer to usersInfo",
	 false,
	 true,
	 {SAME(MONGO("\x24", "\xdd") "\0\0\0\0\0\x0f\0\0\0\x10usersInfo\0\1"),
	  R(MONGO("\x3c", "\xdd") "\0\0\0\0\0\x27\0\0\0\4users\0\2storedKey\0\5\0\0\0s3cr\0\2a\0\2"
				  "\0\0\0b\0",
	    MONGO("\x3c", "\xdd") "\0\0\0\0\0\x27\0\0\0\4users\0\2storedKey\0\5\0\0\0****"
				  "\0\2a\0\2\0\0\0b\0")}},
	{"mongodb command behind its documents, or not compressed",
	 false,
	 true,
	 {C(MONGO("\x27", "\xdd") "\0\0\0\0\1\5\0\0\0a\0\2pwd\0\3\0\0\0s3\0" MONGO(
		    "\x29", "\xdc") "\xdd\7\0\0\x12\0\0\0\0\2pwd\0\3\0\0\0s3\0\0\0\0\0",
	    MONGO("\x27", "\xdd") "\0\0\0\0\1\5\0\0\0a\0\2pwd\0\3\0\0\0**\0" MONGO(
		    "\x29", "\xdc") "\xdd\7\0\0\x12\0\0\0\0\2pwd\0\3\0\0\0**\0\0\0\0\0")}},
	/* ---- Redis: commands that are a line ---- */
	{"redis inline behind blanks",
	 false,
	 true,
	 {C("PING\r\n \t AUTH s3\r\nPING\r\n", "PING\r\n \t AUTH **\r\nPING\r\n")}},
	{"redis inline in quotes, escaped",
	 false,
	 true,
	 {C("\"AUTH\" s3\r\n'auth' \"s 3\"\r\n\"\\x61uth\" s3\r\nau\"th\" s3\n",
	    "\"AUTH\" **\r\n'auth' *****\r\n\"\\x61uth\" **\r\nau\"th\" **\n")}},
	{"redis inline hello, a name before the login",
	 false,
	 true,
	 {C("HELLO 3 SETNAME me AUTH u s3\r\nhello 3 setname me\r\nhello world auth\r\n",
	    "HELLO 3 SETNAME me AUTH ****\r\nhello 3 setname me\r\nhello world auth\r\n")}},
	{"redis inline settings",
	 false,
	 true,
	 {C("CONFIG SET maxmemory 1 requirepass s3 timeout 2\r\nCONFIG SET timeout 0\r\n"
	    "CONFIG SET tls-key-file-pass s3\r\nSENTINEL SET m auth-pass s3\n",
	    "CONFIG SET maxmemory 1 requirepass ************\r\nCONFIG SET timeout 0\r\n"
	    "CONFIG SET tls-key-file-pass **\r\nSENTINEL SET m auth-pass **\n")}},
	{"redis inline behind a GET, migrate, acl",
	 false,
	 true,
	 {C("GET k\r\nAUTH s3\r\nMIGRATE h 1 k 0 9 COPY AUTH2 u s3\r\nACL SETUSER u >s3\r\n",
	    "GET k\r\nAUTH **\r\nMIGRATE h 1 k 0 9 COPY AUTH2 ****\r\nACL SETUSER *****\r\n")}},
	{"lines that are no such command",
	 false,
	 true,
	 {SAME("authors x\r\n  authentic y\r\nauth\r\n\"auth x\"\r\nconfig get a\r\nconnect "
	       "x\r\n")}},
	/* ---- Redis: bulk strings ---- */
	{"redis settings, several",
	 false,
	 true,
	 {C("*8\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$7\r\ntimeout\r\n$1\r\n0\r\n$17\r\ntls-key-file-"
	    "pass\r\n$2\r\ns3\r\n$10\r\nMASTERUSER\r\n$2\r\nme\r\n",
	    "*8\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$7\r\ntimeout\r\n$1\r\n0\r\n$17\r\ntls-key-file-"
	    "pass\r\n$2\r\n**\r\n$10\r\nMASTERUSER\r\n$2\r\n**\r\n")}},
	{"redis sentinel's password, then another option",
	 false,
	 true,
	 {C("*7\r\n$8\r\nSENTINEL\r\n$3\r\nSET\r\n$1\r\nm\r\n$9\r\nauth-pass\r\n$2\r\ns3\r\n$"
	    "6\r\nquorum\r\n$1\r\n2\r\n",
	    "*7\r\n$8\r\nSENTINEL\r\n$3\r\nSET\r\n$1\r\nm\r\n$9\r\nauth-pass\r\n$2\r\n**\r\n$"
	    "6\r\nquorum\r\n$1\r\n2\r\n")}},
	{"redis answers to CONFIG GET and ACL GETUSER",
	 false,
	 true,
	 {RSAME("+OK\r\n"),
	  R("%1\r\n$11\r\nrequirepass\r\n$2\r\ns3\r\n*4\r\n$5\r\nflags\r\n*1\r\n$2\r\non\r\n$"
	    "9\r\npasswords\r\n*2\r\n$4\r\nha5h\r\n$4\r\nh4sh\r\n",
	    "%1\r\n$11\r\nrequirepass\r\n$2\r\n**\r\n*4\r\n$5\r\nflags\r\n*1\r\n$2\r\non\r\n$"
	    "9\r\npasswords\r\n*2\r\n$4\r\n****\r\n$4\r\n****\r\n")}},
	{"redis login whose end was lost, and the command behind it",
	 false,
	 false,
	 {KEPT("*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n", 7, NULL),
	  SAME("*2\r\n$3\r\nGET\r\n$1\r\na\r\n")}},
	{"redis login that goes on behind lost bytes",
	 false,
	 false,
	 {KEPT("*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nAUTH\r\n$9\r\nsecr", 18, NULL),
	  C("et\r\n5\r\n*1\r\n$4\r\nPING\r\n", "*****\r\n*1\r\n$4\r\nPING\r\n")}},
	/* ---- PostgreSQL ---- */
	{"postgresql function call, rows copied in",
	 true,
	 true,
	 {C(STARTUP "F\0\0\0\x1b\0\0\0\7\0\1\0\1\0\2\0\0\0\3abc\xff\xff\xff\xff\0\1"
		    "d\0\0\0\x08rows"
		    "c\0\0\0\4",
	    STARTUP "F\0\0\0\x1b\0\0\0\7\0\1\0\1\0\2\0\0\0\3***\xff\xff\xff\xff\0\1"
		    "d\0\0\0\x08****"
		    "c\0\0\0\4")}},
	{"postgresql rows copied out",
	 true,
	 true,
	 {SAME(STARTUP), R("R\0\0\0\x08\0\0\0\0Z\0\0\0\5IH\0\0\0\7\0\0\0d\0\0\0\x08rows"
			   "c\0\0\0\4C\0\0\0\5\0Z\0\0\0\5I",
			   "R\0\0\0\x08\0\0\0\0Z\0\0\0\5IH\0\0\0\7\0\0\0d\0\0\0\x08****"
			   "c\0\0\0\4C\0\0\0\5\0Z\0\0\0\5I")}},
	{"postgresql rows and arguments stay without sql",
	 false,
	 true,
	 {SAME(STARTUP "F\0\0\0\x1b\0\0\0\7\0\1\0\1\0\2\0\0\0\3abc\xff\xff\xff\xff\0\1"
		       "d\0\0\0\x08rows"),
	  RSAME("d\0\0\0\x08rows")}},
	{"postgresql values of a statement that names a secret",
	 false,
	 true,
	 {SAME(STARTUP "P\0\0\0\x1b\0update t set pwd=$1\0\0\0"
		       "P\0\0\0\x13s2\0select $1\0\0\0"),
	  C("B\0\0\0\x14\0\0\0\0\0\1\0\0\0\4s3cr\0\0"
	    "B\0\0\0\x16\0s2\0\0\0\0\1\0\0\0\4show\0\0",
	    "B\0\0\0\x14\0\0\0\0\0\1\0\0\0\4****\0\0"
	    "B\0\0\0\x16\0s2\0\0\0\0\1\0\0\0\4show\0\0"),
	  SAME("P\0\0\0\x11\0select $1\0\0\0"
	       "B\0\0\0\x14\0\0\0\0\0\1\0\0\0\4show\0\0")}},
	{"postgresql statement whose middle was lost",
	 false,
	 false,
	 {SAME(STARTUP),
	  KEPT("Q\0\0\0\x30set password = 's3cret', and much more behind\0", 20,
	       "Q\0\0\0\x30set password = "),
	  SAME("Q\0\0\0\x0fselect 'a'\0")}},
	{"postgresql statement of which a call was lost",
	 false,
	 false,
	 {SAME(STARTUP), KEPT("Q\0\0\0\x0dselect 1\0Q\0\0\0\x10 set passw", 6, NULL),
	  C("= 's3cret'\0", "***********"), SAME("Q\0\0\0\x0fselect 'a'\0")}},
	{"postgresql error that repeats a secret",
	 false,
	 true,
	 {C(STARTUP "Q\0\0\0\x20"
		    "alter rol u password 's3cr'\0",
	    STARTUP "Q\0\0\0\x20"
		    "alter rol u password '****'\0"),
	  R("E\0\0\0\x1e"
	    "SERROR\0C42601\0Mat \"s3cr\"\0\0"
	    "Z\0\0\0\5I",
	    "E\0\0\0\x1e"
	    "SERROR\0C42601\0M*********\0\0"
	    "Z\0\0\0\5I"),
	  SAME("Q\0\0\0\x0e"
	       "selec 'a'\0"),
	  RSAME("E\0\0\0\x1b"
		"SERROR\0C42601\0Mat \"a\"\0\0")}},
	{"postgresql error that repeats a literal",
	 true,
	 true,
	 {SAME(STARTUP),
	  RSAME("R\0\0\0\x8\0\0\0\0"
		"Z\0\0\0\5I"),
	  C("Q\0\0\0\x0e"
	    "selec 'a'\0",
	    "Q\0\0\0\x0e"
	    "selec '*'\0"),
	  R("E\0\0\0\x1b"
	    "SERROR\0C42601\0Mat \"a\"\0\0",
	    "E\0\0\0\x1b"
	    "SERROR\0C42601\0M******\0\0")}},
	/* ---- MySQL ---- */
	{"mysql error that repeats a secret",
	 false,
	 true,
	 {C(PLAIN_LOGIN "******"
			"\x21\0\0\0"
			"\3"
			"alter usr u identified by 's3cr'",
	    PLAIN_LOGIN "******"
			"\x21\0\0\0"
			"\3"
			"alter usr u identified by '****'"),
	  R("\x16\0\0\1"
	    "\xff\x28\4#42000"
	    "near ''s3cr''",
	    "\x16\0\0\1"
	    "\xff\x28\4#42000"
	    "*************"),
	  SAME("\x0a\0\0\0"
	       "\3"
	       "selec 'a'"),
	  RSAME("\x15\0\0\1"
		"\xff\x28\4#42000"
		"near 'selec'"),
	  SAME("\x17\0\0\0"
	       "\3"
	       "select password from u"),
	  RSAME("\x01\0\0\1"
		"\1"
		"\x04\0\0\2"
		"s3cr")}},
	{"mysql file that is loaded",
	 true,
	 true,
	 {C(PLAIN_LOGIN "******\x05\0\0\0\3load\4\0\0\2rows\0\0\0\3",
	    PLAIN_LOGIN "******\x05\0\0\0\3load\4\0\0\2****\0\0\0\3")}},
	{"mysql login within TLS, as its library gives it",
	 false,
	 true,
	 {C(LOGIN("\x85", "\1", "\2") "secret\x07\0\0\4s3cret\0\x09\0\0\0\3select 1",
	    LOGIN("\x85", "\1", "\2") "******\x07\0\0\4*******\x09\0\0\0\3select 1"),
	  RSAME("\7\0\0\1\0\0\0\2\0\0\0")}},
	{"mysql packets that are compressed",
	 false,
	 true,
	 {C(LOGIN("\xa5", "\1", "\1") "******\x0d\0\0\0\0\0\0\x09\0\0\0\3set 's3'",
	    LOGIN("\xa5", "\1", "\1") "******\x0d\0\0\0****************")}},
	{"mysql packets that are compressed by zstd",
	 false,
	 true,
	 {C(LOGIN("\x85", "\5", "\1") "******\x0d\0\0\0\0\0\0\x09\0\0\0\3set 's3'",
	    LOGIN("\x85", "\5", "\1") "******\x0d\0\0\0****************")}},
	{"mysql query with attributes",
	 true,
	 true,
	 {C(LOGIN("\x85", "\x09", "\1") "******\x16\0\0\0\3\1\1\0\1\xfd\0\2id\3abcselect 1",
	    LOGIN("\x85", "\x09", "\1") "******\x16\0\0\0\3\1********************")}},
	{"mysql error of a login, which repeats none",
	 false,
	 true,
	 {SAME(PLAIN_LOGIN "******"), RSAME("\x16\0\0\2\xff\x15\4#28000Access denied")}},
	{"mysql parameters of a statement that names a secret",
	 false,
	 true,
	 {C(PLAIN_LOGIN "******\x13\0\0\0\x16update t set pwd=?"
			"\x0e\0\0\0\x17\1\0\0\0\0\1\0\0\0wxyz\x0a\0\0\0\x18\1\0\0\0\0\0abc",
	    PLAIN_LOGIN "******\x13\0\0\0\x16update t set pwd=?"
			"\x0e\0\0\0\x17\1\0\0\0\0\1\0\0\0****\x0a\0\0\0\x18\1\0\0\0\0\0***")}},
};

int main(void)
{
	return check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}
