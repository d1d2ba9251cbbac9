/* SPDX-License-Identifier: BSD-2-Clause */
/* Status of a session: counts while it runs, the end record, the list of probes. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "format/option.h"
#include "format/record.h"
#include "format/text.h"
#include "record/host/memory.h"
#include "record/probe/probe_cpu.h"
#include "record/session/session_impl.h"

const char *stop_reason_name(enum stop_reason r)
{
	static const char *const names[] = {
		[STOP_NONE] = "",
		[STOP_DURATION] = "duration",
		[STOP_INTERRUPT] = "interrupt",
		[STOP_TARGET_EXIT] = "target-exit",
		[STOP_COMMAND_EXIT] = "command-exit",
		[STOP_MAX_SIZE] = "max-size",
		[STOP_DISK_FULL] = "disk-full",
		[STOP_FILE_LIMIT] = "file-size-limit",
		[STOP_MAX_MEM] = "max-mem",
		[STOP_ERROR] = "error",
	};

	return names[r];
}

struct session_status session__status(const struct session *s)
{
	struct intake_counts c = intake__counts(s->intake);

	return (struct session_status){
		.samples = c.samples,
		.stacks = c.user_stacks,
		.stacks_complete = c.complete,
		.events = s->events,
		.lost = loss__total(s->loss),
		.thinned = thin__steps(s->thin),
		.processes = tracker__live_targets(s->tracker),
		.debuginfo_pending = debuginfo__pending(s->debuginfo),
	};
}

/* Leaves room for allocations until the next check and for the last compression of symbols. */
uint64_t session_memory_left(const struct session *s)
{
	struct unwind_store_stats st;
	uint64_t used;

	if (!s->opts.bound_mem)
		return UINT64_MAX;
	st = unwind_store__stats(s->store);
	used = memory_resident() + memory_of_maps(s->skel->obj) + st.row_bytes +
	       st.ranges * sizeof(struct range) + memory_reserve(s->opts.max_mem);
	return used < s->opts.max_mem ? s->opts.max_mem - used : 0;
}

static void add_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_string(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void add_loss(void *list, const char *source, const char *cause, uint64_t count)
{
	struct json_object *o = json_object_new_object();

	add_string(o, "source", source);
	add_string(o, "cause", cause);
	add_u64(o, "count", count);
	json_object_array_add(list, o);
}

static void add_program(void *list, const struct program_cost *c)
{
	struct json_object *o = json_object_new_object();

	add_string(o, "name", c->name);
	add_u64(o, "runs", c->runs);
	add_u64(o, "run_ns", c->run_ns);
	json_object_array_add(list, o);
}

/* {"total": n, "complete": n, "<why not>": n}: samples by result of their user stack unwind. */
static struct json_object *stacks_of(const struct session *s, unsigned kind)
{
	static const struct {
		unsigned error;
		const char *text;
	} errors[] = {
#define X(name, number, text) {number, text},
		STACK_ERRORS(X)
#undef X
	};
	struct json_object *o = json_object_new_object();
	uint64_t total = 0;

	add_u64(o, "total", 0);
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		uint64_t n = intake__stacks(s->intake, kind, errors[i].error);

		total += n;
		if (n || errors[i].error == STACK_NONE)
			add_u64(o, errors[i].text, n);
	}
	add_u64(o, "total", total);
	return o;
}

static struct json_object *stacks_json(const struct session *s)
{
	struct json_object *o = json_object_new_object();
	struct event_kind event;
	bool by_event = probe_cpu_event_kind(&s->opts, &event);

	for (size_t i = 0; i < rec_sample_kind_cnt; i++) {
		const struct rec_sample_kind *k = &rec_sample_kinds[i];
		struct json_object *of = stacks_of(s, k->number);

		if (json_object_get_uint64(json_object_object_get(of, "total")))
			json_object_object_add(
				o, by_event && k->number == SAMPLE_event ? event.name : k->name,
				of);
		else
			json_object_put(of);
	}
	return o;
}

char *session__end_json(const struct session *s, enum stop_reason reason)
{
	struct json_object *root = json_object_new_object();
	struct json_object *losses = json_object_new_array(), *programs = json_object_new_array();
	char *text;

	json_object_object_add(root, "complete", json_object_new_boolean(true));
	add_string(root, "stop_reason", stop_reason_name(reason));
	add_u64(root, "duration_ns", s->started_ns ? s->stopped_ns - s->started_ns : 0);
	add_u64(root, "monotonic_ns", s->started_ns);
	loss__each(s->loss, add_loss, losses);
	json_object_object_add(root, "losses", losses);
	json_object_object_add(root, "stacks", stacks_json(s));
	json_object_object_add(root, "symbols", session_symbols_json(s));
	for (size_t i = 0; probes[i]; i++)
		if (session_wants(s, i) && probes[i]->conclude)
			probes[i]->conclude(&s->env, root);
	if (s->stats_fd >= 0)
		program_cost_each(s->skel->obj, add_program, programs);
	json_object_object_add(root, "programs", programs);
	text = strdup(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
	json_object_put(root);
	return text;
}

/* Lists the variant that would be used, the other available ones, and why the rest are not
 * available. */
static void list_variants(const struct probe *p, const struct features *f, int taken)
{
	char why[256];

	for (int i = 0; p->variants && p->variants[i].name; i++) {
		const struct variant *v = &p->variants[i];
		bool by_option = probe_variant_option(p, v->name);
		bool ok = !by_option && variant_possible(v, f, why, sizeof(why));

		printf("  %-17s %-10s %s\n", v->name,
		       i == taken ? "taken"
		       : ok	  ? "yes"
				  : "no",
		       ok || by_option ? v->doc : why);
	}
}

enum { OPTION_COLUMN = 30 };

/* Lists the options of -e NAME:... and their aliases. */
static void list_options(size_t i)
{
	static const char *const types[] = {
		[PROBE_FLAG] = "flag",	 [PROBE_COUNT] = "number", [PROBE_TIME] = "duration",
		[PROBE_SHARE] = "share", [PROBE_WORD] = "word",
	};
	const struct probe_option *o = probes[i]->options;

	for (; o && o->name; o++) {
		printf("  :%-16s %-10s ", o->name, types[o->type]);
		option_wrap(stdout, o->doc, OPTION_COLUMN);
	}
	if (probes[i]->operand) {
		printf("  :%-27s ", probes[i]->operand);
		option_wrap(stdout, probes[i]->operand_doc, OPTION_COLUMN);
	}
	if (*probe_infos[i].aliases)
		printf("  also called       %s\n", probe_infos[i].aliases);
}

/* Returns the number of the variant that would be used. -EOPNOTSUPP: none, for the probe or one it
 * requires. */
static int choose(const struct record_opts *opts, size_t i, const struct features *f, char *why,
		  size_t why_sz)
{
	int taken = attach_choose(probes[i], f, opts->attach[i], why, why_sz);

	for (const struct probe *p = probes[i]->needs; p && taken >= 0; p = p->needs)
		if (attach_choose(p, f, 0, why, why_sz) < 0)
			return -EOPNOTSUPP;
	return taken;
}

int session_list_probes(const struct record_opts *opts)
{
	struct features f;
	char why[1024], reason[1024];
	int err = features_detect(&f, opts->btf, why, sizeof(why)), taken;

	printf("%-10s %-8s %-10s %s\n", "PROBE", "DEFAULT", "AVAILABLE", "DESCRIPTION OR REASON");
	for (size_t i = 0; probes[i]; i++) {
		if (!*probes[i]->name)
			continue;
		taken = err ?: choose(opts, i, &f, reason, sizeof(reason));
		printf("%-10s %-8s %-10s %s\n", probes[i]->name,
		       probe_infos[i].by_default ? "yes" : "no", taken >= 0 ? "yes" : "no",
		       err || taken >= 0 ? probe_infos[i].title : reason);
		if (!err)
			list_variants(probes[i], &f, taken);
		list_options(i);
	}
	if (!err)
		return EXIT_OK;
	/* A reason that affects all probes is printed once, after the list. */
	fflush(stdout);
	message_error("no probe is available: %s", why);
	return EXIT_UNSUPPORTED;
}
