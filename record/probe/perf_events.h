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
#include <stdint.h>

struct bpf_program;
struct features;
struct links;

/* Return true if the event can be opened, else the reason in one line. */
bool perf_events_possible(const char *name, const struct features *f, char *why, size_t why_sz);
bool perf_event_possible(uint64_t event, const struct features *f, char *why, size_t why_sz);

/* Opens the event on each CPU with `rate` samples per second; of page faults, one sample per `rate`
 * faults. Reports its errors. */
int perf_events_attach(struct links *links, struct bpf_program *prog, const char *name,
		       unsigned rate);

/* As above, an event of perf_event_name.h; by_period: one sample per `rate` events. */
int perf_events_sample(struct links *links, struct bpf_program *prog, uint64_t event,
		       bool by_period, uint64_t rate);

/* Returns a descriptor that counts the event on a CPU, for any process, or a negative errno. */
int perf_event_count(uint64_t event, unsigned cpu);

#endif
