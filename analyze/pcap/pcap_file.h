/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the packets of a capture file: pcap (draft-ietf-opsawg-pcap) or pcapng
 * (draft-ietf-opsawg-pcapng), in either byte order. Each packet has the link type of its interface,
 * because a pcapng file may contain several.
 */
#ifndef ANALYZE_PCAP_FILE_H
#define ANALYZE_PCAP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pcap_frame {
	uint32_t link;	    /* LINKTYPE_* */
	uint32_t interface; /* pcapng: interface number */
	bool big_endian;    /* byte order of the file's writer, which some link headers use */
	uint64_t ts_ns;
	const uint8_t *p;  /* valid until the next call */
	uint32_t cap, len; /* bytes captured; length on the wire */
};

struct pcap_file;

/*
 * Takes ownership of f, on failure as well. 0, -ENOMEM, or -EINVAL: not a capture, or all its link
 * types are unknown. `error`, of error_sz bytes, then says which.
 */
int pcap_file__open(struct pcap_file **c, FILE *f, char *error, size_t error_sz);
void pcap_file__free(struct pcap_file *c);
/* 1: a packet; 0: end of file; -EBADMSG: truncated or damaged here. */
int pcap_file__next(struct pcap_file *c, struct pcap_frame *frame);
const char *pcap_file__error(const struct pcap_file *c);

#endif
