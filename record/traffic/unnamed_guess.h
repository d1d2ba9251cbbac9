/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef RECORD_UNNAMED_GUESS_H
#define RECORD_UNNAMED_GUESS_H

#include <stdbool.h>
#include <stdint.h>

enum guess_points { GUESS_NOTHING, GUESS_LIKELY, GUESS_SURE };
enum { GUESS_PROTOCOLS = 64 };

struct guess {
	uint8_t protocol; /* enum net_protocol; NET_PROTO_CNT: TLS */
	uint8_t points;	  /* enum guess_points */
};

/* Guesses from the first `kept` of `call` bytes of a call at position `pos` of its direction. */
struct guess guess_protocol(const uint8_t *p, uint32_t kept, uint32_t call, uint64_t pos,
			    bool dgram);

#endif
