/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * A call's protocol from its first bytes, as cheaply as the kernel can: bounded loops, no memory
 * but the bytes. Compiled for BPF and, in the tests, for user space.
 */
#ifndef BPF_GUESS_H
#define BPF_GUESS_H

#ifndef __bpf__
#include <stdbool.h>
#endif

#include "net.h"

enum { GUESS_BYTES = 512 }; /* can be read at `d`, whatever `have` is */

#define at(i) ((__u32)d[i])
#define be16(i) (at(i) << 8 | at((i) + 1))
#define be24(i) (at(i) << 16 | at((i) + 1) << 8 | at((i) + 2))
#define be32(i) (be16(i) << 16 | be16((i) + 2))
#define le24(i) (at(i) | at((i) + 1) << 8 | at((i) + 2) << 16)
#define le32(i) (le24(i) | at((i) + 3) << 24)
#define text4(i, a, b, c, e) (be32(i) == ((__u32)(a) << 24 | (b) << 16 | (c) << 8 | (e)))

#define GUESS_FN static __always_inline

/* ---- HTTP/1 (RFC 9112) ---- */

GUESS_FN bool is_http1(const __u8 *d)
{
	if (text4(0, 'H', 'T', 'T', 'P'))
		return text4(3, 'P', '/', '1', '.');
	if (text4(0, 'G', 'E', 'T', ' ') || text4(0, 'P', 'U', 'T', ' '))
		return true;
	if (text4(0, 'P', 'O', 'S', 'T') || text4(0, 'H', 'E', 'A', 'D'))
		return at(4) == ' ';
	if (text4(0, 'D', 'E', 'L', 'E') || text4(0, 'C', 'O', 'N', 'N'))
		return text4(3, 'E', 'T', 'E', ' ') ||
		       (text4(4, 'E', 'C', 'T', ' ') && at(8) != '{');
	return text4(3, 'I', 'O', 'N', 'S') || text4(2, 'T', 'C', 'H', ' ');
}

/* Of a request without a body: past its empty line, of whose four bytes one is at a multiple of
 * four; which one, its value tells, so that few ways lead through the loop. */
GUESS_FN __u32 http1_size(const __u8 *d, __u32 have)
{
	const __u32 crlf = '\r' << 8 | '\n';

	if (at(0) == 'P' || text4(0, 'H', 'T', 'T', 'P') || at(0) == 'C')
		return 0;
	for (__u32 i = 16; i < GUESS_BYTES - 4 && i < have; i += 4) {
		if (at(i) == '\r' && at(i + 1) == '\n') {
			if (be16(i + 2) == crlf)
				return i + 4;
			if (be16(i - 2) == crlf)
				return i + 2;
		} else if (at(i) == '\n' && at(i - 1) == '\r') {
			if (be16(i + 1) == crlf)
				return i + 3;
			if (be16(i - 3) == crlf)
				return i + 1;
		}
	}
	return 0;
}

/* ---- HTTP/2 (RFC 9113): the preface, or a frame's header ---- */

GUESS_FN bool is_http2(const __u8 *d)
{
	__u32 len = be24(0), type = at(3), flags = at(4), stream = be32(5);

	if (text4(0, 'P', 'R', 'I', ' '))
		return true;
	/* Larger frames must be agreed on, and hardly are. */
	if (len > 16384 || stream >> 31)
		return false;
	switch (type) {
	case 0: /* DATA */
		return stream && !(flags & ~0x9u) && (len || flags & 1);
	case 1: /* HEADERS */
		return stream && len && !(flags & ~0x2du);
	case 3: /* RST_STREAM */
		return stream && len == 4 && !flags;
	case 4: /* SETTINGS */
		return !stream && flags <= 1 && len % 6 == 0;
	case 6: /* PING */
		return !stream && flags <= 1 && len == 8;
	case 7: /* GOAWAY */
		return !stream && len >= 8 && !flags;
	case 8: /* WINDOW_UPDATE */
		return len == 4 && !flags;
	case 9: /* CONTINUATION */
		return stream && len && !(flags & ~0x4u);
	default:
		return false;
	}
}

/* Only DATA may be long: whatever else begins here, more frames are likely. */
GUESS_FN __u32 http2_size(const __u8 *d)
{
	return at(0) == 'P' || at(3) ? 9 : 9 + be24(0);
}

/* ---- Redis (RESP) ---- */

/* The number from d[1] to its CRLF; its value, and the position behind the CRLF in *end; -1 for
 * none. "-1" counts as 0. */
GUESS_FN __s64 resp_number(const __u8 *d, __u32 have, __u32 *end)
{
	__s64 v = 0;

	if (have >= 5 && text4(1, '-', '1', '\r', '\n')) {
		*end = 5;
		return 0;
	}
	for (__u32 i = 1; i < 12 && i < have; i++) {
		if (at(i) == '\r' && i > 1) {
			*end = i + 2;
			return v;
		}
		if (at(i) < '0' || at(i) > '9')
			return -1;
		v = v * 10 + (at(i) - '0');
	}
	return -1;
}

GUESS_FN bool is_digit(__u32 c)
{
	return c - '0' <= 9;
}

GUESS_FN bool is_redis(const __u8 *d, __u32 have)
{
	__u32 end;

	switch (at(0)) {
	case '*':
	case '$':
	case ':':
		return resp_number(d, have, &end) >= 0;
	case '+':
		return text4(0, '+', 'O', 'K', '\r') || text4(0, '+', 'P', 'O', 'N') ||
		       text4(0, '+', 'Q', 'U', 'E');
	case '-':
		return at(1) >= 'A' && at(1) <= 'Z' && at(2) >= 'A' && at(2) <= 'Z' &&
		       !(at(4) == ' ' && at(5) == '\''); /* NATS: -ERR 'text' */
	default:
		return false;
	}
}

GUESS_FN __u32 redis_size(const __u8 *d, __u32 have)
{
	__u32 end = 0;
	__s64 v;

	if (at(0) == '+')
		return 5;
	if (at(0) == '-')
		return 0;
	v = resp_number(d, have, &end);
	if (at(0) == '$' && v >= 0)
		return end == 5 && !v ? end : end + v + 2;
	if (at(0) == ':')
		return end;
	/* An array: the next one's beginning, of whose first two bytes one is at an even place. */
	for (__u32 i = 4; i < GUESS_BYTES - 2 && i < have; i += 2) {
		if (at(i) == '*' && at(i - 1) == '\n' && is_digit(at(i + 1)))
			return i;
		if (at(i) == '\n' && at(i + 1) == '*' && is_digit(at(i + 2)) && i + 1 < have)
			return i + 1;
	}
	return 0;
}

/* ---- Thrift: binary, compact, THeader; framed or not ---- */

GUESS_FN bool thrift_at(const __u8 *p)
{
	if (p[0] == 0x80)
		return p[1] == 1 && !p[2] && p[3] >= 1 && p[3] <= 4;
	if (p[0] == 0x82)
		return (p[1] & 0x1f) == 1;
	return p[0] == 0x0f && p[1] == 0xff;
}

GUESS_FN bool is_thrift(const __u8 *d)
{
	return thrift_at(d) || (be32(0) < 1u << 28 && be32(0) > 4 && thrift_at(d + 4));
}

GUESS_FN __u32 thrift_size(const __u8 *d)
{
	return thrift_at(d) ? 0 : 4 + be32(0);
}

/* ---- MongoDB: a header with one of the opcodes from 2001 on; that of old replies is too small to
 * tell ---- */

GUESS_FN bool is_mongodb(const __u8 *d)
{
	return at(12) >= 0xd1 && at(12) <= 0xdd && be24(13) == 0x070000 && at(3) <= 2;
}

/* ---- Kafka: a request's head and its client's name; brokers read the length before it apart ----
 */

GUESS_FN bool kafka_at(const __u8 *p)
{
	return !p[0] && p[1] <= 92 && !p[2] && p[3] < 20 && !p[8] && p[9] && p[10] > ' ' &&
	       p[10] < 0x7f;
}

GUESS_FN bool is_kafka(const __u8 *d, __u32 call)
{
	if (be32(0) < call)
		return be32(0) > 10 && kafka_at(d + 4);
	return at(9) + 10 <= call && kafka_at(d);
}

/* 0 where the length was read before. */
GUESS_FN __u32 kafka_size(const __u8 *d, __u32 call)
{
	return be32(0) < call ? 4 + be32(0) : 0;
}

/* ---- MySQL: a command, a greeting, or an answer that fills the call ---- */

GUESS_FN bool is_mysql(const __u8 *d, __u32 have, __u32 call)
{
	__u32 len = le24(0), seq = at(3), first = at(4);

	if (!len || len + 4 > call)
		return false;
	if (!seq && len + 4 == call)
		return first <= 0x1f; /* a command; a greeting begins with 0x0a */
	if (seq == 1 && len + 4 == call)
		return (!first && len >= 7) ||
		       (first == 0xff && len > 8 && have > 8 && at(7) == '#');
	/* a result set: its column count alone in the first packet, then a definition */
	return seq == 1 && len == 1 && first && have >= 13 && at(8) == 2 && at(9) == 3 &&
	       text4(9, 3, 'd', 'e', 'f');
}

/* ---- PostgreSQL, protocol 3: type and length, or a start-up message ---- */

GUESS_FN bool is_postgresql(const __u8 *d, __u32 have, __u32 call)
{
	__u32 len = be32(1);

	if (have >= 8 && be32(0) == call)
		return be32(4) == 0x30000 || (be32(4) >= 80877102 && be32(4) <= 80877104);
	if (len < 4 || len > call - 1 || len > 1u << 24)
		return false;
	switch (at(0)) {
	case 'Q':
	case 'R':
	case 'S':
	case 'E':
	case 'D':
	case 'C':
	case 'T':
	case 'Z':
	case 'p':
	case 'P':
	case 'B':
	case 'X':
	case 'K':
	case '1':
	case '2':
	case '3':
	case 't':
	case 'n':
	case 'N':
	case 'A':
		return true;
	default:
		return false;
	}
}

/* ---- DNS (RFC 1035): one question, no odd bits; over TCP behind its length ---- */

GUESS_FN bool dns_at(const __u8 *p)
{
	return !(p[2] & 0x78) && !(p[3] & 0x40) && !p[4] && p[5] == 1 && !p[6] && !p[8] && !p[10];
}

GUESS_FN bool is_dns(const __u8 *d, __u32 have, __u32 call, bool dgram)
{
	if (dgram)
		return have >= 17 && dns_at(d);
	return have >= 19 && be16(0) >= 17 && be16(0) + 2 <= call && dns_at(d + 2);
}

/* ---- AMQP 0-9-1: the greeting, or a frame's head and what its payload begins with ---- */

GUESS_FN bool is_amqp(const __u8 *d)
{
	if (at(0) == 'A')
		return text4(0, 'A', 'M', 'Q', 'P') && be32(4) == 0x901;
	if (at(0) == 8)
		return be32(0) == 8u << 24 && be32(4) == 0xce;
	if (be32(3) >> 20)
		return false;
	if (at(0) == 2)
		return be32(7) == 60u << 16;
	return at(0) == 1 && at(8) && at(8) <= 90 && at(8) % 5 == 0 && !at(7) && !at(9) && at(10);
}

/* With the header and bodies of a content: publish, return, deliver, get-ok. */
GUESS_FN __u32 amqp_size(const __u8 *d, __u32 have)
{
	__u32 i = 0;

	if (at(0) > 2)
		return 8;
	if (at(0) == 1) {
		i = 8 + be32(3);
		if (be32(7) != (60u << 16 | 40) && be32(7) != (60u << 16 | 50) &&
		    be32(7) != (60u << 16 | 60) && be32(7) != (60u << 16 | 71))
			return i;
	}
	if (i > GUESS_BYTES - 32 || i + 19 > have)
		return i;
	return i + (be32(i + 15) ? 16 : 8) + be32(i + 3) + be32(i + 15) + (be32(i + 15) >> 17) * 8;
}

/* Where the next line begins that begins with the same four bytes; 0: there is none near. */
GUESS_FN __u32 next_alike(const __u8 *d, __u32 have)
{
	__u32 begin = be32(0);

	for (__u32 i = 4; i < GUESS_BYTES / 2 && i < have; i += 2) {
		if (at(i) == at(0) && at(i - 1) == '\n' && be32(i) == begin)
			return i;
		if (at(i) == '\n' && at(i + 1) == at(0) && be32(i + 1) == begin)
			return i + 1;
	}
	return 0;
}

/* ---- memcached: text and meta commands and answers, binary; in UDP behind a frame ---- */

#define word4(a, b, c, e) ((__u32)(a) << 24 | (b) << 16 | (c) << 8 | (e))

GUESS_FN bool memcached_at(const __u8 *d)
{
	if ((at(0) & 0xfe) == 0x80) /* 80 01 begins Thrift as well */
		return at(1) <= 0x24 && !at(2) && at(4) <= 20 && !at(5) && !(be32(8) >> 30) &&
		       (at(0) == 0x81 || at(1) != 1 || at(4) == 8);
	switch (be32(0)) {
	case word4('g', 'e', 't', ' '):
	case word4('g', 'e', 't', 's'):
	case word4('g', 'a', 't', ' '):
	case word4('g', 'a', 't', 's'):
	case word4('s', 'e', 't', ' '):
	case word4('a', 'd', 'd', ' '):
	case word4('c', 'a', 's', ' '):
	case word4('V', 'A', 'L', 'U'):
	case word4('E', 'N', 'D', '\r'):
	case word4('S', 'T', 'O', 'R'):
	case word4('N', 'O', 'T', '_'):
		return true;
	case word4('i', 'n', 'c', 'r'):
	case word4('d', 'e', 'c', 'r'):
		return at(4) == ' ';
	case word4('d', 'e', 'l', 'e'):
		return text4(3, 'e', 't', 'e', ' ');
	case word4('D', 'E', 'L', 'E'):
		return text4(4, 'T', 'E', 'D', '\r');
	case word4('t', 'o', 'u', 'c'):
		return at(4) == 'h' && at(5) == ' ';
	case word4('T', 'O', 'U', 'C'):
		return text4(4, 'H', 'E', 'D', '\r');
	}
	/* mg, ms, md, ma; HD, VA, EN */
	if (at(2) == ' ')
		return (at(0) == 'm' &&
			(at(1) == 'g' || at(1) == 's' || at(1) == 'd' || at(1) == 'a')) ||
		       (at(0) == 'V' && at(1) == 'A') || (at(0) == 'H' && at(1) == 'D');
	return text4(0, 'H', 'D', '\r', '\n') || text4(0, 'E', 'N', '\r', '\n');
}

GUESS_FN bool is_memcached(const __u8 *d, __u32 have, bool dgram)
{
	if (!dgram)
		return memcached_at(d);
	return have >= 12 && !at(4) && at(5) && !be16(6) && memcached_at(d + 8);
}

/* To the next one that begins as this one does, or to the answer's end. */
GUESS_FN __u32 memcached_size(const __u8 *d, __u32 have)
{
	if (at(0) & 0x80)
		return 24 + be32(8);
	return next_alike(d, have);
}

/* ---- Cassandra, versions 3 to 5: envelopes; version 5's segments, whose head has a CRC ---- */

GUESS_FN bool is_envelope(const __u8 *d)
{
	__u32 version = at(0) & 0x7f, opcode = at(4);

	if (version < 3 || version > 5 || at(1) > 31 || opcode > 16 || at(5) > 15)
		return false;
	/* Opcodes of responses and of requests; streams below 0 are the server's. */
	return (at(0) >> 7 ? 0x1514du : 0xaea2u) >> opcode & 1 &&
	       (!(at(2) >> 7) || opcode == 12 || !opcode);
}

GUESS_FN bool is_segment(const __u8 *d)
{
	__u32 crc = 0x875060;

	if (at(2) > 3)
		return false;
	for (__u32 i = 0; i < 24; i++) {
		if (!(i & 7))
			crc ^= at(i / 8) << 16;
		crc <<= 1;
		crc ^= -(crc >> 24 & 1) & 0x1974f0b;
	}
	return (crc & 0xffffff) == le24(3);
}

GUESS_FN __u32 cassandra_size(const __u8 *d)
{
	if (is_envelope(d))
		return 9 + be32(5);
	if (!is_envelope(d + 6))
		return 10 + (le24(0) & 0x1ffff);
	return 15 + be32(11) + (9 + be32(11) >= (le24(0) & 0x1ffff) ? 4 : 0);
}

/* ---- NATS: its commands in capitals, as clients and servers write them ---- */

GUESS_FN bool is_nats(const __u8 *d)
{
	if (at(0) == 'H') /* HPUB, HMSG */
		return (at(1) == 'P' && text4(1, 'P', 'U', 'B', ' ')) ||
		       text4(1, 'M', 'S', 'G', ' ');
	switch (be32(0)) {
	case word4('P', 'U', 'B', ' '):
	case word4('M', 'S', 'G', ' '):
	case word4('S', 'U', 'B', ' '):
		return true;
	case word4('C', 'O', 'N', 'N'):
		return text4(5, 'C', 'T', ' ', '{');
	case word4('I', 'N', 'F', 'O'):
		return at(4) == ' ' && at(5) == '{';
	case word4('U', 'N', 'S', 'U'):
		return at(4) == 'B' && at(5) == ' ';
	case word4('-', 'E', 'R', 'R'):
		return at(4) == ' ' && at(5) == '\'';
	default:
		return false;
	}
}

/* To the next one that begins as this one does. */
GUESS_FN __u32 nats_size(const __u8 *d, __u32 have)
{
	return next_alike(d, have);
}

/* One test each; *size: of the first message, 0 when it does not tell. */
#define GUESS(name, test, sz)                                                                      \
	GUESS_FN bool guess_##name(const __u8 *d, __u32 have, __u32 call, bool dgram, __u32 *size) \
	{                                                                                          \
		if (!(test))                                                                       \
			return false;                                                              \
		*size = sz;                                                                        \
		return true;                                                                       \
	}
#include "guess.def"
#undef GUESS

/* Protocols that have a line in guess.def; bits by enum net_protocol. */
GUESS_FN __u64 guess_known(void)
{
#define GUESS(name, test, size) | 1ull << NET_PROTO_##name
	return 0
#include "guess.def"
		;
#undef GUESS
}

#undef word4
#undef be16
#undef be24
#undef be32
#undef le24
#undef le32
#undef text4
#undef at
#endif
