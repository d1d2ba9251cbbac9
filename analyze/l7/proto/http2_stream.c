/* SPDX-License-Identifier: BSD-2-Clause */
/* State of each stream of an HTTP/2 connection, and its messages, including gRPC. */
#include <stdlib.h>
#include <string.h>

#include "analyze/l7/proto/client_address.h"
#include "analyze/l7/proto/http2.h"

enum { STREAMS_MAX = 4096, TEXT_MAX = 1024 };

/* ---- header fields ---- */

static bool named(const struct hpack_field *f, const char *name)
{
	return f->name_known && l7_is(f->name, name);
}

static void keep(struct span *dst, const struct hpack_field *f)
{
	size_t n = f->value.len < TEXT_MAX ? f->value.len : TEXT_MAX;
	char *p = n ? malloc(n) : NULL;

	if (!p)
		return;
	memcpy(p, f->value.p, n);
	free((char *)dst->p);
	*dst = (struct span){p, n};
}

/* Parses a decimal of up to `digits` digits; H2_STATUS_UNKNOWN otherwise. */
static int number(const struct hpack_field *f, size_t digits)
{
	int v = 0;

	if (!f->value_known || !f->value.len || f->value.len > digits)
		return H2_STATUS_UNKNOWN;
	for (size_t i = 0; i < f->value.len; i++) {
		if (f->value.p[i] < '0' || f->value.p[i] > '9')
			return H2_STATUS_UNKNOWN;
		v = v * 10 + f->value.p[i] - '0';
	}
	return v;
}

/* application/grpc, application/grpc+proto; grpc-web is a different protocol. */
static bool is_grpc(struct span type)
{
	static const char grpc[] = "application/grpc";
	size_t n = sizeof(grpc) - 1;

	return type.len >= n && !memcmp(type.p, grpc, n) &&
	       (type.len == n || type.p[n] == '+' || type.p[n] == ';');
}

static void keep_client(struct h2_head *h, const struct hpack_field *f)
{
	struct hpack_field address = *f;

	address.value = client_address(f->name, f->value, &h->client_rank);
	keep(&h->client, &address);
}

void h2_head_field(struct h2_head *h, const struct hpack_field *f)
{
	h->unknown |= !f->name_known;
	if (named(f, ":status"))
		h->status = number(f, 3);
	else if (named(f, "grpc-status"))
		h->grpc_status = number(f, 5);
	else if (named(f, ":method"))
		keep(&h->method, f);
	else if (named(f, ":path"))
		keep(&h->path, f);
	else if (named(f, ":authority") || (named(f, "host") && !h->authority.len))
		keep(&h->authority, f);
	else if (named(f, "user-agent"))
		keep(&h->agent, f);
	else if (named(f, "grpc-message"))
		keep(&h->message, f);
	else if (named(f, "content-type") && f->value_known)
		*(is_grpc(f->value) ? &h->is_grpc : &h->is_other) = true;
	else if (f->name_known && f->value_known)
		keep_client(h, f);
}

void h2_head_fini(struct h2_head *h)
{
	free((char *)h->method.p);
	free((char *)h->path.p);
	free((char *)h->authority.p);
	free((char *)h->agent.p);
	free((char *)h->client.p);
	free((char *)h->message.p);
}

/* ---- the table ---- */

struct h2_stream *h2_find(struct h2_streams *t, uint32_t id)
{
	struct h2_stream *s = t->bucket[id / 2 % H2_BUCKETS];

	while (s && s->id != id)
		s = s->next;
	return s;
}

bool h2_was_closed(const struct h2_streams *t, uint32_t id)
{
	for (unsigned i = 0; i < H2_CLOSED; i++)
		if (t->closed[i] == id)
			return true;
	return false;
}

static void unlink_stream(struct h2_streams *t, struct h2_stream *s)
{
	struct h2_stream **at = &t->bucket[s->id / 2 % H2_BUCKETS];

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	*(s->older ? &s->older->newer : &t->oldest) = s->newer;
	*(s->newer ? &s->newer->older : &t->newest) = s->older;
	t->cnt--;
	t->closed[t->closed_at++ % H2_CLOSED] = s->id;
}

struct h2_stream *h2_add(struct l7_parser *parser, struct h2_streams *t, uint32_t id)
{
	struct h2_stream *s = calloc(1, sizeof(*s)), **bucket = &t->bucket[id / 2 % H2_BUCKETS];

	if (!s)
		return NULL;
	if (t->cnt >= STREAMS_MAX)
		h2_give_out(parser, t, t->oldest);
	s->id = id;
	s->head.status = s->head.grpc_status = H2_STATUS_NONE;
	s->next = *bucket;
	*bucket = s;
	s->older = t->newest;
	*(t->newest ? &t->newest->newer : &t->oldest) = s;
	t->newest = s;
	t->cnt++;
	return s;
}

void h2_close(struct h2_streams *t, struct h2_stream *s)
{
	unlink_stream(t, s);
	s->next = t->dead;
	t->dead = s;
}

static void free_list(struct h2_stream **list)
{
	while (*list) {
		struct h2_stream *next = (*list)->next;

		h2_head_fini(&(*list)->head);
		free(*list);
		*list = next;
	}
}

void h2_bury(struct h2_streams *t)
{
	free_list(&t->dead);
}

void h2_streams_fini(struct h2_streams *t)
{
	for (unsigned i = 0; i < H2_BUCKETS; i++)
		free_list(&t->bucket[i]);
	free_list(&t->dead);
}

/* ---- messages ---- */

static const struct span unknown = {":unknown", 8}, not_seen = {"not seen", 8},
			 at_least = {"at least", 8};

static const char *grpc_status_name(int code)
{
	static const char *const names[] = {
		"OK",
		"CANCELLED",
		"UNKNOWN",
		"INVALID_ARGUMENT",
		"DEADLINE_EXCEEDED",
		"NOT_FOUND",
		"ALREADY_EXISTS",
		"PERMISSION_DENIED",
		"RESOURCE_EXHAUSTED",
		"FAILED_PRECONDITION",
		"ABORTED",
		"OUT_OF_RANGE",
		"UNIMPLEMENTED",
		"INTERNAL",
		"UNAVAILABLE",
		"DATA_LOSS",
		"UNAUTHENTICATED",
	};

	return code >= 0 && code < (int)(sizeof(names) / sizeof(names[0])) ? names[code] : NULL;
}

const char *h2_error_name(uint32_t code)
{
	static const char *const names[] = {
		"NO_ERROR",
		"PROTOCOL_ERROR",
		"INTERNAL_ERROR",
		"FLOW_CONTROL_ERROR",
		"SETTINGS_TIMEOUT",
		"STREAM_CLOSED",
		"FRAME_SIZE_ERROR",
		"REFUSED_STREAM",
		"CANCEL",
		"COMPRESSION_ERROR",
		"CONNECT_ERROR",
		"ENHANCE_YOUR_CALM",
		"INADEQUATE_SECURITY",
		"HTTP_1_1_REQUIRED",
	};

	return code < sizeof(names) / sizeof(names[0]) ? names[code] : "unknown";
}

/* Appends to a JSON object in parser memory: "" or "{..."; the caller closes it. */
static void add_text(struct l7_parser *parser, struct span *json, const char *key,
		     struct span value)
{
	struct span text;

	if (!value.len)
		return;
	text = l7_json(parser, value, 256);
	*json = l7_text(parser, "%.*s%s\"%s\":\"%.*s\"", (int)json->len, json->p,
			json->len ? "," : "{", key, (int)text.len, text.p);
}

static void add_number(struct l7_parser *parser, struct span *json, const char *key, uint64_t v)
{
	*json = l7_text(parser, "%.*s%s\"%s\":%llu", (int)json->len, json->p, json->len ? "," : "{",
			key, (unsigned long long)v);
}

static void close_json(struct l7_parser *parser, struct span *json)
{
	if (json->len)
		*json = l7_text(parser, "%.*s}", (int)json->len, json->p);
}

static void fill(const struct h2_stream *s, const struct h2_half *half, struct l7_message *m)
{
	m->id = s->id;
	m->first_ns = half->first_ns;
	m->last_ns = half->last_ns;
	m->size = half->size;
	m->protocol = s->grpc ? "grpc" : NULL;
}

/* "/pkg.Service/Method" gives target "pkg.Service", method "Method". */
static void fill_rpc(struct span path, struct l7_message *m)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	m->method = m->target = unknown;
	if (!slash)
		return;
	m->method = (struct span){slash + 1, path.p + path.len - slash - 1};
	m->target = (struct span){path.p, slash - path.p};
	if (m->target.len && *m->target.p == '/')
		m->target.p++, m->target.len--;
}

/* The path without query, with ids folded; CONNECT has only an authority. */
static void fill_path(struct h2_stream *s, struct l7_message *m)
{
	const struct h2_head *h = &s->head;
	const char *query = h->path.len ? memchr(h->path.p, '?', h->path.len) : NULL;
	struct span path = {h->path.p, query ? (size_t)(query - h->path.p) : h->path.len};

	m->method = h->method.len ? h->method : unknown;
	m->target = l7_is(h->method, "CONNECT") && !path.len ? h->authority
		    : path.len ? l7_fold(path, s->target, sizeof(s->target))
			       : unknown;
}

void h2_request(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s,
		struct l7_message *m)
{
	const struct h2_half *half = &s->half[1];
	struct span json = {"", 0};

	s->request_out = true;
	fill(s, half, m);
	m->type = L7_REQUEST;
	if (s->grpc)
		fill_rpc(s->head.path, m);
	else
		fill_path(s, m);
	add_text(parser, &json, "host", s->head.authority);
	add_text(parser, &json, "user_agent", s->head.agent);
	add_text(parser, &json, "client", s->head.client);
	m->partial = half->missed;
	if (m->partial)
		add_text(parser, &json, "request_bytes", at_least);
	if (s->grpc && !half->uncounted)
		add_number(parser, &json, "request_messages", half->messages);
	close_json(parser, &json);
	m->detail = json;
}

static void fill_status(struct h2_stream *s, struct l7_message *m)
{
	const char *name = grpc_status_name(s->head.grpc_status);
	int n = 0;

	if (s->reset)
		n = snprintf(s->status, sizeof(s->status), "RST");
	else if (s->grpc && name)
		m->status = span_of(name);
	else if (s->grpc && s->head.grpc_status >= 0)
		n = snprintf(s->status, sizeof(s->status), "%d", s->head.grpc_status);
	else if (s->head.status >= 0 && (!s->grpc || s->head.status >= 300))
		n = snprintf(s->status, sizeof(s->status), "%d", s->head.status);
	else
		m->status = unknown;
	if (n)
		m->status = (struct span){s->status, n};
	m->is_error = s->reset || s->head.status >= 400 || (s->grpc && s->head.grpc_status > 0);
}

void h2_response(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s,
		 struct l7_message *m)
{
	const struct h2_half *half = &s->half[0];
	struct span json = {"", 0};

	fill(s, half, m);
	m->type = L7_RESPONSE;
	fill_status(s, m);
	if (s->reset) {
		add_text(parser, &json, "reset", span_of(h2_error_name(s->reset_code)));
		add_text(parser, &json, "reset_by",
			 span_of(s->reset_by_client ? "client" : "server"));
	}
	add_text(parser, &json, "message", s->head.message);
	if (s->grpc && half->begun && !half->uncounted)
		add_number(parser, &json, "response_messages", half->messages);
	m->no_begin = half->no_begin;
	m->no_end = !half->ended && !s->reset;
	m->partial = half->missed || m->no_end;
	if (m->no_begin)
		add_text(parser, &json, "begin", not_seen);
	if (m->no_end)
		add_text(parser, &json, "end", not_seen);
	if (m->partial)
		add_text(parser, &json, "response_bytes", at_least);
	close_json(parser, &json);
	m->detail = json;
}

void h2_give_out(struct l7_parser *parser, struct h2_streams *t, struct h2_stream *s)
{
	struct l7_message m = {0};

	if (s->half[1].begun && !s->request_out) {
		h2_request(parser, t, s, &m);
		l7_deliver(parser, &m);
	}
	if (s->half[0].begun && !s->pushed) {
		m = (struct l7_message){0};
		h2_response(parser, t, s, &m);
		l7_deliver(parser, &m);
	}
	h2_close(t, s);
}
