/* SPDX-License-Identifier: BSD-2-Clause */
/* The sample kind of an event that probe cpu samples instead of time. */
#ifndef RECORD_PROBE_CPU_H
#define RECORD_PROBE_CPU_H

#include <stdbool.h>

#include "format/record.h"

struct record_opts;

struct event_kind {
	char name[32], title[48], unit[32];
	struct rec_sample_kind kind; /* points to these */
};

/* Returns false if no event is sampled. */
bool probe_cpu_event_kind(const struct record_opts *opts, struct event_kind *to);

#endif
