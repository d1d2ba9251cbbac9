/* SPDX-License-Identifier: BSD-2-Clause */
/* Link types as numbered in capture files (https://www.tcpdump.org/linktypes.html). */
#ifndef ANALYZE_PCAP_LINK_H
#define ANALYZE_PCAP_LINK_H

#include "analyze/pcap/pcap_walk.h"

/* Can the link type carry IP, and is it supported? */
bool link_known(uint32_t link);
/* NULL: no name known. */
const char *link_name(uint32_t link);
/* The first parsing step of a frame. */
enum packet_kind link_begin(struct walk *w);
/* A frame of that link type begins after n bytes. */
enum packet_kind link_inside(struct walk *w, uint32_t n, uint32_t link);

#endif
