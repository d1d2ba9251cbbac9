/* SPDX-License-Identifier: BSD-2-Clause */
/* Which end of a connection is the server: by its SYN, else by other connections to the same port,
 * else guessed from the ports. Without a SYN its content has the last word (pcap_undecided.h). */
#ifndef ANALYZE_PCAP_SERVER_H
#define ANALYZE_PCAP_SERVER_H

#include "analyze/pcap/pcap_packet.h"

/* Ends that were seen to accept connections; bounded. */
struct servers {
	struct endpoint *slots; /* port 0 is free */
	uint32_t cnt;
	uint64_t seed;
};

int servers__init(struct servers *s);
void servers__fini(struct servers *s);

/* That end accepts connections. */
void servers__learn(struct servers *s, const struct endpoint *e);

/*
 * The first packet seen of a connection: whether its sender is the server. *sure is false when the
 * ports do not tell (the answer then is the lower one, or who was asked first).
 */
bool servers__is_sender(struct servers *s, const struct packet *first, bool *sure);

#endif
