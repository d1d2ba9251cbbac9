/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the readers of both capture formats. No other file includes it. */
#ifndef ANALYZE_PCAP_FORMAT_H
#define ANALYZE_PCAP_FORMAT_H

#include "analyze/pcap/pcap_file.h"
#include "analyze/pcap/pcap_source.h"

struct interface {
	uint32_t link, snaplen; /* snaplen 0: no limit */
	uint64_t units;		/* time units per second */
	int64_t offset_s;
};

struct pcap_file {
	struct source *source;
	int (*next)(struct pcap_file *c, struct pcap_frame *frame);
	bool big_endian;
	bool waits; /* `first` has been read ahead */
	int first_result;
	struct pcap_frame first;
	uint32_t section_first; /* number of interfaces in earlier sections */
	struct interface *interfaces;
	size_t interface_cnt, interface_cap;
	uint8_t *buf;
	size_t buf_sz;
	char error[128];
};

/* Maximum size of a packet: libpcap writes at most 256 KiB. */
enum { FRAME_MAX = 1 << 18 };
/* Up to year 2255: the tables store signed nanoseconds. */
#define CAPTURE_SECONDS_MAX 9000000000ULL

uint16_t file_u16(const struct pcap_file *c, const uint8_t *p);
uint32_t file_u32(const struct pcap_file *c, const uint8_t *p);
/* Returns -EBADMSG and sets the error text (printf), unless the source has an error of its own. */
int file_bad(struct pcap_file *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Reads n bytes to c->buf. 0 or negative errno. */
int file_read(struct pcap_file *c, size_t n, const char *what);
int file_add_interface(struct pcap_file *c, const struct interface *i);
/* Converts a packet time in units of interface i. */
uint64_t file_time(const struct interface *i, uint64_t ticks);

/* Reads the rest of the header after its first four bytes; sets `next`. */
int pcap_begin(struct pcap_file *c, const uint8_t magic[4]);
int pcapng_begin(struct pcap_file *c);

#endif
