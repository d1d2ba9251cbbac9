/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packets of a capture file: pcap (draft-ietf-opsawg-pcap) and pcapng
 * (draft-ietf-opsawg-pcapng), in either byte order. Each packet has the link type of its own
 * interface, as pcapng files hold many.
 */
#ifndef ANALYZE_PCAP_FILE_H
#define ANALYZE_PCAP_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pcap_frame {
	uint32_t link;	    /* LINKTYPE_* */
	uint32_t interface; /* pcapng: its number */
	bool big_endian;    /* of who wrote the file: some link headers are in its order */
	uint64_t ts_ns;
	const uint8_t *p;  /* until the next */
	uint32_t cap, len; /* captured, and as it was sent */
};

struct pcap_file;

/*
 * Takes f over, on failure as well. 0, -ENOMEM, or -EINVAL: no capture, or one whose link types
 * are all unknown; `error` of error_sz bytes says which.
 */
int pcap_file__open(struct pcap_file **c, FILE *f, char *error, size_t error_sz);
void pcap_file__free(struct pcap_file *c);
/* 1, 0 at the end, -EBADMSG: cut or damaged here. */
int pcap_file__next(struct pcap_file *c, struct pcap_frame *frame);
const char *pcap_file__error(const struct pcap_file *c);

#endif
