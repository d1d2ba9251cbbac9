/* SPDX-License-Identifier: BSD-2-Clause */
/* Known connections and their rows. */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "record/traffic/traffic_impl.h"

void traffic_put(struct traffic *t, enum rec_kind kind, const void *rec)
{
	int err = obz_writer__put(t->opts.writer, kind, rec);

	if (err && !t->err)
		t->err = err;
}

struct span traffic_addr_text(const struct net_addr *a, char *buf, size_t sz)
{
	if (!a->family || !inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->addr, buf, sz))
		return (struct span){"", 0};
	return span_of(buf);
}

/* An abstract name begins with a zero byte, shown as @; a path may be followed by zeros. */
static struct span path_text(const struct known *k, char *buf)
{
	size_t n = k->path_sz;

	if (!n)
		return (struct span){"", 0};
	memcpy(buf, k->path, n);
	if (!buf[0])
		buf[0] = '@';
	else
		n = strnlen(buf, n);
	return (struct span){buf, n};
}

static uint64_t less(uint64_t all, uint64_t others, uint64_t told)
{
	return all > others && all - others > told ? all - others : told;
}

/* The kernel side counts all processes that use the socket together; the other processes have
 * separate rows. Those are read later and may be ahead. */
void traffic_own_counts(struct traffic *t, struct net_sock *s)
{
	const struct known *k = idmap_get(&t->socks, s->id);
	uint64_t id = s->id; /* key of sockets that were replaced by another */
	struct net_others o;

	if (!(s->flags & NET_SHARED) || (bpf_map_lookup_elem(t->opts.others_fd, &id, &o) &&
					 bpf_map_lookup_elem(t->opts.others_fd, &s->key, &o)))
		return;
	for (unsigned dir = 0; dir < 2; dir++) {
		s->bytes[dir] = less(s->bytes[dir], o.bytes[dir], k ? k->sock.bytes[dir] : 0);
		s->calls[dir] = less(s->calls[dir], o.calls[dir], k ? k->sock.calls[dir] : 0);
	}
}

static uint32_t role_of(const struct net_sock *s)
{
	if (s->flags & NET_CLIENT)
		return ROLE_CLIENT;
	return s->flags & NET_SERVER ? ROLE_SERVER : ROLE_UNKNOWN;
}

void traffic_write_connection(struct traffic *t, const struct known *k)
{
	const struct net_sock *s = &k->sock;
	char local[ADDR_SZ], remote[ADDR_SZ];
	struct rec_connection r = {
		.id = s->id,
		.process = k->process,
		.cookie = s->inode,
		.transport = s->transport,
		.local_addr = s->transport > 256
				      ? path_text(k, local)
				      : traffic_addr_text(&s->local, local, sizeof(local)),
		.local_port = s->local.port,
		.remote_addr = traffic_addr_text(&s->remote, remote, sizeof(remote)),
		.remote_port = s->remote.port,
		.role = role_of(s),
		.opened_ns = s->opened_ns,
		.peer_pid = s->peer_pid,
		.netns = s->netns,
		.sampled = !(s->flags & NET_SAMPLED_OUT),
		.tls = !!(s->flags & NET_TLS),
		.shares = s->flags & NET_SHARE ? s->shared : 0,
	};

	traffic_put(t, REC_connection, &r);
}

static uint64_t seq_key(uint32_t id, unsigned dir)
{
	return (uint64_t)id << 1 | dir;
}

static void take_seq(struct known *k, unsigned dir, uint32_t seq)
{
	if (!seq || k->has_seq[dir])
		return;
	k->has_seq[dir] = true;
	k->begin_seq[dir] = seq;
}

bool traffic_note_seq(struct traffic *t, const struct wire_payload *p)
{
	struct known *k = p->tcp_seq ? idmap_get(&t->socks, p->sock) : NULL;
	uint64_t key = seq_key(p->sock, p->dir & 1);
	uint32_t seq = p->tcp_seq - (uint32_t)p->pos;

	if (!p->tcp_seq || !seq)
		return false;
	if (k)
		take_seq(k, p->dir & 1, seq);
	else if (!idmap_get(&t->early[0], key) && !idmap_get(&t->early[1], key))
		idmap_put(&t->early[0], key, (void *)(uintptr_t)seq);
	return true;
}

void traffic_sweep_early(struct traffic *t)
{
	idmap_fini(&t->early[1]);
	t->early[1] = t->early[0];
	t->early[0] = (struct idmap){0};
}

struct known *traffic_know(struct traffic *t, const struct net_sock *s, const char *comm,
			   uint64_t ts_ns)
{
	struct known *k = calloc(1, sizeof(*k));

	if (!k || idmap_put(&t->socks, s->id, k)) {
		free(k);
		loss__add(t->opts.loss, "l4", "connection: out of memory", 1);
		return NULL;
	}
	k->sock = *s;
	k->polled = t->polls;
	/* None of its traffic is written yet. */
	memset(k->sock.bytes, 0, sizeof(k->sock.bytes));
	memset(k->sock.calls, 0, sizeof(k->sock.calls));
	k->sock.retransmits = 0;
	k->process = tracker__process(t->opts.tracker, s->tgid, comm, ts_ns);
	for (unsigned dir = 0; dir < 2; dir++)
		for (unsigned i = 0; i < 2; i++)
			take_seq(k, dir, (uintptr_t)idmap_del(&t->early[i], seq_key(s->id, dir)));
	t->counts.connections++;
	return k;
}

/* Its process is known only after the first transfer (net_sock.bpf.h, adopt()). Returns true if it
 * changed. */
bool traffic_adopted(struct traffic *t, struct known *k, const struct net_sock *s, const char *comm,
		     uint64_t ts_ns)
{
	if (k->sock.tgid == s->tgid)
		return false;
	k->sock.tgid = s->tgid;
	k->process = tracker__process(t->opts.tracker, s->tgid, comm, ts_ns);
	return true;
}

/* connect() has assigned its port, or a peer to a datagram socket. */
bool traffic_moved(struct known *k, const struct net_sock *s)
{
	bool same = !memcmp(&k->sock.local, &s->local, sizeof(s->local)) &&
		    !memcmp(&k->sock.remote, &s->remote, sizeof(s->remote));

	k->sock.local = s->local;
	k->sock.remote = s->remote;
	return !same;
}

/* Its plaintext has begun to arrive. */
bool traffic_became_tls(struct known *k, uint32_t flags)
{
	bool now = flags & ~k->sock.flags & NET_TLS;

	k->sock.flags |= flags & NET_TLS;
	return now;
}

void traffic_write_stat(struct traffic *t, struct known *k, const struct net_sock *now,
			uint64_t ts_ns)
{
	struct rec_connection_stat r = {
		.connection = now->id,
		.ts_ns = ts_ns,
		.bytes_sent = now->bytes[NET_SENT] - k->sock.bytes[NET_SENT],
		.bytes_received = now->bytes[NET_RECEIVED] - k->sock.bytes[NET_RECEIVED],
		.sends = now->calls[NET_SENT] - k->sock.calls[NET_SENT],
		.receives = now->calls[NET_RECEIVED] - k->sock.calls[NET_RECEIVED],
		.retransmits = now->retransmits - k->sock.retransmits,
		.srtt_us = now->srtt_us,
		.sent_seq = k->begin_seq[NET_SENT],
		.received_seq = k->begin_seq[NET_RECEIVED],
	};

	if (!r.sends && !r.receives && !r.retransmits && !r.sent_seq && !r.received_seq)
		return;
	t->counts.bytes += r.bytes_sent + r.bytes_received;
	traffic_put(t, REC_connection_stat, &r);
	k->sock = *now;
	k->begin_seq[NET_SENT] = k->begin_seq[NET_RECEIVED] = 0;
}

void traffic_count_unread(struct traffic *t, struct known *k)
{
	if (k->sealed && !(k->sock.flags & NET_TLS))
		loss__add(t->opts.loss, "tls",
			  "connection: no TLS library that can be read in its program", 1);
	k->sealed = false;
}

void traffic_forget(struct traffic *t, struct known *k)
{
	traffic_count_unread(t, k);
	if (t->payloads)
		payloads__close(t->payloads, k->sock.id);
	idmap_del(&t->socks, k->sock.id);
	free(k->path);
	free(k);
}

void traffic_write_close(struct traffic *t, struct known *k, const struct net_sock *s,
			 uint64_t closed_ns)
{
	struct rec_connection_close r = {
		.connection = k->sock.id,
		.closed_ns = closed_ns,
		.how = s->flags & NET_RESET	  ? CLOSE_RESET
		       : s->flags & NET_TIMED_OUT ? CLOSE_TIMED_OUT
						  : CLOSE_OTHER,
	};

	if (k->closed)
		return;
	traffic_put(t, REC_connection_close, &r);
	k->closed = true;
	k->polled = t->polls;
}
