/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../format/redact.h"
#include "../format/text.h"
#include "idmap.h"
#include "listeners.h"
#include "loss.h"
#include "payloads.h"
#include "process.h"
#include "traffic.h"

enum { BATCH = 512, ADDR_SZ = NET_UNIX_PATH + INET6_ADDRSTRLEN };
#define LINGER_NS 200000000ULL

/* A connection as the archive knows it. */
struct known {
	struct net_sock sock; /* as last read; its counts are written */
	uint32_t process, role;
	uint64_t polled;       /* number of the poll that saw it last */
	uint64_t told_ns;      /* when the newest announcement was made */
	uint32_t begin_seq[2]; /* TCP, by enum net_dir: of position 0; 0: not known, or told */
	bool has_seq[2];
	bool closed; /* its end is written; kept for what comes late, as rings are read in turn */
	bool sealed; /* began with TLS, not clear text out of it */
	uint8_t path_sz;
	char *path; /* Unix sockets: not NUL-terminated */
};

struct traffic {
	struct traffic_opts opts;
	struct idmap socks; /* id -> struct known */
	struct idmap early; /* seq_key() -> sequence number, of those not announced yet */
	struct listeners *listeners;
	struct payloads *payloads; /* NULL: nothing is masked */
	struct traffic_counts counts;
	uint64_t polls;
	int err; /* first of a write */
	uint64_t *keys;
	struct net_sock *values;
	uint8_t masked[NET_MAX_PAYLOAD]; /* a call's bytes while secrets are masked */
};

static void write_payload(void *ctx, const struct wire_payload *p, struct redact_conn **redact);

int traffic__new(struct traffic **out, const struct traffic_opts *opts)
{
	struct traffic *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->keys = calloc(BATCH, sizeof(*t->keys));
	t->values = calloc(BATCH, sizeof(*t->values));
	if (!t->keys || !t->values || listeners__new(&t->listeners) ||
	    (opts->redact && payloads__new(&t->payloads, write_payload, t))) {
		traffic__free(t);
		return -ENOMEM;
	}
	*out = t;
	return 0;
}

void traffic__free(struct traffic *t)
{
	struct known *k;

	if (!t)
		return;
	for (size_t i = 0; (k = idmap_next(&t->socks, &i));) {
		free(k->path);
		free(k);
	}
	idmap_fini(&t->socks);
	idmap_fini(&t->early);
	listeners__free(t->listeners);
	payloads__free(t->payloads);
	free(t->keys);
	free(t->values);
	free(t);
}

static void put(struct traffic *t, enum rec_kind kind, const void *rec)
{
	int err = obz_writer__put(t->opts.writer, kind, rec);

	if (err && !t->err)
		t->err = err;
}

/* ---- connections ---- */

/* Text of an address into buf; empty when there is none. */
static struct span addr_text(const struct net_addr *a, char *buf, size_t sz)
{
	if (!a->family || !inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->addr, buf, sz))
		return (struct span){"", 0};
	return span_of(buf);
}

/* An abstract name begins with a zero byte, shown as @; a path may have zeros behind it. */
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

static uint32_t role_of(struct traffic *t, const struct net_sock *s)
{
	if (s->flags & NET_CLIENT)
		return ROLE_CLIENT;
	if (s->flags & NET_SERVER)
		return ROLE_SERVER;
	if (s->transport > 256 || !s->local.port)
		return ROLE_UNKNOWN;
	/* Older than the capture: a listening socket on its port tells. */
	if (listeners__has(t->listeners, s->netns, s->tgid, s->transport, s->local.port))
		return ROLE_SERVER;
	return s->remote.family ? ROLE_CLIENT : ROLE_UNKNOWN;
}

static void write_connection(struct traffic *t, const struct known *k)
{
	const struct net_sock *s = &k->sock;
	char local[ADDR_SZ], remote[ADDR_SZ];
	struct rec_connection r = {
		.id = s->id,
		.process = k->process,
		.cookie = s->inode,
		.transport = s->transport,
		.local_addr = s->transport > 256 ? path_text(k, local)
						 : addr_text(&s->local, local, sizeof(local)),
		.local_port = s->local.port,
		.remote_addr = addr_text(&s->remote, remote, sizeof(remote)),
		.remote_port = s->remote.port,
		.role = k->role,
		.opened_ns = s->opened_ns,
		.peer_pid = s->peer_pid,
		.netns = s->netns,
		.sampled = !(s->flags & NET_SAMPLED_OUT),
		.tls = !!(s->flags & NET_TLS),
	};

	put(t, REC_connection, &r);
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

/* By these obana finds the two ends of a connection whatever their addresses were translated to on
 * the way. */
static void note_seq(struct traffic *t, const struct wire_payload *p)
{
	struct known *k = p->tcp_seq ? idmap_get(&t->socks, p->sock) : NULL;
	uint64_t key = seq_key(p->sock, p->dir & 1);
	uint32_t seq = p->tcp_seq - (uint32_t)p->pos;

	if (k)
		take_seq(k, p->dir & 1, seq);
	else if (p->tcp_seq && seq && !idmap_get(&t->early, key))
		idmap_put(&t->early, key, (void *)(uintptr_t)seq);
}

static struct known *known_new(struct traffic *t, const struct net_sock *s, const char *comm,
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
	/* Nothing of its traffic is written yet. */
	memset(k->sock.bytes, 0, sizeof(k->sock.bytes));
	memset(k->sock.calls, 0, sizeof(k->sock.calls));
	k->sock.retransmits = 0;
	k->process = tracker__process(t->opts.tracker, s->tgid, comm, ts_ns);
	k->role = role_of(t, s);
	for (unsigned dir = 0; dir < 2; dir++)
		take_seq(k, dir, (uintptr_t)idmap_del(&t->early, seq_key(s->id, dir)));
	t->counts.connections++;
	return k;
}

/* Its process is known only when its first bytes move (net_sock.bpf.h, adopt()): true when that
 * changed.
 */
static bool adopted(struct traffic *t, struct known *k, const struct net_sock *s, const char *comm,
		    uint64_t ts_ns)
{
	if (k->sock.tgid == s->tgid)
		return false;
	k->sock.tgid = s->tgid;
	k->process = tracker__process(t->opts.tracker, s->tgid, comm, ts_ns);
	return true;
}

/* Its clear text has begun to come. */
static bool became_tls(struct known *k, uint32_t flags)
{
	bool now = flags & ~k->sock.flags & NET_TLS;

	k->sock.flags |= flags & NET_TLS;
	return now;
}

/* What moved since the last row. */
static void write_stat(struct traffic *t, struct known *k, const struct net_sock *now,
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
	put(t, REC_connection_stat, &r);
	k->sock = *now;
	k->begin_seq[NET_SENT] = k->begin_seq[NET_RECEIVED] = 0;
}

/* Of a program that carries its library within, nameless, or has one that is not known. */
static void count_unread(struct traffic *t, struct known *k)
{
	if (k->sealed && !(k->sock.flags & NET_TLS))
		loss__add(t->opts.loss, "tls",
			  "connection: no TLS library that can be read in its program", 1);
	k->sealed = false;
}

static void forget(struct traffic *t, struct known *k)
{
	count_unread(t, k);
	if (t->payloads)
		payloads__close(t->payloads, k->sock.id);
	idmap_del(&t->socks, k->sock.id);
	free(k->path);
	free(k);
}

static void write_close(struct traffic *t, struct known *k, uint64_t closed_ns)
{
	struct rec_connection_close r = {.connection = k->sock.id, .closed_ns = closed_ns};

	if (k->closed)
		return;
	put(t, REC_connection_close, &r);
	k->closed = true;
	k->polled = t->polls;
}

static void take_path(struct known *k, const struct wire_sock *w)
{
	char *path =
		w->path_sz && w->path_sz <= NET_UNIX_PATH ? realloc(k->path, w->path_sz) : NULL;

	if (!path)
		return;
	memcpy(path, w->path, w->path_sz);
	k->path = path;
	k->path_sz = w->path_sz;
}

void traffic__sock(struct traffic *t, const struct wire_sock *w)
{
	struct known *k = idmap_get(&t->socks, w->sock.id);
	bool is_new = !k;

	if (!k)
		k = known_new(t, &w->sock, w->comm, w->ts_ns);
	if (!k)
		return;
	take_path(k, w);
	if (w->closed) {
		if (adopted(t, k, &w->sock, w->comm, w->ts_ns) | became_tls(k, w->sock.flags) |
		    is_new)
			write_connection(t, k);
		write_stat(t, k, &w->sock, w->ts_ns);
		write_close(t, k, w->sock.closed_ns ? w->sock.closed_ns : w->ts_ns);
		return;
	}
	if (w->ts_ns < k->told_ns || k->closed) {
		write_connection(t, k); /* the path may be new */
		return;
	}
	k->told_ns = w->ts_ns;
	adopted(t, k, &w->sock, w->comm, w->ts_ns);
	k->sock.flags = w->sock.flags | (k->sock.flags & NET_TLS);
	k->sock.local = w->sock.local;
	k->sock.remote = w->sock.remote;
	k->sock.peer_pid = w->sock.peer_pid;
	k->role = role_of(t, &k->sock);
	write_connection(t, k);
}

/* ---- payload ---- */

/* RFC 8446, 5.1: the first record of a stream is a handshake's, client_hello or server_hello; of
 * one that is joined later, application_data. */
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
	struct known *k = t->opts.tls && begins_tls(p) ? idmap_get(&t->socks, p->sock) : NULL;

	if (k)
		k->sealed = true;
}

/* `redact`: what was carried over of its connection, NULL where nothing is masked. */
static void write_payload(void *ctx, const struct wire_payload *p, struct redact_conn **redact)
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

	look_for_tls(t, p);
	note_seq(t, p);
	if (addr_text(&p->peer, host, sizeof(host)).len) {
		snprintf(peer, sizeof(peer), p->peer.family == 6 ? "[%s]:%u" : "%s:%u", host,
			 p->peer.port);
		r.peer = span_of(peer);
	}
	/* The ring is mapped for reading only. */
	if (redact && p->kept <= sizeof(t->masked)) {
		const struct redact_payload call = {p->dir, p->pos, p->len, p->kept, t->masked};

		memcpy(t->masked, p->data, p->kept);
		r.data.p = (const char *)t->masked;
		if (redact__apply(redact, t->opts.redact_sql, &call))
			r.flags |= PAYLOAD_REDACTED;
	} else if (redact) {
		r.data.len = 0; /* never unmasked */
	}
	t->counts.payloads++;
	put(t, REC_payload, &r);
}

void traffic__payload(struct traffic *t, const struct wire_payload *p)
{
	if (t->payloads)
		payloads__put(t->payloads, p);
	else
		write_payload(t, p, NULL);
}

void traffic__drained(struct traffic *t)
{
	if (t->payloads)
		payloads__pass(t->payloads, false);
}

/* ---- every second ---- */

/* Its last call was counted for sure. */
static bool is_over(const struct net_sock *s, uint64_t now_ns, bool last)
{
	return s->closed_ns && (last || now_ns > s->closed_ns + LINGER_NS);
}

/* The struct sock may be another socket's by now: that entry stays. */
static void remove_entry(struct traffic *t, uint64_t key, uint32_t id)
{
	struct net_sock now;

	if (!bpf_map_lookup_elem(t->opts.socks_fd, &key, &now) && now.id == id)
		bpf_map_delete_elem(t->opts.socks_fd, &key);
}

static void poll_one(struct traffic *t, uint64_t key, const struct net_sock *s, uint64_t now_ns,
		     bool last)
{
	struct known *k = idmap_get(&t->socks, s->id);

	if (!k) {
		/* Its announcement is still in a ring, or was lost. */
		k = known_new(t, s, "", now_ns);
		if (!k)
			return;
		write_connection(t, k);
	} else if (adopted(t, k, s, "", now_ns) | became_tls(k, s->flags)) {
		write_connection(t, k);
	}
	if (!k->closed)
		k->polled = t->polls;
	write_stat(t, k, s, now_ns);
	if (is_over(s, now_ns, last)) {
		remove_entry(t, key, s->id);
		write_close(t, k, s->closed_ns);
	}
}

/* Those that are over, and sockets that left the map without a word (their end was lost). */
static void drop_unseen(struct traffic *t)
{
	struct known *gone[BATCH], *k;
	size_t n;

	do {
		n = 0;
		for (size_t i = 0; n < BATCH && (k = idmap_next(&t->socks, &i));)
			if (k->polled + 2 < t->polls)
				gone[n++] = k;
		for (size_t i = 0; i < n; i++)
			forget(t, gone[i]);
	} while (n == BATCH);
}

int traffic__poll(struct traffic *t, uint64_t now_ns, bool last)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	uint64_t in = 0, out = 0;
	bool first = true, more = true;
	struct known *k;

	t->polls++;
	if (last && t->payloads)
		payloads__pass(t->payloads, true);
	while (more) {
		uint32_t cnt = BATCH;
		int err = bpf_map_lookup_batch(t->opts.socks_fd, first ? NULL : &in, &out, t->keys,
					       t->values, &cnt, &opts);

		/* ENOENT: that was the last batch. ENOSPC: a bucket larger than the batch, passed
		 * over by nobody: see BATCH. */
		more = !err;
		if (err && errno != ENOENT) {
			loss__add(t->opts.loss, "l4", "socket table not readable", 1);
			break;
		}
		for (uint32_t i = 0; i < cnt; i++)
			poll_one(t, t->keys[i], &t->values[i], now_ns, last);
		in = out;
		first = false;
	}
	if (last)
		for (size_t i = 0; (k = idmap_next(&t->socks, &i));)
			count_unread(t, k);
	else
		drop_unseen(t);
	return t->err;
}

void traffic__reanchor(struct traffic *t)
{
	struct known *k;

	for (size_t i = 0; (k = idmap_next(&t->socks, &i));)
		if (!k->closed)
			write_connection(t, k);
}

struct traffic_counts traffic__counts(const struct traffic *t)
{
	return t->counts;
}
