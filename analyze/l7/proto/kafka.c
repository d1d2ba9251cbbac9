/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Apache Kafka (kafka.apache.org/protocol).
 *
 *   request    length:4  API key:2  version:2  correlation id:4  client id  [tags]  body
 *   response   length:4  correlation id:4  [tags]  body
 *
 * Only flexible versions of an API have tags. The response header of ApiVersions never has tags,
 * because clients read it before they know what the server supports. A response contains neither
 * its API nor its version; the request with its correlation id does. Brokers answer in order, so
 * requests older than an answered one will not be answered. Produce with acks=0 has no response.
 * After SaslHandshake version 0 come tokens of the mechanism, which have only a length.
 *
 * An error is a non-zero error code of the response or of any topic or partition in it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "analyze/l7/proto/kafka_api.h"
#include "analyze/l7/proto/names.h"

enum {
	LENGTH_SZ = 4,
	HEADER_MIN = 8, /* of a request, after the length: key, version, correlation id */
	CLIENT_MAX = 1024,
	LOOK_MAX = 4096, /* bytes of a frame needed for parsing */
	CALLS_MAX = 4096,
	EARLIER_MAX = 1000, /* maximum of requests in flight if capture begins later */
	UUID_SZ = 16,
	LONG_MIN = 512,
};
#define FRAME_MAX (1u << 30)

/* Requests not answered yet: items[first .. first + cnt), oldest first. */
struct call {
	uint32_t id;
	uint8_t key, version;
};

struct kafka {
	struct call *calls;
	size_t first, cnt, cap;
	struct names topics; /* names by id, from Metadata responses */
	bool begun;	     /* a request was seen */
	bool raw_sasl;
};

struct head {
	uint64_t frame; /* size on the wire, including the length */
	unsigned key, version;
	uint32_t id;
	const struct kafka_api *api;
	struct span client;
	bool has_client, flexible;
	struct l7_cursor body;
};

enum verdict { HEAD_OK, HEAD_SHORT, HEAD_NOT };

/* ---- calls in flight ---- */

static void call_push(struct kafka *k, struct l7_parser *parser, const struct head *h)
{
	if (k->cnt == CALLS_MAX) {
		l7_give_up(parser, k->calls[k->first].id);
		k->first++;
		k->cnt--;
	}
	if (k->first + k->cnt == k->cap && k->first > k->cap / 2) {
		memmove(k->calls, k->calls + k->first, k->cnt * sizeof(*k->calls));
		k->first = 0;
	}
	if (k->first + k->cnt == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 16;
		void *p = realloc(k->calls, cap * sizeof(*k->calls));

		if (!p)
			return;
		k->calls = p;
		k->cap = cap;
	}
	k->calls[k->first + k->cnt++] = (struct call){h->id, h->key, h->version};
}

static const struct call *call_find(const struct kafka *k, uint32_t id)
{
	for (size_t i = 0; i < k->cnt; i++)
		if (k->calls[k->first + i].id == id)
			return &k->calls[k->first + i];
	return NULL;
}

/* Removes the answered request and the older ones, which will not be answered. */
static void call_answered(struct kafka *k, struct l7_parser *parser, uint32_t id)
{
	while (k->cnt) {
		uint32_t oldest = k->calls[k->first].id;

		k->first++;
		k->cnt--;
		if (oldest == id)
			return;
		l7_give_up(parser, oldest);
	}
}

/* ---- requests ---- */

static bool is_text(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return false;
	return true;
}

static enum verdict request_head(struct head *h, const uint8_t *p, size_t len)
{
	struct l7_cursor c = l7_cursor_at(p, len);
	uint64_t size = l7_be(&c, 4);
	int client_sz;

	*h = (struct head){.client = {"", 0}};
	h->key = l7_be(&c, 2);
	h->version = l7_be(&c, 2);
	h->id = l7_be(&c, 4);
	h->frame = LENGTH_SZ + size;
	if (len >= 4 && (size < HEADER_MIN || size > FRAME_MAX))
		return HEAD_NOT;
	if (len < LENGTH_SZ + 4)
		return HEAD_SHORT;
	h->api = kafka_api(h->key);
	if (!h->api || h->version > h->api->latest)
		return HEAD_NOT;
	h->flexible = h->version >= h->api->flexible;
	h->has_client = h->key != 7 || h->version > 0; /* ControlledShutdown 0 has no client id */
	if (h->has_client) {
		client_sz = (int16_t)l7_be(&c, 2);
		if (client_sz < -1 || client_sz > CLIENT_MAX ||
		    (!c.cut && client_sz + HEADER_MIN + 2 > (int64_t)size))
			return HEAD_NOT;
		if (client_sz > 0)
			h->client = l7_bytes(&c, client_sz);
	}
	if (!is_text(h->client))
		return HEAD_NOT;
	if (h->flexible && !c.cut)
		kafka_tags(&c);
	if (c.cut)
		return HEAD_SHORT;
	if ((uint64_t)(c.p - p) > h->frame)
		return HEAD_NOT;
	h->body = c;
	if (h->frame < len)
		h->body.end = p + h->frame;
	return HEAD_OK;
}

/* As Kafka prints it: URL-safe base64. */
static struct span id_text(struct l7_parser *parser, struct span id)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	char text[UUID_SZ * 4 / 3 + 3];
	size_t n = 0;

	for (size_t bit = 0; bit < 8 * UUID_SZ; bit += 6) {
		unsigned v = (uint8_t)id.p[bit / 8] << 8 |
			     (bit / 8 + 1 < UUID_SZ ? (uint8_t)id.p[bit / 8 + 1] : 0);

		text[n++] = digits[v >> (10 - bit % 8) & 63];
	}
	return l7_keep(parser, (struct span){text, n});
}

static struct span topic_text(struct l7_parser *parser, const struct kafka_found *f, unsigned i)
{
	const struct kafka *k = parser->state;
	const struct name *name;

	if (!f->is_id[i])
		return f->topics[i];
	name = names_get(&k->topics, f->topics[i]);
	return name ? name->target : id_text(parser, f->topics[i]);
}

static struct span all_topics(struct l7_parser *parser, const struct kafka_found *f)
{
	struct span all = {"", 0};

	for (unsigned i = 0; i < f->topic_cnt && i < KAFKA_TOPICS; i++) {
		struct span s = topic_text(parser, f, i);

		all = i ? l7_text(parser, "%.*s,%.*s", (int)all.len, all.p, (int)s.len, s.p) : s;
	}
	return f->topic_cnt > KAFKA_TOPICS ? l7_text(parser, "%.*s,...", (int)all.len, all.p) : all;
}

static void describe_request(struct l7_parser *parser, const struct head *h,
			     const struct kafka_found *f, struct l7_message *m)
{
	struct span more = {"", 0};
	char folded[128];

	m->id = h->id;
	m->method = span_of(h->api->name);
	if (f->topic_cnt)
		m->target = all_topics(parser, f);
	else if (f->group.len)
		m->target = h->key == KAFKA_SASL_HANDSHAKE
				    ? f->group
				    : l7_keep(parser, l7_fold(f->group, folded, sizeof(folded)));
	if (f->topic_cnt && f->group.len)
		more = l7_text(parser, ",\"group\":\"%s\"", l7_json(parser, f->group, 128).p);
	if (f->topic_cnt > 1)
		more = l7_text(parser, "%.*s,\"topics\":%u", (int)more.len, more.p, f->topic_cnt);
	if (f->has_acks)
		more = l7_text(parser, "%.*s,\"acks\":%d", (int)more.len, more.p, f->acks);
	m->detail = l7_text(parser, "{\"version\":%u,\"client\":\"%s\"%.*s}", h->version,
			    l7_json(parser, h->client, 128).p, (int)more.len, more.p);
}

/* Is enough of the frame in view for parsing, or all that will come? */
static bool enough(const struct l7_view *v, uint64_t frame)
{
	return v->len >= frame || v->len >= LOOK_MAX || v->cut || v->last;
}

static int64_t request(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct kafka *k = parser->state;
	struct kafka_found f = {0};
	struct head h;
	enum verdict verdict = request_head(&h, v->p, v->len);

	if (verdict == HEAD_NOT)
		return k->raw_sasl && v->len >= 4 && h.frame <= LENGTH_SZ + (1u << 16)
			       ? (int64_t)h.frame
			       : L7_BAD;
	if (verdict == HEAD_SHORT && (v->len < LENGTH_SZ + HEADER_MIN || !v->cut))
		return L7_PARTIAL;
	if (!enough(v, h.frame))
		return L7_PARTIAL;
	if (verdict == HEAD_OK)
		kafka_walk(&f, h.body, h.frame - (h.body.p - v->p), h.api->request, h.version,
			   h.flexible);
	if (f.bad)
		return L7_BAD;
	k->begun = true;
	k->raw_sasl = h.key == KAFKA_SASL_HANDSHAKE && !h.version;
	describe_request(parser, &h, &f, m);
	m->type = f.has_acks && !f.acks ? L7_ONEWAY : L7_REQUEST;
	m->waits = h.key == KAFKA_FETCH || h.key == KAFKA_JOIN_GROUP || h.key == KAFKA_SYNC_GROUP;
	if (m->type == L7_REQUEST)
		call_push(k, parser, &h);
	return h.frame;
}

/* ---- responses ---- */

static void learn(void *ctx, struct span id, struct span name)
{
	struct kafka *k = ctx;

	names_put(&k->topics, id, (struct span){"", 0}, name);
}

static void describe_response(struct l7_parser *parser, const struct call *call,
			      struct l7_cursor body, uint64_t left, struct l7_message *m)
{
	const struct kafka_api *api = kafka_api(call->key);
	bool flexible = call->version >= api->flexible;
	struct kafka_found f = {.ctx = parser->state};
	const uint8_t *begin = body.p;
	const char *name;

	if (call->key == KAFKA_METADATA)
		f.learn = learn;
	if (flexible && call->key != KAFKA_API_VERSIONS)
		kafka_tags(&body);
	left -= body.p - begin;
	kafka_walk(&f, body, left, api->response, call->version, flexible);
	m->is_error = f.error != 0;
	name = kafka_error(f.error);
	/* The first code may be in bytes that were not captured. */
	if (f.has_error || f.whole)
		m->status = name ? span_of(name) : l7_text(parser, "ERROR_%d", f.error);
	if (f.message.len)
		m->detail =
			l7_text(parser, "{\"error\":\"%s\"}", l7_json(parser, f.message, 200).p);
}

static int64_t response(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	struct kafka *k = parser->state;
	struct l7_cursor c = l7_cursor(v);
	uint64_t size = l7_be(&c, 4);
	uint32_t id = l7_be(&c, 4);
	const struct call *call;

	/* Responses to requests before the capture, or the rest of such a response. */
	if (!k->begun)
		return v->known;
	if (v->len < LENGTH_SZ || (v->len < LENGTH_SZ + 4 && size >= 4))
		return L7_PARTIAL;
	call = call_find(k, id);
	if (k->raw_sasl && (size < 4 || !call) && size <= 1u << 16)
		return LENGTH_SZ + size;
	if (!call || size < 4 || size > FRAME_MAX)
		return k->cnt || parser->after_hole ? L7_BAD : (int64_t)v->known;
	if (!enough(v, LENGTH_SZ + size))
		return L7_PARTIAL;
	if (v->len > LENGTH_SZ + size)
		c.end = v->p + LENGTH_SZ + size;
	m->type = L7_RESPONSE;
	m->id = id;
	describe_response(parser, call, c, size - 4, m);
	call_answered(k, parser, id);
	return LENGTH_SZ + size;
}

static int64_t kafka_parse(struct l7_parser *parser, const struct l7_view *v, struct l7_message *m)
{
	return v->requests ? request(parser, v, m) : response(parser, v, m);
}

/* ---- bidding ---- */

/* librdkafka before 1.0 sends an empty array with ApiVersions 0, which has no fields. */
static bool ends_at(const struct head *h, const uint8_t *walked, const uint8_t *end)
{
	static const uint8_t none[4];

	return walked == end ||
	       (h->key == KAFKA_API_VERSIONS && !h->version && end - walked == sizeof(none) &&
		!memcmp(walked, none, sizeof(none)));
}

/* 0: not a request; else the confidence, by how much of it matches its description. */
static int looks_like(const uint8_t *p, size_t len, uint64_t known, struct head *h)
{
	struct kafka_found f = {0};
	struct head next;
	bool whole;

	if (request_head(h, p, len) != HEAD_OK)
		return 0;
	whole = h->frame <= len;
	kafka_walk(&f, h->body, h->frame - (h->body.p - p), h->api->request, h->version,
		   h->flexible);
	if (f.bad || (whole && !f.open && (!f.whole || !ends_at(h, f.end, p + h->frame))))
		return 0;
	if (h->frame < len && request_head(&next, p + h->frame, len - h->frame) == HEAD_NOT)
		return 0;
	/* Without a client id the evidence is weak. */
	if (!h->client.len)
		return h->frame == known && f.whole ? 55 : 0;
	if (whole && f.whole)
		return 95;
	/* The frame fills its call, or is long and needs several calls. */
	return h->frame == known ? 85 : known >= LONG_MIN ? 55 : 0;
}

/* Could this be a response to a request sent shortly before? */
static bool is_answer(const struct l7_view *v, uint32_t id)
{
	struct l7_cursor c = l7_cursor(v);
	uint64_t size = l7_be(&c, 4);
	uint32_t got = l7_be(&c, 4);

	return !c.cut && size >= 4 && size <= FRAME_MAX &&
	       (got - id <= EARLIER_MAX || id - got <= EARLIER_MAX);
}

static int kafka_bid(const struct l7_view *sent, const struct l7_view *received, int *requests_sent)
{
	const struct l7_view *v[2] = {sent, received};
	int best = 0;

	for (int dir = 0; dir < 2; dir++) {
		const struct l7_view *other = v[!dir];
		struct head h;
		int bid = looks_like(v[dir]->p, v[dir]->len, v[dir]->known, &h);

		if (bid && other->len && is_answer(other, h.id))
			bid = bid < 85 ? bid + 20 : 97;
		else if (other->len) /* possibly in the middle of a response */
			bid = bid >= 85 ? 80 : bid / 2;
		if (bid <= best)
			continue;
		best = bid > 97 ? 97 : bid;
		*requests_sent = !dir;
	}
	return best;
}

/* For calls that contain several requests. */
static size_t kafka_resync(const struct l7_view *v, size_t from)
{
	struct head h;

	for (size_t i = from; v->requests && i + LENGTH_SZ + HEADER_MIN < v->len; i++)
		if (!v->p[i] && looks_like(v->p + i, v->len - i, v->known - i, &h) >= 60 &&
		    h.client.len)
			return i;
	return v->len;
}

static void kafka_fini(void *state)
{
	struct kafka *k = state;

	names_fini(&k->topics);
	free(k->calls);
}

const struct l7_protocol l7_kafka = {
	.name = "kafka",
	.bid = kafka_bid,
	.parse = kafka_parse,
	.resync = kafka_resync,
	.state_sz = sizeof(struct kafka),
	.fini = kafka_fini,
	.pair_by_id = true,
	.ports = {9092, 9093, 9094, 19092, 29092},
};
