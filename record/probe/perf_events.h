/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perf events that run a BPF program on every online CPU, for any process. By name: "cycles"
 * (hardware counter; also samples code that runs with interrupts disabled), "clock" (the kernel's
 * cpu-clock timer), "minor-faults" and "major-faults" (page faults, counted by software).
 */
#ifndef RECORD_PERF_EVENTS_H
#define RECORD_PERF_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_program;
struct features;
struct links;

/* Returns true if the event can be opened, else the reason in one line. */
bool perf_events_possible(const char *name, const struct features *f, char *why, size_t why_sz);

/* Opens the event on each CPU with `rate` samples per second; of page faults, one sample per `rate`
 * faults. Reports its errors. */
int perf_events_attach(struct links *links, struct bpf_program *prog, const char *name,
		       unsigned rate);

#endif
