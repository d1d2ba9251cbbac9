/* SPDX-License-Identifier: BSD-2-Clause */
#include <json-c/json.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/cli/live_progress.h"

#define SHOW_EVERY_NS 500000000ULL

void progress_init(struct progress *p, const struct obz_writer *writer, uint64_t duration_ns,
		   int verbosity)
{
	*p = (struct progress){
		.writer = writer,
		.started_ns = clock_now_ns(),
		.duration_ns = duration_ns,
		.on = verbosity >= 0 && isatty(STDERR_FILENO),
	};
}

void progress_tick(void *ctx, const struct session_status *st)
{
	char samples[24], bytes[24], lost[24], of[32] = "", symbols[48] = "";
	struct progress *p = ctx;
	uint64_t now = clock_now_ns();

	if (!p->on || (now - p->shown_ns < SHOW_EVERY_NS && st->stopping == p->stopping))
		return;
	p->stopping = st->stopping;
	p->shown_ns = now;
	if (st->stopping) {
		message_status("capture complete; extracting symbols of %u binaries (Ctrl-C: skip)",
			       st->debuginfo_pending);
		return;
	}
	if (p->duration_ns)
		snprintf(of, sizeof(of), "/%.0f", p->duration_ns / 1e9);
	if (st->debuginfo_pending)
		snprintf(symbols, sizeof(symbols), "  symbols of %u to go", st->debuginfo_pending);
	message_status("%.0f%s s  %s samples  %u processes  %s written  %s lost%s",
		       (now - p->started_ns) / 1e9, of, format_count(samples, st->samples),
		       st->processes, format_bytes(bytes, obz_writer__bytes(p->writer)),
		       format_count(lost, st->lost), symbols);
}

void progress_fini(struct progress *p)
{
	p->on = false;
	message_status(NULL);
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

/* ", no losses" or ", LOST 12 (ring: buffer full 10, ...)" from the end record. */
static void add_losses(struct strbuf *b, struct json_object *end)
{
	struct json_object *losses = NULL, *v;
	uint64_t total = 0;
	size_t cnt;

	json_object_object_get_ex(end, "losses", &losses);
	cnt = losses ? json_object_array_length(losses) : 0;
	for (size_t i = 0; i < cnt; i++)
		if (json_object_object_get_ex(json_object_array_get_idx(losses, i), "count", &v))
			total += json_object_get_uint64(v);
	if (!total) {
		strbuf_addf(b, ", no losses");
		return;
	}
	strbuf_addf(b, ", LOST %llu (", (unsigned long long)total);
	for (size_t i = 0; i < cnt; i++) {
		struct json_object *row = json_object_array_get_idx(losses, i);

		strbuf_addf(b, "%s%s: %s %s", i ? ", " : "", text_of(row, "source"),
			    text_of(row, "cause"), text_of(row, "count"));
	}
	strbuf_addf(b, ")");
}

static uint64_t number_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

/* ", no symbols for 12.3% of samples (libfoo.so and 2 more)". */
static void add_symbols(struct strbuf *b, struct json_object *end)
{
	struct json_object *o, *list, *first;
	uint64_t cnt, samples;
	const char *path;

	if (!json_object_object_get_ex(end, "symbols", &o) || !(cnt = number_of(o, "count")) ||
	    !json_object_object_get_ex(o, "binaries", &list))
		return;
	samples = number_of(o, "samples");
	first = json_object_array_get_idx(list, 0);
	path = text_of(first, "path");
	strbuf_addf(b, ", no symbols for %.1f%% of samples (",
		    samples ? 100.0 * number_of(o, "without") / samples : 0.0);
	strbuf_escape(b, ESCAPE_TERMINAL,
		      span_of(strrchr(path, '/') ? strrchr(path, '/') + 1 : path));
	if (cnt > 1)
		strbuf_addf(b, " and %llu more", (unsigned long long)cnt - 1);
	strbuf_addf(b, ")");
}

/* Samples in the archive; the missing ones are among the losses. */
static void add_samples(struct strbuf *b, uint64_t written, const struct session_status *st)
{
	strbuf_addf(b, ", %llu samples", (unsigned long long)written);
	if (written != st->samples)
		strbuf_addf(b, " (of %llu taken)", (unsigned long long)st->samples);
	strbuf_addf(b, ", %llu stacks", (unsigned long long)st->stacks);
	if (st->stacks)
		strbuf_addf(b, " (%.1f%% complete)", 100.0 * st->stacks_complete / st->stacks);
}

void progress_summary(const struct output *out, const struct obz_written *written,
		      const struct session_status *st)
{
	struct json_object *end = written->end_json ? json_tokener_parse(written->end_json) : NULL,
			   *v;
	struct strbuf line = {0};
	char buf[24];

	strbuf_addf(&line, "%s: %s", strcmp(out->path, "-") ? out->path : "stdout",
		    format_bytes(buf, written->bytes));
	if (end && json_object_object_get_ex(end, "duration_ns", &v))
		strbuf_addf(&line, ", %s", format_duration(buf, json_object_get_uint64(v)));
	add_samples(&line, written->samples, st);
	add_losses(&line, end);
	add_symbols(&line, end);
	if (st->thinned)
		strbuf_addf(&line, ", throttled in %u steps for --cpu-budget", st->thinned);
	if (end && strcmp(text_of(end, "stop_reason"), "duration"))
		strbuf_addf(&line, ", stopped by %s", text_of(end, "stop_reason"));
	message_warn("%s", line.p ? line.p : "");
	strbuf_fini(&line);
	json_object_put(end);
}
