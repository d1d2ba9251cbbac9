/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a TCP segment belongs to the connection that its ports name (RFC 9293, 3.10.7). */
#ifndef ANALYZE_PCAP_SEGMENT_H
#define ANALYZE_PCAP_SEGMENT_H

#include "analyze/pcap/pcap_flow.h"

/* A SYN of another connection: the ports are used again. */
bool segment_reopens(const struct flow *f, int dir, const struct packet *pk);
/* From the server before its SYN was seen: it acknowledges what this connection never sent. */
bool segment_is_earlier(const struct flow *f, const struct packet *pk);
/* Whether the receiver of that reset takes it: its number is in the window. */
bool segment_resets(const struct flow *f, int dir, const struct packet *pk);
/* The first of its direction (t not begun, or NULL) asks whether the other end still lives: one
 * byte that was sent before. */
bool segment_is_probe(const struct tcp_side *t, const struct packet *pk);
/* All of its bytes were there before. */
bool segment_is_old(const struct tcp_side *t, const struct packet *pk);

void segment_note_window(struct flow_window *w, const struct packet *pk);

#endif
