/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes payload records: masks secrets, adds peers and threads. */
#include <stdio.h>
#include <string.h>

#include "format/redact/redact.h"
#include "format/text.h"
#include "record/traffic/traffic_impl.h"

/* RFC 8446, 5.1: a stream begins with a handshake record, client_hello or server_hello. A stream
 * joined later may begin with application_data. */
static bool begins_tls(const struct wire_payload *p)
{
	const uint8_t *d = p->data;

	if (p->pos || p->kept < 6 || p->flags & (PAYLOAD_TLS | PAYLOAD_DATAGRAM))
		return false;
	return d[1] == 3 && ((d[0] == 22 && d[2] <= 3 && (d[5] == 1 || d[5] == 2)) ||
			     (d[0] == 23 && d[2] == 3 && d[3] <= 0x41));
}

static void look_for_tls(struct traffic *t, const struct wire_payload *p)
{
	struct known *k = t->tls && begins_tls(p) ? idmap_get(&t->socks, p->sock) : NULL;

	if (k)
		k->sealed = true;
}

/* On arrival, not when the protocol is detected. */
static void note_seq(struct traffic *t, const struct wire_payload *p, struct payload_flow *flow)
{
	bool noted = flow && flow->seq_noted[p->dir & 1];

	if (!noted)
		noted = traffic_note_seq(t, p);
	if (flow)
		flow->seq_noted[p->dir & 1] = noted;
}

/* `flow`: state of the connection; NULL if nothing is masked. */
void traffic_write_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow)
{
	struct traffic *t = ctx;
	char peer[ADDR_SZ], host[INET6_ADDRSTRLEN];
	struct rec_payload r = {
		.connection = p->sock,
		.thread = tracker__thread(t->opts.tracker, p->tgid, p->tid, p->comm, p->ts_ns),
		.ts_ns = p->ts_ns,
		.direction = p->dir,
		.position = p->pos,
		.len = p->len,
		.tcp_seq = p->tcp_seq,
		.flags = p->flags,
		.data = {(const char *)p->data, p->kept},
	};

	note_seq(t, p, flow);
	if (traffic_addr_text(&p->peer, host, sizeof(host)).len) {
		snprintf(peer, sizeof(peer), p->peer.family == 6 ? "[%s]:%u" : "%s:%u", host,
			 p->peer.port);
		r.peer = span_of(peer);
	}
	if (flow && p->kept <= sizeof(t->masked)) {
		const struct redact_payload call = {p->dir,  p->pos,  p->len,
						    p->kept, p->data, t->masked};

		if (flow->lost[p->dir & 1])
			redact__lost(&flow->redact, p->dir);
		flow->lost[p->dir & 1] = false;
		if (redact__apply(&flow->redact, t->redact_sql, &call)) {
			r.data.p = (const char *)t->masked;
			r.flags |= PAYLOAD_REDACTED;
		}
	} else if (flow) {
		r.data.len = 0; /* never written unmasked */
	}
	if (p->flags & PAYLOAD_UNNAMED) {
		t->counts.unnamed++;
		t->counts.unnamed_bytes += p->len;
	}
	t->counts.payloads++;
	traffic_put(t, REC_payload, &r);
}

/* Holds it until its protocol is known. */
void traffic_take_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow)
{
	struct traffic *t = ctx;

	note_seq(t, p, flow);
	unnamed__put(t->unnamed, p, flow);
}

void traffic_end_payload(void *ctx, struct payload_flow *flow)
{
	struct traffic *t = ctx;

	unnamed__end(t->unnamed, flow);
}

void traffic__payload(struct traffic *t, const struct wire_payload *p)
{
	look_for_tls(t, p);
	if (t->payloads)
		payloads__put(t->payloads, p);
	else
		traffic_write_payload(t, p, NULL);
}

void traffic__drained(struct traffic *t)
{
	if (t->payloads)
		payloads__pass(t->payloads, false);
}
