/* SPDX-License-Identifier: BSD-2-Clause */
/* What is kept of traffic. */
#include <stdio.h>
#include <string.h>

#include "bpf/net/net.h"
#include "record/cli/options_set.h"

int option_set_payload(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	bool head = !strcmp(arg, "head");
	uint64_t v;

	if (!strcmp(arg, "none"))
		v = 0;
	else if (head)
		v = DEFAULT_PAYLOAD;
	else if (parse_size(arg, &v) || v >= NET_MAX_PAYLOAD)
		return option_error(def, "'%s' is not none, head, or a byte count under %u", arg,
				    NET_MAX_PAYLOAD);
	o->record.payload_max = v;
	o->record.payload_many = head ? PAYLOAD_MANY : 0;
	return 0;
}

/* Names of --l7. obana shows gRPC by its own name, the kernel sees HTTP/2. */
#define BIT(name) (1ull << NET_PROTO_##name)
static const struct {
	const char *name;
	uint64_t bits;
} l7_names[] = {
	{"http", BIT(http1) | BIT(http2)},
	{"grpc", BIT(http2)},
#define PROTOCOL(name) {#name, BIT(name)},
#include "format/protocols.def"
#undef PROTOCOL
};
#undef BIT
#define L7_NAME_CNT (sizeof(l7_names) / sizeof(l7_names[0]))

static int add_l7(void *ctx, const char *word, size_t len)
{
	uint64_t *set = ctx;

	for (size_t i = 0; i < L7_NAME_CNT; i++)
		if (strlen(l7_names[i].name) == len && !memcmp(l7_names[i].name, word, len)) {
			*set |= l7_names[i].bits;
			return 0;
		}
	return -EINVAL;
}

int option_set_l7(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	char known[512] = "";

	o->l7 = arg;
	if (!option_each_word(arg, add_l7, &o->record.l7))
		return 0;
	for (size_t i = 0, at = 0; i < L7_NAME_CNT && at < sizeof(known); i++)
		at += snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "",
			       l7_names[i].name);
	return option_error(def, "'%s' is not a list of: %s", arg, known);
}

int option_set_sample(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;
	double share;

	if (parse_percent(arg, &share) || share <= 0 || share > 1)
		return option_error(def, "'%s' is not a share of connections, as in 10%%", arg);
	o->record.sample_per_64k = share * 65536 < 1 ? 1 : share * 65536;
	return 0;
}

int option_set_direction(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (!strcmp(arg, "out"))
		o->record.direction = 1;
	else if (!strcmp(arg, "in"))
		o->record.direction = 2;
	else if (!strcmp(arg, "both"))
		o->record.direction = 3;
	else
		return option_error(def, "'%s' is not one of in, out, both", arg);
	return 0;
}

int option_set_redact(void *ctx, const struct option_def *def, const char *arg)
{
	struct options *o = ctx;

	if (arg && strcmp(arg, "sql"))
		return option_error(def, "'%s' is not sql", arg);
	o->record.redact = true;
	o->record.redact_sql |= arg != NULL;
	return 0;
}
