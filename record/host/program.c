/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>

#include "format/text.h"
#include "record/host/program.h"

int program_cost_enable(void)
{
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);

	return fd < 0 ? -errno : fd;
}

bool program_cost_counted(void)
{
	FILE *f = fopen("/proc/sys/kernel/bpf_stats_enabled", "re");
	bool on = f && fgetc(f) == '1';

	if (f)
		fclose(f);
	return on;
}

void program_cost_each(const struct bpf_object *obj,
		       void (*fn)(void *ctx, const struct program_cost *c), void *ctx)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
	{
		struct bpf_prog_info info = {0};
		__u32 sz = sizeof(info);
		struct program_cost c = {.name = bpf_program__name(p)};
		int fd = bpf_program__fd(p);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &sz))
			continue;
		c.runs = info.run_cnt;
		c.run_ns = info.run_time_ns;
		c.missed = info.recursion_misses;
		fn(ctx, &c);
	}
}

struct write_ctx {
	struct obz_writer *writer;
	uint64_t ts_ns;
	int err;
};

static void write_one(void *arg, const struct program_cost *c)
{
	struct write_ctx *w = arg;
	struct rec_program r = {
		.ts_ns = w->ts_ns,
		.name = span_of(c->name),
		.runs = c->runs,
		.run_ns = c->run_ns,
	};

	if (!w->err)
		w->err = obz_writer__put(w->writer, REC_program, &r);
}

int program_cost_write(const struct bpf_object *obj, struct obz_writer *writer, uint64_t ts_ns)
{
	struct write_ctx w = {.writer = writer, .ts_ns = ts_ns};

	program_cost_each(obj, write_one, &w);
	return w.err;
}
