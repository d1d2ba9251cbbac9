/* SPDX-License-Identifier: BSD-2-Clause */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/probe/attach.h"
#include "format/clock.h"
#include "format/redact/redact_command.h"
#include "format/redact/redact_names.h"
#include "record/cli/header.h"
#include "record/probe/probe.h"
#include "version.h"

static void add_string(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, json_object_new_string(value));
}

static void add_u64(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void add_probe(void *ctx, const char *name)
{
	json_object_array_add(ctx, json_object_new_string(name));
}

/* Reads the offset between the clocks: monotonic is read before and after the others, and the mean
 * is used. */
static struct json_object *clocks(uint64_t *realtime)
{
	struct json_object *c = json_object_new_object();
	uint64_t before = clock_ns(CLOCK_MONOTONIC), boot, after;

	*realtime = clock_ns(CLOCK_REALTIME);
	boot = clock_ns(CLOCK_BOOTTIME);
	after = clock_ns(CLOCK_MONOTONIC);
	add_u64(c, "monotonic_ns", before + (after - before) / 2);
	add_u64(c, "realtime_ns", *realtime);
	add_u64(c, "boottime_ns", boot);
	return c;
}

static struct json_object *options_json(const struct options *o)
{
	struct json_object *j = json_object_new_object();

	for (size_t i = 0; probes[i]; i++) {
		const struct probe_option *p = probes[i]->options;
		bool told = o->record.probes >> i & 1 || probe_infos[i].by_default;

		for (; told && p && p->name; p++)
			if (p->key)
				add_u64(j, p->key, probe_option(&o->record, probes[i], p->name));
		if (told && probes[i]->describe)
			probes[i]->describe(&o->record, j);
	}
	add_u64(j, "duration_ns", o->record.duration_ns);
	add_u64(j, "interval_ns", o->record.interval_ns);
	add_u64(j, "max_size", o->max_sz);
	add_u64(j, "cpu_budget_per_64k", o->record.budget_per_64k);
	if (redact_names_added())
		add_u64(j, "redact_names", redact_names_added());
	return j;
}

/* {"l4": "tracepoint", ...}: variants of the probes that have a choice. */
static struct json_object *attach_json(const struct record_opts *o)
{
	struct json_object *j = json_object_new_object();

	for (size_t i = 0; probes[i]; i++)
		if (o->plan && o->probes >> i & 1 && attach_name(o->plan, i))
			add_string(j, probes[i]->name, attach_name(o->plan, i));
	return j;
}

static struct json_object *labels_json(const struct options *o)
{
	struct json_object *j = json_object_new_object();

	for (size_t i = 0; i < o->label_cnt; i++) {
		const char *eq = strchr(o->labels[i], '=');
		char key[256];

		snprintf(key, sizeof(key), "%.*s", (int)(eq - o->labels[i]), o->labels[i]);
		add_string(j, key, eq + 1);
	}
	return j;
}

/* obrec's command line with secrets masked: it includes the arguments of COMMAND. */
static struct json_object *argv_json(int argc, char **argv)
{
	struct json_object *list = json_object_new_array();
	size_t sz = 0, at = 0;
	char *args;

	for (int i = 0; i < argc; i++)
		sz += strlen(argv[i]) + 1;
	args = malloc(sz + 1);
	if (!args)
		return list;
	for (int i = 0; i < argc; i++, at += strlen(args + at) + 1)
		strcpy(args + at, argv[i]);
	redact_command(args, sz);
	for (at = 0; at < sz; at += strlen(args + at) + 1)
		json_object_array_add(list, json_object_new_string(args + at));
	free(args);
	return list;
}

char *header_json(const struct options *o, int argc, char **argv)
{
	struct json_object *root = json_object_new_object(), *list;
	struct utsname u;
	uint64_t realtime;
	char *text;

	uname(&u);
	add_string(root, "version", OBREC_VERSION);
	add_string(root, "host", u.nodename);
	add_string(root, "kernel", u.release);
	add_string(root, "arch", u.machine);
	add_u64(root, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	json_object_object_add(root, "clock", clocks(&realtime));
	add_u64(root, "started_at_ns", realtime);
	json_object_object_add(root, "argv", argv_json(argc, argv));
	list = json_object_new_array();
	options_each_probe(o->record.probes, add_probe, list);
	json_object_object_add(root, "probes", list);
	json_object_object_add(root, "attach", attach_json(&o->record));
	json_object_object_add(root, "options", options_json(o));
	json_object_object_add(root, "labels", labels_json(o));
	text = strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
	json_object_put(root);
	return text;
}
