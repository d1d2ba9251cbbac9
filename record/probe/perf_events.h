/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perf events that run a program on every online CPU, for whoever runs there. By name: "cycles"
 * (hardware, where there is a PMU: these sample code that runs with interrupts off as well),
 * "clock" (the kernel's cpu-clock timer).
 */
#ifndef RECORD_PERF_EVENTS_H
#define RECORD_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct features;
struct links;

/* Can it be opened here? Else one line why not. */
bool perf_events_possible(const char *name, const struct features *f, char *why, size_t why_sz);

/* Opens it on each CPU, `freq` times a second. Reports its errors. */
int perf_events_attach(struct links *links, struct bpf_program *prog, const char *name,
		       unsigned freq);

#endif
