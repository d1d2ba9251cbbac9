/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_records.h"

#include <arpa/inet.h>
#include <string.h>

#include "format/redact/redact.h"

struct span address_text(const struct endpoint *e, char *buf, size_t sz)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool v4 = !memcmp(e->addr, mapped, 12);

	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? e->addr + 12 : e->addr, buf, sz);
	return (struct span){buf, strlen(buf)};
}

int flow_put_connection(struct flow_records *to, const struct flow *f)
{
	char local[ADDRESS_TEXT_MAX], remote[ADDRESS_TEXT_MAX];
	const struct rec_connection r = {
		.id = f->id,
		.process = f->process,
		.transport = f->proto,
		.local_addr = address_text(&f->end[0], local, sizeof(local)),
		.local_port = f->end[0].port,
		.remote_addr = address_text(&f->end[1], remote, sizeof(remote)),
		.remote_port = f->end[1].port,
		.role = f->role,
		.opened_ns = f->opened_ns,
		.sampled = 1,
	};

	return to->sink.put(to->sink.ctx, REC_connection, &r);
}

/* The round-trip time to each end is measured from the point of capture. The sum is the time of the
 * whole path, wherever the capture was made. */
static uint32_t round_trip(const struct flow *f)
{
	return f->side[0].srtt_us + f->side[1].srtt_us;
}

void flow_unlist(struct flow *f)
{
	if (!f->changed_at)
		return;
	*f->changed_at = f->next_changed;
	if (f->next_changed)
		f->next_changed->changed_at = f->changed_at;
	f->changed_at = NULL;
}

static void list_changed(struct flow_records *to, struct flow *f)
{
	if (f->changed_at)
		return;
	f->next_changed = to->changed;
	f->changed_at = &to->changed;
	if (to->changed)
		to->changed->changed_at = &f->next_changed;
	to->changed = f;
}

int flow_put_stat(struct flow_records *to, struct flow *f, uint64_t ts_ns)
{
	const struct flow_counts *c = &f->counts;
	const struct rec_connection_stat r = {
		.connection = f->id,
		.ts_ns = ts_ns,
		.bytes_sent = c->bytes[0],
		.bytes_received = c->bytes[1],
		.sends = c->calls[0],
		.receives = c->calls[1],
		.retransmits = f->side[0].retransmits - c->retransmits,
		.srtt_us = round_trip(f),
	};

	flow_unlist(f);
	f->counts = (struct flow_counts){.retransmits = f->side[0].retransmits};
	return to->sink.put(to->sink.ctx, REC_connection_stat, &r);
}

static void mask(struct flow_records *to, struct flow *f, struct rec_payload *r)
{
	const struct redact_payload call = {
		r->direction, r->position, r->len, r->data.len, (const uint8_t *)r->data.p,
		to->masked};
	struct redact_conn *alone = NULL;

	if (redact__apply(r->flags & PAYLOAD_DATAGRAM ? &alone : &f->redact, to->redact_sql,
			  &call)) {
		r->data.p = (const char *)to->masked;
		r->flags |= PAYLOAD_REDACTED;
	}
	redact_conn__free(alone);
}

/* The length of strings is limited, so a very long segment takes several records. The last one also
 * counts the bytes not captured. */
int flow_put_payload(struct flow_records *to, struct flow *f, int dir, uint64_t pos,
		     const struct tcp_segment *s)
{
	size_t kept = s->data.len < to->payload ? s->data.len : to->payload, off = 0;
	int err = 0;

	f->counts.bytes[dir] += s->len;
	f->counts.calls[dir]++;
	list_changed(to, f);
	while (!err && off < s->len) {
		size_t n = kept - off < STRING_MAX ? kept - off : STRING_MAX;
		uint32_t len = off + n == kept ? s->len - off : n;
		struct rec_payload r = {
			.connection = f->id,
			.thread = f->process,
			.ts_ns = s->ts_ns,
			.direction = dir,
			.position = pos + off,
			.len = len,
			.tcp_seq = f->proto == TRANSPORT_TCP ? s->seq + (uint32_t)off : 0,
			/* What was received is in the capture before. */
			.flags = f->proto == TRANSPORT_UDP ? PAYLOAD_DATAGRAM : PAYLOAD_ALL_READ,
			.peer = {"", 0},
			.data = {s->data.p + off, n},
		};

		if (to->redact && n)
			mask(to, f, &r);
		err = to->sink.put(to->sink.ctx, REC_payload, &r);
		off += len;
	}
	return err;
}

int flow_put_stats(struct flow_records *to, uint64_t ts_ns)
{
	int err = 0;

	while (to->changed && !err)
		err = flow_put_stat(to, to->changed, ts_ns);
	return err;
}
