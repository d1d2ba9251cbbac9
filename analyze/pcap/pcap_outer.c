/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/pcap/pcap_outer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

void outers__fini(struct outers *o)
{
	for (uint32_t i = 0; i < o->cnt; i++)
		free(o->names[i]);
	o->cnt = 0;
}

int outer_put_process(const struct import_sink *sink, uint32_t id, const char *name, uint64_t ts_ns)
{
	const struct span comm = {name, strlen(name)}, none = {"", 0};
	const struct rec_process process = {
		.id = id,
		.started_ns = ts_ns,
		.comm = comm,
		.exe = none,
		.cmdline = none,
		.cgroup = none,
		.container_id = none,
	};
	const struct rec_thread thread = {.id = id, .process = id, .comm = comm};
	int err = sink->put(sink->ctx, REC_process, &process);

	return err ? err : sink->put(sink->ctx, REC_thread, &thread);
}

/* Formats "VXLAN 42 10.0.0.1-10.0.0.2"; the same for both directions. */
static void add_name(struct strbuf *b, const struct packet_outer *o)
{
	char a[ADDRESS_TEXT_MAX], z[ADDRESS_TEXT_MAX];
	bool turned = memcmp(o->from.addr, o->to.addr, sizeof(o->from.addr)) > 0;

	strbuf_addf(b, "%s%s", b->len ? " > " : "", o->name);
	if (o->has_id)
		strbuf_addf(b, " %u", o->id);
	if (o->has_ends)
		strbuf_addf(b, " %s-%s", address_text(turned ? &o->to : &o->from, a, sizeof(a)).p,
			    address_text(turned ? &o->from : &o->to, z, sizeof(z)).p);
}

static uint32_t find(const struct outers *o, const char *name)
{
	uint32_t i = 0;

	while (i < o->cnt && strcmp(o->names[i], name) != 0)
		i++;
	return i;
}

int outers__process(struct outers *o, const struct import_sink *sink, const struct packet *pk,
		    uint32_t *id)
{
	static const char further[] = "further tunnels";
	struct strbuf b = {0};
	const char *name;
	uint32_t i;
	int err = 0;

	*id = PROCESS_ID;
	if (!pk->outer_cnt)
		return 0;
	for (i = 0; i < pk->outer_cnt; i++)
		add_name(&b, &pk->outer[i]);
	strbuf_add(&b, "", 1);
	name = b.failed ? further : b.p;
	i = find(o, name);
	if (i >= OUTER_MAX - 1) {
		name = further;
		i = find(o, name);
	}
	*id = PROCESS_ID + 1 + i;
	if (i == o->cnt) {
		o->names[i] = strdup(name);
		err = o->names[i] ? outer_put_process(sink, *id, name, pk->ts_ns) : -ENOMEM;
		o->cnt += o->names[i] != NULL;
	}
	strbuf_fini(&b);
	return err;
}
