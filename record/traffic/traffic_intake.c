/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/traffic/traffic_impl.h"

int traffic__redact(struct traffic *t, bool sql, bool keep_unnamed)
{
	int err;

	t->redact_sql = sql;
	if (keep_unnamed)
		return payloads__new(&t->payloads, traffic_write_payload, t);
	err = unnamed__new(&t->unnamed, traffic_write_payload, t);
	if (!err)
		err = payloads__new(&t->payloads, traffic_take_payload, t);
	if (!err)
		payloads__on_end(t->payloads, traffic_end_payload);
	return err;
}

void traffic__expect_tls(struct traffic *t)
{
	t->tls = true;
}

int traffic__new(struct traffic **out, const struct traffic_opts *opts)
{
	struct traffic *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->opts = *opts;
	t->keys = calloc(TRAFFIC_BATCH, sizeof(*t->keys));
	t->values = calloc(TRAFFIC_BATCH, sizeof(*t->values));
	if (!t->keys || !t->values) {
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
	idmap_fini(&t->early[0]);
	idmap_fini(&t->early[1]);
	payloads__free(t->payloads);
	unnamed__free(t->unnamed);
	free(t->keys);
	free(t->values);
	free(t);
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
	struct net_sock now = w->sock;
	bool is_new = !k;

	traffic_own_counts(t, &now);
	if (w->closed && w->sock.flags & NET_SHARED)
		bpf_map_delete_elem(t->opts.others_fd, &(uint64_t){w->sock.id});
	if (!k)
		k = traffic_know(t, &now, w->comm, w->ts_ns);
	if (!k)
		return;
	take_path(k, w);
	if (w->closed) {
		if (traffic_adopted(t, k, &w->sock, w->comm, w->ts_ns) |
		    traffic_moved(k, &w->sock) | traffic_became_tls(k, w->sock.flags) | is_new)
			traffic_write_connection(t, k);
		traffic_write_stat(t, k, &now, w->ts_ns);
		traffic_write_close(t, k, &w->sock,
				    w->sock.closed_ns ? w->sock.closed_ns : w->ts_ns);
		return;
	}
	if (w->ts_ns < k->told_ns || k->closed) {
		traffic_write_connection(t, k); /* the path may be new */
		return;
	}
	k->told_ns = w->ts_ns;
	traffic_adopted(t, k, &w->sock, w->comm, w->ts_ns);
	k->sock.flags = w->sock.flags | (k->sock.flags & NET_TLS);
	k->sock.local = w->sock.local;
	k->sock.remote = w->sock.remote;
	k->sock.peer_pid = w->sock.peer_pid;
	traffic_write_connection(t, k);
}

static bool is_known(void *ctx, uint32_t connection)
{
	struct traffic *t = ctx;

	return idmap_get(&t->socks, connection);
}

void traffic__reanchor(struct traffic *t)
{
	struct known *k;

	traffic_sweep_early(t);
	if (t->payloads)
		payloads__sweep(t->payloads, is_known);
	for (size_t i = 0; (k = idmap_next(&t->socks, &i));)
		if (!k->closed)
			traffic_write_connection(t, k);
}

struct traffic_counts traffic__counts(const struct traffic *t)
{
	return t->counts;
}
