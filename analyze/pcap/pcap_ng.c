/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcapng: sections of blocks. Each block has a type, and its length before and after the body. A
 * section has its own byte order and interfaces. A packet names its interface, which gives the link
 * type and time unit.
 */
#include <errno.h>
#include <string.h>

#include "analyze/pcap/pcap_format.h"

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OLD = 2, /* obsolete: 16-bit interface, 16-bit drop count */
	BLOCK_PACKET_SIMPLE = 3,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_MAX = 16 << 20,
	OPTION_TSRESOL = 9,
	OPTION_TSOFFSET = 14,
};

/* The section header tells the byte order, so it is read before that is known. */
static int begin_section(struct pcap_file *c, const uint8_t length[4])
{
	uint32_t len;
	int err = file_read(c, 4, "section header bytes");

	if (err)
		return err;
	c->big_endian = !memcmp(c->buf, "\x1a\x2b\x3c\x4d", 4);
	if (!c->big_endian && memcmp(c->buf, "\x4d\x3c\x2b\x1a", 4) != 0)
		return file_bad(c, "damaged: a section without byte order");
	len = file_u32(c, length);
	if (len < 28 || len % 4 || len > BLOCK_MAX)
		return file_bad(c, "damaged: a section header of %u bytes", len);
	c->section_first = c->interface_cnt;
	return file_read(c, len - 12, "section header bytes");
}

static uint64_t units_of(uint8_t resolution)
{
	uint64_t units = 1;
	unsigned exponent = resolution & 0x7f, base = resolution & 0x80 ? 2 : 10;

	/* A finer unit does not fit; 64-bit times in it would cover almost no time. */
	while (exponent-- && units < UINT64_MAX / 16)
		units *= base;
	return units;
}

static void interface_option(const struct pcap_file *c, struct interface *i, uint16_t code,
			     const uint8_t *p, uint16_t len)
{
	if (code == OPTION_TSRESOL && len == 1)
		i->units = units_of(*p);
	if (code == OPTION_TSOFFSET && len == 8) {
		uint64_t a = file_u32(c, p), b = file_u32(c, p + 4);

		i->offset_s = c->big_endian ? a << 32 | b : b << 32 | a;
	}
}

static int add_interface(struct pcap_file *c, const uint8_t *p, size_t sz)
{
	struct interface i = {.units = 1000000};

	if (sz < 8)
		return file_bad(c, "damaged: an interface of %zu bytes", sz);
	i.link = file_u16(c, p);
	i.snaplen = file_u32(c, p + 4);
	for (size_t at = 8; at + 4 <= sz;) {
		uint16_t code = file_u16(c, p + at), len = file_u16(c, p + at + 2);

		if (!code || len > sz - at - 4)
			break;
		interface_option(c, &i, code, p + at + 4, len);
		at += 4 + (len + 3u) / 4 * 4;
	}
	return file_add_interface(c, &i);
}

/* Parses a packet block, depending on its type. */
static int packet(struct pcap_file *c, uint32_t type, const uint8_t *p, size_t sz,
		  struct pcap_frame *frame)
{
	bool simple = type == BLOCK_PACKET_SIMPLE;
	size_t head = simple ? 4 : 20;
	uint32_t number = 0;
	const struct interface *i;

	if (sz < head)
		return file_bad(c, "damaged: a packet block of %zu bytes", sz);
	if (!simple)
		number = type == BLOCK_PACKET ? file_u32(c, p) : file_u16(c, p);
	if (number >= c->interface_cnt - c->section_first)
		return file_bad(c, "damaged: a packet of interface %u, which is not described",
				number);
	number += c->section_first;
	i = &c->interfaces[number];
	*frame = (struct pcap_frame){
		.link = i->link,
		.interface = number,
		.big_endian = c->big_endian,
		.p = p + head,
		.cap = file_u32(c, simple ? p : p + 12),
		.len = file_u32(c, simple ? p : p + 16),
	};
	if (simple && i->snaplen && frame->cap > i->snaplen)
		frame->cap = i->snaplen;
	if (simple && frame->cap > sz - head)
		frame->cap = sz - head;
	if (!simple)
		frame->ts_ns =
			file_time(i, (uint64_t)file_u32(c, p + 4) << 32 | file_u32(c, p + 8));
	if (frame->cap > sz - head || frame->cap > FRAME_MAX)
		return file_bad(c, "damaged: a packet of %u bytes in a block of %zu", frame->cap,
				sz);
	return 1;
}

/* Parses a block whose body was read. 0: it holds no packet. */
static int take(struct pcap_file *c, uint32_t type, size_t sz, struct pcap_frame *frame)
{
	switch (type) {
	case BLOCK_INTERFACE:
		return add_interface(c, c->buf, sz);
	case BLOCK_PACKET:
	case BLOCK_PACKET_OLD:
	case BLOCK_PACKET_SIMPLE:
		return packet(c, type, c->buf, sz, frame);
	}
	return 0;
}

static int pcapng_next(struct pcap_file *c, struct pcap_frame *frame)
{
	int err = 0;

	while (!err) {
		uint8_t head[8] = {0};
		size_t got = source__read(c->source, head, sizeof(head));
		uint32_t type = file_u32(c, head), len = file_u32(c, head + 4);

		if (!got && !source__error(c->source))
			return 0;
		if (got < sizeof(head))
			return file_bad(c,
					"truncated dump file; tried to read 8 block header bytes, "
					"only got %zu",
					got);
		if (type == BLOCK_SECTION) {
			err = begin_section(c, head + 4);
			continue;
		}
		if (len < 12 || len % 4 || len > BLOCK_MAX)
			return file_bad(c, "damaged: a block of %u bytes", len);
		err = file_read(c, len - 8, "block bytes");
		if (!err)
			err = take(c, type, len - 12, frame);
	}
	return err;
}

int pcapng_begin(struct pcap_file *c)
{
	uint8_t length[4];

	c->next = pcapng_next;
	if (source__read(c->source, length, sizeof(length)) < sizeof(length))
		return file_bad(c, "truncated dump file");
	return begin_section(c, length);
}
