/* SPDX-License-Identifier: BSD-2-Clause */
/* Guesses the protocol from the bytes of a call, and how certain the guess is. */
#include <ctype.h>
#include <string.h>

#include "bpf/net/guess.h"
#include "record/traffic/unnamed_guess.h"

static uint32_t be(const uint8_t *d)
{
	return (uint32_t)d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3];
}

/* ---- reliability of the kernel's guesses: SURE alone, otherwise a second one is needed ---- */

/* POP3 and others also use "+OK" and "-ERR". */
static int sure_redis(const uint8_t *d, uint32_t call)
{
	(void)call;
	return d[0] == '-' || (d[0] == '+' && d[1] != 'P') ? GUESS_NOTHING
	       : d[0] == '+'				   ? GUESS_LIKELY
							   : GUESS_SURE;
}

static int sure_mysql(const uint8_t *d, uint32_t call)
{
	bool greets = !d[3] && d[4] == 10 && isdigit(d[5]), columns = d[3] == 1 && d[0] == 1;

	(void)call;
	return greets || columns ? GUESS_SURE : GUESS_LIKELY;
}

/* One request that fills the call, or two in a row. */
static int sure_kafka(const uint8_t *d, uint32_t call)
{
	uint32_t next = be(d) + 4, room = call < GUESS_BYTES ? call : GUESS_BYTES;

	if (next == call)
		return GUESS_SURE;
	return next >= 14 && next < room && room - next >= 15 && be(d + next) > 10 &&
			       be(d + next) < call && kafka_at(d + next + 4)
		       ? GUESS_SURE
		       : GUESS_LIKELY;
}

static int sure_thrift(const uint8_t *d, uint32_t call)
{
	(void)call;
	return d[0] == 0x80 || d[4] == 0x80 ? GUESS_SURE : GUESS_LIKELY;
}

#define SURE_WHEN(name, when)                                                                      \
	static int sure_##name(const uint8_t *d, uint32_t call)                                    \
	{                                                                                          \
		(void)d, (void)call;                                                               \
		return when ? GUESS_SURE : GUESS_LIKELY;                                           \
	}
SURE_WHEN(http1, true)
SURE_WHEN(brpc, true)
SURE_WHEN(dubbo, true)
SURE_WHEN(mongodb, true)
SURE_WHEN(memcached, true)
SURE_WHEN(mqtt, true)
SURE_WHEN(dns, false)
SURE_WHEN(cassandra, false)
SURE_WHEN(amqp, d[0] == 'A')
SURE_WHEN(nats, d[0] != '-')
SURE_WHEN(http2, d[0] == 'P')
SURE_WHEN(postgresql, be(d) == call) /* a start-up message */

/* ---- rules for connections joined later, in addition to the kernel's ---- */

/* MQTT: a packet that fills the call, with a text topic. */
static bool is_mqtt_later(const uint8_t *d, uint32_t have, uint32_t call)
{
	uint32_t left, at = 2, topic;

	if (have < 2 || call < 2)
		return false;
	if (d[0] == 0xc0 || d[0] == 0xd0)
		return !d[1] && call == 2;
	if (d[0] == 0x40 || d[0] == 0x50 || d[0] == 0x62 || d[0] == 0x70)
		return d[1] == 2 && call == 4;
	left = d[1] & 0x7f;
	if (d[1] & 0x80) {
		if (have < 3 || d[2] & 0x80)
			return false;
		left |= (uint32_t)d[2] << 7;
		at = 3;
	}
	if (d[0] >> 4 != 3 || at + left != call || have < at + 3)
		return false;
	topic = d[at] << 8 | d[at + 1];
	if (!topic || topic + 2 > left || topic + 2 + at > have)
		return false;
	for (uint32_t i = 0; i < topic; i++)
		if (d[at + 2 + i] < ' ')
			return false;
	return true;
}

/* NATS: keep-alive messages. */
static bool is_nats_later(const uint8_t *d, uint32_t have, uint32_t call)
{
	return have == 6 && call == 6 && (!memcmp(d, "PING\r\n", 6) || !memcmp(d, "PONG\r\n", 6));
}

/* Kafka: a client without client id. */
static bool is_kafka_later(const uint8_t *d, uint32_t have, uint32_t call)
{
	return have >= 14 && be(d) + 4 == call && !d[4] && d[5] <= 92 && !d[6] && d[7] < 20 &&
	       d[12] == 0xff && d[13] == 0xff;
}

/* Thrift's older binary protocol: a length-prefixed name and a message type; framed or not. */
static bool is_thrift_later(const uint8_t *d, uint32_t have, uint32_t call)
{
	uint32_t at = have >= 8 && be(d) + 4 == call ? 4 : 0, sz;

	if (have < at + 10)
		return false;
	sz = be(d + at);
	if (!sz || sz > 64 || at + 4 + sz + 5 > have || d[at + 4 + sz] < 1 || d[at + 4 + sz] > 4)
		return false;
	for (uint32_t i = at + 4; i < at + 4 + sz; i++)
		if (!isalnum(d[i]) && d[i] != '_' && d[i] != '.' && d[i] != ':')
			return false;
	return true;
}

#define LATER(X)                                                                                   \
	X(mqtt)                                                                                    \
	X(nats)                                                                                    \
	X(kafka)                                                                                   \
	X(thrift)

/* RFC 8446 5.1: first record of a handshake, or application data: contains no plaintext. */
static bool is_tls(const uint8_t *d, uint32_t have)
{
	return have >= 6 && d[1] == 3 &&
	       ((d[0] == 22 && d[2] <= 3 && (d[5] == 1 || d[5] == 2)) ||
		(d[0] == 23 && d[2] == 3 && d[3] <= 0x41));
}

struct guess guess_protocol(const uint8_t *p, uint32_t kept, uint32_t call, uint64_t pos,
			    bool dgram)
{
	uint8_t d[GUESS_BYTES + 16] = {0}; /* some tests read slightly beyond */
	const uint32_t have = kept < GUESS_BYTES ? kept : GUESS_BYTES;
	uint32_t size;

	memcpy(d, p, have);
	if (!pos && !dgram && is_tls(d, have))
		return (struct guess){NET_PROTO_CNT, GUESS_SURE};
#define GUESS(name, test, sz)                                                                      \
	if (guess_##name(d, 0, have, call, dgram, &size))                                          \
		return (struct guess){NET_PROTO_##name, dgram ? GUESS_SURE : sure_##name(d, call)};
#include "bpf/net/guess.def"
#undef GUESS
#define X(name)                                                                                    \
	if (!dgram && is_##name##_later(d, have, call))                                            \
		return (struct guess){NET_PROTO_##name, GUESS_LIKELY};
	LATER(X)
#undef X
	return (struct guess){NET_PROTO_UNKNOWN, GUESS_NOTHING};
}
