/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides whether a TCP segment belongs to the connection with its ports (RFC 9293, 3.10.7). */
#ifndef ANALYZE_PCAP_SEGMENT_H
#define ANALYZE_PCAP_SEGMENT_H

#include "analyze/pcap/pcap_flow.h"

/* Is it a SYN of another connection, which reuses the ports? */
bool segment_reopens(const struct flow *f, int dir, const struct packet *pk);
/* A segment from the server before its SYN was seen: does it acknowledge what this connection never
 * sent? */
bool segment_is_earlier(const struct flow *f, const struct packet *pk);
/* Does the receiver accept this reset, because its sequence number is in the window? */
bool segment_resets(const struct flow *f, int dir, const struct packet *pk);
/* Is the first segment of its direction (t not begun, or NULL) a keep-alive probe: one byte that
 * was sent before? */
bool segment_is_probe(const struct tcp_side *t, const struct packet *pk);
/* Were all of its bytes seen before? */
bool segment_is_old(const struct tcp_side *t, const struct packet *pk);

void segment_note_window(struct flow_window *w, const struct packet *pk);

#endif
