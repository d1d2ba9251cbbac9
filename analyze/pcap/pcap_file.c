/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/pcap/pcap_format.h"
#include "analyze/pcap/pcap_link.h"

enum { INTERFACES_MAX = 1 << 16, PCAP_HEAD_SZ = 24, PCAP_RECORD_SZ = 16 };

uint16_t file_u16(const struct pcap_file *c, const uint8_t *p)
{
	return c->big_endian ? p[0] << 8 | p[1] : p[1] << 8 | p[0];
}

uint32_t file_u32(const struct pcap_file *c, const uint8_t *p)
{
	return c->big_endian ? (uint32_t)file_u16(c, p) << 16 | file_u16(c, p + 2)
			     : (uint32_t)file_u16(c, p + 2) << 16 | file_u16(c, p);
}

int file_bad(struct pcap_file *c, const char *fmt, ...)
{
	const char *deeper = source__error(c->source);
	va_list args;

	va_start(args, fmt);
	if (deeper)
		snprintf(c->error, sizeof(c->error), "%s", deeper);
	else
		vsnprintf(c->error, sizeof(c->error), fmt, args);
	va_end(args);
	return -EBADMSG;
}

int file_read(struct pcap_file *c, size_t n, const char *what)
{
	size_t got;

	if (n > c->buf_sz) {
		uint8_t *buf = realloc(c->buf, n);

		if (!buf)
			return -ENOMEM;
		c->buf = buf;
		c->buf_sz = n;
	}
	got = source__read(c->source, c->buf, n);
	return got == n ? 0
			: file_bad(c, "truncated dump file; tried to read %zu %s, only got %zu", n,
				   what, got);
}

int file_add_interface(struct pcap_file *c, const struct interface *i)
{
	if (c->interface_cnt >= INTERFACES_MAX)
		return file_bad(c, "damaged: more than %d interfaces", INTERFACES_MAX);
	if (c->interface_cnt == c->interface_cap) {
		size_t cap = c->interface_cap ? c->interface_cap * 2 : 4;
		struct interface *more = realloc(c->interfaces, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->interfaces = more;
		c->interface_cap = cap;
	}
	c->interfaces[c->interface_cnt++] = *i;
	return 0;
}

uint64_t file_time(const struct interface *i, uint64_t ticks)
{
	int64_t sec =
		ticks / i->units > CAPTURE_SECONDS_MAX ? CAPTURE_SECONDS_MAX : ticks / i->units;
	uint64_t part = ticks % i->units;

	if (__builtin_add_overflow(sec, i->offset_s, &sec) || sec < 0)
		sec = 0;
	if ((uint64_t)sec >= CAPTURE_SECONDS_MAX)
		return CAPTURE_SECONDS_MAX * 1000000000;
	return sec * 1000000000 + (unsigned __int128)part * 1000000000 / i->units;
}

/* ---- pcap ---- */

static int pcap_next(struct pcap_file *c, struct pcap_frame *frame)
{
	const struct interface *i = &c->interfaces[0];
	uint8_t head[PCAP_RECORD_SZ];
	size_t got = source__read(c->source, head, sizeof(head));
	uint32_t sub;
	int err;

	if (!got && !source__error(c->source))
		return 0;
	if (got < sizeof(head))
		return file_bad(c,
				"truncated dump file; tried to read %d header bytes, only got %zu",
				PCAP_RECORD_SZ, got);
	sub = file_u32(c, head + 4);
	*frame = (struct pcap_frame){
		.link = i->link,
		.big_endian = c->big_endian,
		.ts_ns = file_time(i, file_u32(c, head) * i->units + sub % i->units),
		.cap = file_u32(c, head + 8),
		.len = file_u32(c, head + 12),
	};
	if (frame->cap > FRAME_MAX)
		return file_bad(c, "damaged: a packet of %u bytes", frame->cap);
	err = file_read(c, frame->cap, "captured bytes");
	frame->p = c->buf;
	return err ? err : 1;
}

int pcap_begin(struct pcap_file *c, const uint8_t magic[4])
{
	static const struct {
		uint32_t magic;
		uint64_t units;
	} kinds[] = {{0xa1b2c3d4, 1000000}, {0xa1b23c4d, 1000000000}};
	struct interface i = {0};
	int err;

	for (int k = 0; k < 4 && !i.units; k++) {
		c->big_endian = k & 1;
		if (file_u32(c, magic) == kinds[k / 2].magic)
			i.units = kinds[k / 2].units;
	}
	if (!i.units)
		return file_bad(c, "unknown file format");
	err = file_read(c, PCAP_HEAD_SZ - 4, "file header bytes");
	if (err)
		return err;
	/* The upper bits are flags and the length of the frame check sequence. */
	i.link = file_u32(c, c->buf + 16) & 0xffff;
	c->next = pcap_next;
	return file_add_interface(c, &i);
}

/* ---- both ---- */

static int begin(struct pcap_file *c)
{
	uint8_t magic[4];
	size_t got = source__read(c->source, magic, sizeof(magic));
	int err;

	if (got < sizeof(magic))
		return file_bad(c,
				"truncated dump file; tried to read 4 file header bytes, only got "
				"%zu",
				got);
	err = memcmp(magic, "\x0a\x0d\x0d\x0a", 4) ? pcap_begin(c, magic) : pcapng_begin(c);
	if (err)
		return err;
	c->first_result = c->next(c, &c->first);
	c->waits = true;
	return 0;
}

/* One supported link type is sufficient; frames of other link types are counted. */
static bool any_known(const struct pcap_file *c)
{
	for (size_t i = 0; i < c->interface_cnt; i++)
		if (link_known(c->interfaces[i].link))
			return true;
	return !c->interface_cnt;
}

int pcap_file__open(struct pcap_file **out, FILE *f, char *error, size_t error_sz)
{
	struct pcap_file *c = calloc(1, sizeof(*c));
	int err = -ENOMEM;

	if (!c)
		fclose(f);
	else
		err = source__new(&c->source, f);
	if (!err)
		err = begin(c);
	snprintf(error, error_sz, err == -ENOMEM ? "%s" : "not a packet capture: %s",
		 err == -ENOMEM ? strerror(ENOMEM)
		 : c		? c->error
				: "");
	if (!err && !any_known(c)) {
		const char *name = link_name(c->interfaces[0].link);

		snprintf(error, error_sz, "its link type %s (%u) is not supported",
			 name ? name : "unknown", c->interfaces[0].link);
		err = -EINVAL;
	}
	if (err) {
		pcap_file__free(c);
		return err == -ENOMEM ? err : -EINVAL;
	}
	*out = c;
	return 0;
}

void pcap_file__free(struct pcap_file *c)
{
	if (!c)
		return;
	source__free(c->source);
	free(c->interfaces);
	free(c->buf);
	free(c);
}

int pcap_file__next(struct pcap_file *c, struct pcap_frame *frame)
{
	if (!c->waits)
		return c->next(c, frame);
	c->waits = false;
	*frame = c->first;
	return c->first_result;
}

const char *pcap_file__error(const struct pcap_file *c)
{
	return c->error;
}
