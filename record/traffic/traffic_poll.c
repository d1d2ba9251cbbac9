/* SPDX-License-Identifier: BSD-2-Clause */
/* Once a second: reads the counts in the socket map and detects closed sockets. */
#include <bpf/bpf.h>
#include <errno.h>

#include "record/traffic/traffic_impl.h"

#define LINGER_NS 200000000ULL

/* An open TCP socket is checked in every TURNS-th poll, because the event of its end may have been
 * missed. */
enum { TURNS = 16 };

static bool tells_its_end(const struct net_sock *s)
{
	return s->transport == IPPROTO_TCP && !(s->flags & NET_SHARE);
}

/* If the struct sock was reused by another socket, the entry stays. */
static void remove_entry(struct traffic *t, uint64_t key, const struct net_sock *s)
{
	struct net_sock now;

	if (bpf_map_lookup_elem(t->opts.socks_fd, &key, &now) || now.id != s->id)
		return;
	bpf_map_delete_elem(t->opts.socks_fd, &key);
	if (s->flags & NET_SHARED)
		bpf_map_delete_elem(t->opts.others_fd, &key);
}

/*
 * Asks the kernel side about a few sockets at a time, because no event reports the end of UDP and
 * Unix sockets. Their end is known with a precision of one second. A socket that is closed but
 * still exists may still be read; it is treated as open.
 */
static void ask_if_gone(struct traffic *t, struct net_sock *socks[NET_GONE_SOCKS], size_t cnt,
			uint64_t now_ns)
{
	uint64_t args[2 * NET_GONE_SOCKS] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	for (size_t i = 0; i < cnt; i++) {
		bool tcp = tells_its_end(socks[i]) && !socks[i]->closed_ns;

		args[2 * i] = socks[i]->key | (tcp ? NET_GONE_TCP : 0);
		args[2 * i + 1] = socks[i]->inode;
	}
	if (!cnt || bpf_prog_test_run_opts(t->opts.gone_fd, &run))
		return;
	for (size_t i = 0; i < cnt; i++)
		if (!(run.retval >> i & 1))
			socks[i]->closed_ns = 0;
		else if (!socks[i]->closed_ns)
			socks[i]->closed_ns = now_ns;
}

/* A socket that was replaced by another (net_sock.bpf.c, retire()), or has no file, ends with its
 * CLOSE and is not asked about. */
static bool is_asked_for(const struct traffic *t, uint64_t key, const struct net_sock *s, bool last)
{
	if (!tells_its_end(s))
		return !s->closed_ns;
	if (s->closed_ns)
		return !last && key == s->key && s->inode;
	return (s->id + t->polls) % TURNS == 0;
}

/* In the values read, keeps or sets closed_ns only where the socket has ended for obrec. */
static void find_ends(struct traffic *t, size_t cnt, uint64_t now_ns, bool last)
{
	struct net_sock *socks[NET_GONE_SOCKS];
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct net_sock *s = &t->values[i];

		if (s->closed_ns && tells_its_end(s) && !last &&
		    now_ns <= s->closed_ns + LINGER_NS) {
			s->closed_ns = 0; /* its last call may not be counted yet */
			continue;
		}
		if (!is_asked_for(t, t->keys[i], s, last))
			continue;
		socks[n++] = s;
		if (n < NET_GONE_SOCKS)
			continue;
		ask_if_gone(t, socks, n, now_ns);
		n = 0;
	}
	ask_if_gone(t, socks, n, now_ns);
}

static void poll_one(struct traffic *t, uint64_t key, const struct net_sock *s, uint64_t now_ns)
{
	struct known *k = idmap_get(&t->socks, s->id);

	if (!k) {
		/* Its socket record is still in a ring, or was lost. */
		k = traffic_know(t, s, "", now_ns);
		if (!k)
			return;
		traffic_write_connection(t, k);
	} else if (traffic_adopted(t, k, s, "", now_ns) | traffic_moved(k, s) |
		   traffic_became_tls(k, s->flags)) {
		traffic_write_connection(t, k);
	}
	if (!k->closed)
		k->polled = t->polls;
	traffic_write_stat(t, k, s, now_ns);
	if (s->closed_ns) {
		remove_entry(t, key, s);
		traffic_write_close(t, k, s, s->closed_ns);
	}
}

/* Drops ended connections, and sockets that left the map without an event (it was lost). */
static void drop_unseen(struct traffic *t)
{
	struct known *gone[TRAFFIC_BATCH], *k;
	size_t n;

	do {
		n = 0;
		for (size_t i = 0; n < TRAFFIC_BATCH && (k = idmap_next(&t->socks, &i));)
			if (k->polled + 2 < t->polls)
				gone[n++] = k;
		for (size_t i = 0; i < n; i++)
			traffic_forget(t, gone[i]);
	} while (n == TRAFFIC_BATCH);
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
		uint32_t cnt = TRAFFIC_BATCH;
		int err = bpf_map_lookup_batch(t->opts.socks_fd, first ? NULL : &in, &out, t->keys,
					       t->values, &cnt, &opts);

		/* ENOENT: that was the last batch. ENOSPC: a bucket is larger than the batch; see
		 * TRAFFIC_BATCH. */
		more = !err;
		if (err && errno != ENOENT) {
			loss__add(t->opts.loss, "l4", "socket table not readable", 1);
			break;
		}
		find_ends(t, cnt, now_ns, last);
		for (uint32_t i = 0; i < cnt; i++) {
			traffic_own_counts(t, &t->values[i]);
			poll_one(t, t->keys[i], &t->values[i], now_ns);
		}
		in = out;
		first = false;
	}
	if (last)
		for (size_t i = 0; (k = idmap_next(&t->socks, &i));)
			traffic_count_unread(t, k);
	else
		drop_unseen(t);
	return t->err;
}
