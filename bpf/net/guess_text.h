/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Guesses of text protocols; see guess.h. */
#ifndef BPF_GUESS_TEXT_H
#define BPF_GUESS_TEXT_H

#include "bpf/net/guess_bytes.h"

GUESS_FN __u32 look_alike(const __u8 *d, __u32 have, __u32 from)
{
	__u32 begin = be32(0);

	if (have > GUESS_BYTES / 2)
		have = GUESS_BYTES / 2;
	d += from;
	for (__u32 i = 4; i < 4 + GUESS_STRETCH && from + i < have; i += 2) {
		if (at(i - 1) == '\n' && be32(i) == begin)
			return from + i;
		if (at(i) == '\n' && be32(i + 1) == begin)
			return from + i + 1;
	}
	return 0;
}

/* Start of the next line that begins with the same four bytes; 0: none within the search range. */
GUESS_FN __u32 next_alike(const __u8 *d, __u32 slot, __u32 have)
{
	__u32 found = 0;

	for (__u32 from = 0; !found && from < GUESS_BYTES / 2 && from + 4 < have;
	     from += GUESS_STRETCH)
		found = GUESS_LOOK(alike);
	return found;
}

/* ---- HTTP/1 (RFC 9112) ---- */

/* Less common methods, followed by a path. */
GUESS_FN bool is_other_method(const __u8 *d)
{
	switch (be32(0)) {
	case word4('N', 'O', 'T', 'I'):
		return text4(4, 'F', 'Y', ' ', '/');
	case word4('Q', 'U', 'E', 'R'):
		return at(4) == 'Y' && at(5) == ' ' && at(6) == '/';
	case word4('S', 'E', 'A', 'R'):
		return text4(4, 'C', 'H', ' ', '/');
	case word4('R', 'E', 'P', 'O'):
		return text4(4, 'R', 'T', ' ', '/');
	case word4('P', 'R', 'O', 'P'):
		return (at(4) == 'F' || at(4) == 'P') && at(5) >= 'A' && at(5) <= 'I';
	case word4('S', 'U', 'B', 'S'):
		return text4(7, 'B', 'E', ' ', '/');
	case word4('U', 'N', 'S', 'U'):
		return text4(9, 'B', 'E', ' ', '/');
	case word4('M', '-', 'S', 'E'):
		return text4(4, 'A', 'R', 'C', 'H');
	case word4('C', 'C', 'M', '_'):
		return text4(4, 'P', 'O', 'S', 'T');
	case word4('R', 'P', 'C', '_'):
		return text4(4, 'I', 'N', '_', 'D') || text4(4, 'O', 'U', 'T', '_');
	default:
		return false;
	}
}

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
	if (text4(3, 'I', 'O', 'N', 'S')) /* RTSP also has this method */
		return at(8) == '/' || at(8) == '*' || at(8) == 'h';
	return text4(2, 'T', 'C', 'H', ' ') || is_other_method(d);
}

/* Position after an empty line. One of its four bytes is at a multiple of four; its value
 * determines which one, which keeps the number of paths through the loop small. */
GUESS_FN __u32 look_empty(const __u8 *d, __u32 have, __u32 from)
{
	const __u32 crlf = '\r' << 8 | '\n';

	if (have > GUESS_BYTES - 4)
		have = GUESS_BYTES - 4;
	d += from;
	for (__u32 i = 4; i < 4 + GUESS_STRETCH && from + i < have; i += 4) {
		if (at(i) == '\r' && at(i + 1) == '\n') {
			if (be16(i + 2) == crlf)
				return from + i + 4;
			if (be16(i - 2) == crlf)
				return from + i + 2;
		} else if (at(i) == '\n' && at(i - 1) == '\r') {
			if (be16(i + 1) == crlf)
				return from + i + 3;
			if (be16(i - 3) == crlf)
				return from + i + 1;
		}
	}
	return 0;
}

/* Size of a request without a body. */
GUESS_FN __u32 http1_size(const __u8 *d, __u32 slot, __u32 have)
{
	__u32 found = 0;

	if ((at(0) != 'G' && at(0) != 'H' && at(0) != 'D' && at(0) != 'O') ||
	    text4(0, 'H', 'T', 'T', 'P'))
		return 0;
	for (__u32 from = 12; !found && from < GUESS_BYTES && from + 4 < have;
	     from += GUESS_STRETCH)
		found = GUESS_LOOK(empty);
	return found;
}

/* ---- Redis (RESP) ---- */

/* Size of a line such as "$5" with the string that follows it, or of a line with another number; 0
 * when it is neither. "$-1" has no string. */
GUESS_FN __u32 look_number(const __u8 *d, __u32 have, __u32 from)
{
	__u64 v = 0;

	if (have >= 5 && text4(1, '-', '1', '\r', '\n'))
		return 5;
	for (__u32 i = 1; i < 12 && i < have; i++) {
		if (at(i) == '\r' && i > 1)
			return at(0) == '$' ? i + 4 + v : i + 2;
		if (at(i) - '0' > 9)
			return 0;
		v = v * 10 + (at(i) - '0');
	}
	return 0;
}

GUESS_FN bool is_digit(__u32 c)
{
	return c - '0' <= 9;
}

GUESS_FN bool is_redis(const __u8 *d, __u32 slot, __u32 have)
{
	const __u32 from = 0;

	switch (at(0)) {
	case '*':
	case '$':
	case ':':
		return GUESS_LOOK(number);
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

/* Start of the next array. One of its first two bytes is at an even offset. */
GUESS_FN __u32 look_array(const __u8 *d, __u32 have, __u32 from)
{
	if (have > GUESS_BYTES - 2)
		have = GUESS_BYTES - 2;
	d += from;
	for (__u32 i = 4; i < 4 + GUESS_STRETCH && from + i < have; i += 2) {
		if (at(i) == '*' && at(i - 1) == '\n' && is_digit(at(i + 1)))
			return from + i;
		if (at(i) == '\n' && at(i + 1) == '*' && is_digit(at(i + 2)) && from + i + 1 < have)
			return from + i + 1;
	}
	return 0;
}

GUESS_FN __u32 redis_size(const __u8 *d, __u32 slot, __u32 have)
{
	__u32 from = 0, found = 0;

	if (at(0) == '+')
		return 5;
	if (at(0) == '-')
		return 0;
	if (at(0) != '*')
		return GUESS_LOOK(number);
	for (; !found && from < GUESS_BYTES && from + 4 < have; from += GUESS_STRETCH)
		found = GUESS_LOOK(array);
	return found;
}

/*
 * ---- memcached: text and meta commands and responses, binary; over UDP after a frame header ----
 */

GUESS_FN bool memcached_at(const __u8 *d)
{
	if ((at(0) & 0xfe) == 0x80) /* Thrift also starts with 80 01 */
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

/* Up to the next command with the same start, or to the end of the response. */
GUESS_FN __u32 memcached_size(const __u8 *d, __u32 slot, __u32 have)
{
	if (at(0) & 0x80)
		return 24 + be32(8);
	return next_alike(d, slot, have);
}

/* ---- NATS: upper-case commands, as clients and servers write them ---- */

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

/* Up to the next command with the same start. */
GUESS_FN __u32 nats_size(const __u8 *d, __u32 slot, __u32 have)
{
	return next_alike(d, slot, have);
}

#endif
