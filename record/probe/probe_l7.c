/* SPDX-License-Identifier: BSD-2-Clause */
/* Payload: the first bytes that sockets send and receive. Probe l4 does the work; this one sets its
 * options. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "bpf/net/guess.h"
#include "format/option.h"
#include "format/text.h"
#include "obrec.skel.h"
#include "record/probe/cpu_budget.h"
#include "record/probe/probe.h"
#include "record/probe/probe_l4.h"

extern const struct probe probe_l7_entry;

/* ---- options ---- */

/* Bytes captured per call, and a higher limit for calls that carry several messages; 0: the same
 * limit. */
enum { DEFAULT_MAX = 512, DEFAULT_MANY = 16384, MANY_SHIFT = 32 };
#define PAYLOAD_HEAD ((uint64_t)DEFAULT_MANY << MANY_SHIFT | DEFAULT_MAX)

_Static_assert(NET_MAX_PAYLOAD == 65536, "as the option says");

static int parse_payload(const char *word, uint64_t *value)
{
	if (!strcmp(word, "none"))
		*value = 0;
	else if (!strcmp(word, "head"))
		*value = PAYLOAD_HEAD;
	else if (parse_size(word, value) || *value >= NET_MAX_PAYLOAD)
		return -EINVAL;
	return 0;
}

/* obana distinguishes gRPC; the kernel side only sees HTTP/2. */
#define BIT(name) (1ull << NET_PROTO_##name)
static const struct {
	const char *name;
	uint64_t bits;
} protocols[] = {
	{"http", BIT(http1) | BIT(http2)},
	{"grpc", BIT(http2)},
#define PROTOCOL(name, shown) {#name, BIT(name)},
#include "format/protocols.def"
#undef PROTOCOL
};
#undef BIT
enum { PROTOCOL_CNT = sizeof(protocols) / sizeof(protocols[0]) };

#define LIST_OF "a list of: "
static const char protocols_taken[] = LIST_OF "http, grpc"
#define PROTOCOL(name, shown) ", " #name
#include "format/protocols.def"
#undef PROTOCOL
	;

static int add_protocol(const char *word, size_t len, uint64_t *set)
{
	for (size_t i = 0; i < PROTOCOL_CNT; i++)
		if (strlen(protocols[i].name) == len && !memcmp(protocols[i].name, word, len)) {
			*set |= protocols[i].bits;
			return 0;
		}
	return -EINVAL;
}

/* Separated by commas, or by + within a list of probes. */
static int parse_protocols(const char *word, uint64_t *value)
{
	for (;; word++) {
		size_t len = strcspn(word, ",+");
		int err = add_protocol(word, len, value);

		word += len;
		if (err || !*word)
			return err;
	}
}

enum { REDACT_SECRETS = 1, REDACT_SQL = 2 };

static int parse_redact(const char *word, uint64_t *value)
{
	if (!strcmp(word, "none"))
		*value &= ~(uint64_t)REDACT_SECRETS;
	else if (!strcmp(word, "secrets"))
		*value |= REDACT_SECRETS;
	else if (!strcmp(word, "sql"))
		*value |= REDACT_SECRETS | REDACT_SQL;
	else
		return -EINVAL;
	return 0;
}

/* Client and server side. */
enum { DIRECTION_OUT = 1, DIRECTION_IN = 2 };

static int parse_direction(const char *word, uint64_t *value)
{
	*value = !strcmp(word, "out")	 ? DIRECTION_OUT
		 : !strcmp(word, "in")	 ? DIRECTION_IN
		 : !strcmp(word, "both") ? DIRECTION_OUT | DIRECTION_IN
					 : 0;
	return *value ? 0 : -EINVAL;
}

static const struct probe_option options[] = {
	OPTION("payload", PROBE_WORD, PAYLOAD_HEAD,
	       "bytes captured per call: none, head (default: 512 bytes, and up to 16 KiB of "
	       "calls that carry many messages: pipelines, HTTP/2), or a byte count; for HTTP/2 "
	       "also frame headers and header blocks beyond the limit",
	       .parse = parse_payload, .takes = "none, head, or a byte count under 65536",
	       .values = "none, head", .alias = {ALIAS("payload", 0, "HOW")}, .heading = "Traffic"),
	OPTION("protocols", PROBE_WORD, 0,
	       "capture the payload of these protocols only, as far as the kernel can detect "
	       "them (http: HTTP/1 and HTTP/2; undetected ones: the first 4 KiB in each "
	       "direction); bytes and calls are counted for all",
	       .parse = parse_protocols, .takes = protocols_taken,
	       .values = protocols_taken + sizeof(LIST_OF) - 1, .list = true,
	       .alias = {ALIAS("l7", 0, "NAME[,NAME...]")}),
	OPTION("sample", PROBE_SHARE, 65536,
	       "capture the payload of this share of connections, as in 10%; byte counts stay "
	       "complete",
	       .takes = "a share of connections, as in 10%", .key = "sample_per_64k",
	       .alias = {ALIAS("sample", 0, "SHARE")}),
	OPTION("direction", PROBE_WORD, DIRECTION_OUT | DIRECTION_IN,
	       "capture the payload of requests served (in), made (out), or both (default)",
	       .parse = parse_direction, TAKES_ONE_OF("in, out, both"),
	       .alias = {ALIAS("direction", 0, "WHICH")}),
	OPTION("redact", PROBE_WORD, REDACT_SECRETS,
	       "mask secrets before anything is written (default): credentials, cookies, "
	       "logins, and values with names such as password, token, api_key; with sql also "
	       "literals in SQL statements",
	       .parse = parse_redact, TAKES_ONE_OF("sql, secrets, none"),
	       .alias = {ALIAS("redact", 0, "sql", .given = "secrets"),
			 ALIAS("no-redact", 0, NULL, .given = "none",
			       .doc = "do not mask secrets in payload")}),
	OPTION("unknown", PROBE_FLAG, 0,
	       "also capture payload of unrecognized protocols, whose secrets cannot be masked; "
	       "bytes and calls are always counted",
	       .alias = {ALIAS("payload-unknown", 0, NULL)}),
	{0},
};

static uint64_t option(const struct record_opts *opts, const char *name)
{
	return probe_option(opts, &probe_l7_entry, name);
}

static void add_string(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

/* Describes the bits with as few names as possible. */
static void describe_protocols(uint64_t set, struct json_object *to)
{
	struct strbuf names = {0};

	for (size_t i = 0; i < PROTOCOL_CNT; i++) {
		uint64_t bits = protocols[i].bits;

		if ((set & bits) != bits || !strcmp(protocols[i].name, "grpc"))
			continue;
		strbuf_addf(&names, "%s%s", names.len ? "," : "", protocols[i].name);
		set &= ~bits;
	}
	if (names.len)
		add_string(to, "l7", names.p);
	strbuf_fini(&names);
}

static void describe(const struct record_opts *opts, struct json_object *to)
{
	uint64_t payload = option(opts, "payload"), redact = option(opts, "redact");

	json_object_object_add(to, "payload_max", json_object_new_uint64((uint32_t)payload));
	if (payload >> MANY_SHIFT)
		json_object_object_add(to, "payload_many",
				       json_object_new_uint64(payload >> MANY_SHIFT));
	add_string(to, "redact",
		   !(redact & REDACT_SECRETS) ? "none"
		   : redact & REDACT_SQL      ? "sql"
					      : "secrets");
	describe_protocols(option(opts, "protocols"), to);
}

/* ---- */

/* A selected protocol that the kernel cannot detect is among the undetected payload. */
static uint64_t keep_of(uint64_t chosen)
{
	return chosen & ~guess_known() ? chosen | 1 << NET_PROTO_UNKNOWN : chosen;
}

static int prepare(struct probe_env *env)
{
	uint64_t payload = option(env->opts, "payload");
	struct obrec_bpf *skel = env->skel;

	skel->rodata->net_payload_on = (uint32_t)payload != 0;
	skel->rodata->net_payload_max = payload;
	skel->rodata->net_payload_many = payload >> MANY_SHIFT;
	skel->rodata->net_l7_keep = keep_of(option(env->opts, "protocols"));
	skel->rodata->net_sample_per_64k = option(env->opts, "sample");
	skel->rodata->net_direction = option(env->opts, "direction");
	return 0;
}

static int attach(struct probe_env *env)
{
	uint64_t redact = option(env->opts, "redact");
	int err = redact & REDACT_SECRETS
			  ? traffic__redact(probe_l4_traffic(env), redact & REDACT_SQL,
					    option(env->opts, "unknown"))
			  : 0;

	if (err)
		message_error("cannot record payload: %s", strerror(-err));
	return err;
}

static void thin(struct probe_env *env, unsigned level)
{
	env->skel->bss->net_thin = level;
}

static uint32_t thinnable(const struct probe_env *env)
{
	return env->skel->rodata->net_payload_on ? env->skel->rodata->net_sample_per_64k : 0;
}

/* Cost of counting a call, which is never throttled; most of the cost comes with payload. */
enum { COUNT_NS = 250 };

static const struct lever lever = {
	.name = "payload",
	.end = 10,
	.wire = WIRE_PAYLOAD,
	.programs = (const struct lever_program[]){{"net_s", .hook_ns = COUNT_NS}, {0}},
};

const struct probe probe_l7_entry = {
	.name = "l7",
	.bulky = true,
	.needs = &probe_l4_entry,
	.options = options,
	.describe = describe,
	.lever = &lever,
	.prepare = prepare,
	.attach = attach,
	.thin = thin,
	.thinnable = thinnable,
};
