/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which end of a connection is the server: by the SYN, else by other connections to the
 * same port, else by a guess from the ports. Without a SYN the content takes precedence
 * (pcap_undecided.h).
 */
#ifndef ANALYZE_PCAP_SERVER_H
#define ANALYZE_PCAP_SERVER_H

#include "analyze/pcap/pcap_packet.h"

/* Ends that were seen to accept connections; bounded. */
struct servers {
	struct endpoint *slots; /* port 0: empty slot */
	uint32_t cnt;
	uint64_t seed;
};

int servers__init(struct servers *s);
void servers__fini(struct servers *s);

/* Notes that this end accepts connections. */
void servers__learn(struct servers *s, const struct endpoint *e);

/*
 * Is the sender of the first packet seen of a connection the server? *sure is false if the ports do
 * not tell; the server then is assumed to be the end with the lower port (TCP) or the receiver
 * (UDP).
 */
bool servers__is_sender(struct servers *s, const struct packet *first, bool *sure);

#endif
