/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_segment.h"

/* UNSEEN_MAX: bytes of the client that the capture may be missing. */
enum { UNSEEN_MAX = 1 << 20, SCALE_MAX = 14 };

bool segment_reopens(const struct flow *f, int dir, const struct packet *pk)
{
	const struct tcp_side *t = &f->side[dir];

	if ((pk->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return false;
	if (f->has_syn)
		return pk->seq != f->first_seq;
	/* A SYN captured after the first data, or a retransmitted one, belongs to this
	 * connection. */
	return t->begun ? pk->seq + 1 != t->next - (uint32_t)t->pos : f->closed;
}

bool segment_is_earlier(const struct flow *f, const struct packet *pk)
{
	const struct tcp_side *client = &f->side[1];
	uint32_t first = f->first_seq + 1, sent = client->next - first + client->fin;

	if (!f->has_syn || f->side[0].begun || (pk->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN)
		return false;
	if (!(pk->flags & TCP_ACK))
		return true;
	if (!(pk->flags & (TCP_SYN | TCP_RST)))
		sent += UNSEEN_MAX;
	return pk->ack - first > sent;
}

bool segment_resets(const struct flow *f, int dir, const struct packet *pk)
{
	const struct tcp_side *t = &f->side[dir];
	uint32_t expected = t->has_acked ? t->acked : t->next, window = f->window[!dir].most;

	if (!t->begun && !t->has_acked)
		return true;
	/* The receiver may have received more than the capture shows; a FIN counts, too. */
	if (t->begun && !tcp_is_old(t->next, expected) && t->next - expected > window)
		window = t->next - expected;
	/* Some stacks do not count their own FIN. */
	return pk->seq - expected + t->fin <= (uint64_t)window + 1 + t->fin;
}

bool segment_is_probe(const struct tcp_side *t, const struct packet *pk)
{
	if (pk->len != 1 || pk->flags & (TCP_SYN | TCP_FIN | TCP_RST))
		return false;
	/* No earlier acknowledgement: the last byte of ordinary data has PSH (RFC 9293, 3.9.1). */
	return t && t->has_acked ? pk->seq + 1 == t->acked : !(pk->flags & TCP_PSH);
}

bool segment_is_old(const struct tcp_side *t, const struct packet *pk)
{
	return t->begun && tcp_is_old(pk->seq + pk->len - 1, t->next);
}

void segment_note_window(struct flow_window *w, const struct packet *pk)
{
	uint32_t size;

	if (pk->flags & TCP_SYN) {
		w->syn_seen = true;
		w->scale = pk->scale ? pk->scale - 1 : 0;
		size = pk->window; /* never scaled */
	} else {
		size = (uint32_t)pk->window << (w->syn_seen ? w->scale : SCALE_MAX);
	}
	if (size > w->most)
		w->most = size;
}
