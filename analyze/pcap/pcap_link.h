/* SPDX-License-Identifier: BSD-2-Clause */
/* Link types, as capture files number them (https://www.tcpdump.org/linktypes.html). */
#ifndef ANALYZE_PCAP_LINK_H
#define ANALYZE_PCAP_LINK_H

#include "analyze/pcap/pcap_walk.h"

/* Whether its frames may carry IP and can be taken apart. */
bool link_known(uint32_t link);
/* NULL: has none here. */
const char *link_name(uint32_t link);
/* The first step into a frame. */
enum packet_kind link_begin(struct walk *w);
/* Behind n bytes begins a frame of that link type. */
enum packet_kind link_inside(struct walk *w, uint32_t n, uint32_t link);

#endif
