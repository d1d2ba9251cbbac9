/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Guesses of binary protocols; see guess.h. */
#ifndef BPF_GUESS_BINARY_H
#define BPF_GUESS_BINARY_H

#include "bpf/net/guess_bytes.h"

/* ---- HTTP/2 (RFC 9113): the preface, or a frame's header ---- */

GUESS_FN bool is_http2(const __u8 *d)
{
	__u32 len = be24(0), type = at(3), flags = at(4), stream = be32(5);

	if (text4(0, 'P', 'R', 'I', ' '))
		return true;
	/* Larger frames require SETTINGS_MAX_FRAME_SIZE, which is rare. */
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

/* Only DATA may be long. After any other frame, more frames are likely. */
GUESS_FN __u32 http2_size(const __u8 *d)
{
	return at(0) == 'P' || at(3) ? 9 : 9 + be24(0);
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

/* ---- MongoDB: a header with an opcode from 2001 on; the opcode of old replies (1) is too
 * unspecific ---- */

GUESS_FN bool is_mongodb(const __u8 *d)
{
	return at(12) >= 0xd1 && at(12) <= 0xdd && be24(13) == 0x070000 && at(3) <= 2;
}

/* ---- Kafka: request header with client name; brokers read the preceding length separately ---- */

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

/* 0 when the length was read by an earlier call. */
GUESS_FN __u32 kafka_size(const __u8 *d, __u32 call)
{
	return be32(0) < call ? 4 + be32(0) : 0;
}

/* ---- MySQL: a command, a greeting, or a response that fills the call ---- */

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
	/* a result set: the first packet has only the column count; then a column definition */
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

/* ---- DNS (RFC 1035): one question, no unusual bits, not NetBIOS (a name of 32 letters of type NB
 * or NBSTAT); over TCP after the length field ---- */

GUESS_FN bool dns_at(const __u8 *p)
{
	if (p[12] == 32 && !p[45] && !p[46] && (p[47] == 32 || p[47] == 33))
		return false;
	/* Queries, NOTIFY, UPDATE. */
	if ((p[2] & 0x78) && (p[2] & 0x78) != 0x20 && (p[2] & 0x78) != 0x28)
		return false;
	return !(p[3] & 0x40) && !p[4] && p[5] == 1 && !p[6] && !p[8] && !p[10];
}

GUESS_FN bool is_dns(const __u8 *d, __u32 have, __u32 call, bool dgram)
{
	if (dgram)
		return have >= 17 && dns_at(d);
	return have >= 19 && be16(0) >= 17 && be16(0) + 2 <= call && dns_at(d + 2);
}

/* ---- AMQP 0-9-1: the protocol header, or a frame header and the start of its payload ---- */

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

/* Includes the content header and bodies of publish, return, deliver, get-ok. */
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

/* ---- Cassandra, versions 3 to 5: envelopes; segments of version 5, whose header has a CRC ---- */

GUESS_FN bool is_envelope(const __u8 *d)
{
	__u32 version = at(0) & 0x7f, opcode = at(4);

	if (version < 3 || version > 5 || at(1) > 31 || opcode > 16 || at(5) > 15)
		return false;
	/* Opcodes of responses and of requests; the server uses negative stream ids. */
	return (at(0) >> 7 ? 0x1514du : 0xaea2u) >> opcode & 1 &&
	       (!(at(2) >> 7) || opcode == 12 || !opcode);
}

GUESS_FN bool look_segment(const __u8 *d, __u32 have, __u32 from)
{
	__u32 crc = 0x875060;

	for (__u32 i = 0; i < 24; i++) {
		if (!(i & 7))
			crc ^= at(i / 8) << 16;
		crc <<= 1;
		crc ^= (crc >> 24 & 1) * 0x1974f0b;
	}
	return (crc & 0xffffff) == le24(3);
}

GUESS_FN bool is_segment(const __u8 *d, __u32 slot)
{
	const __u32 have = GUESS_BYTES, from = 0;

	return at(2) <= 3 && GUESS_LOOK(segment);
}

GUESS_FN __u32 cassandra_size(const __u8 *d)
{
	if (is_envelope(d))
		return 9 + be32(5);
	if (!is_envelope(d + 6))
		return 10 + (le24(0) & 0x1ffff);
	return 15 + be32(11) + (9 + be32(11) >= (le24(0) & 0x1ffff) ? 4 : 0);
}

#endif
