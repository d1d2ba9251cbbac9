/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of perf events, those of perf: hardware events (cycles), cache events (LLC-load-misses),
 * software events (page-faults), raw ones (rN, hexadecimal); with :u or :k, of user or kernel mode
 * only. An event fits into a number, which is not 0:
 *
 *	63  type + 1  56 55 not in kernel  54 not in user mode  53  config  0
 */
#ifndef RECORD_PERF_EVENT_NAME_H
#define RECORD_PERF_EVENT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_EVENT(type, config) (((uint64_t)(type) + 1) << 56 | (config))
#define PERF_EVENT_TYPE(event) (((event) >> 56) - 1)
#define PERF_EVENT_USER (1ULL << 55)
#define PERF_EVENT_KERNEL (1ULL << 54)
#define PERF_EVENT_CONFIG(event) ((event) & (PERF_EVENT_KERNEL - 1))

enum { PERF_EVENT_NAME_LEN = 32 };

/* 0 or -EINVAL. */
int perf_event_parse(const char *name, uint64_t *event);
/* perf's first name for the event. */
const char *perf_event_name(uint64_t event, char name[PERF_EVENT_NAME_LEN]);
/* What it counts, as one word in lower case: "misses"; "ns" of clocks. */
const char *perf_event_unit(uint64_t event, char unit[PERF_EVENT_NAME_LEN]);
bool perf_event_is_clock(uint64_t event);
/* Whether it needs a counter of the processor. */
bool perf_event_is_hardware(uint64_t event);

/* An estimate of what would have been counted if the event had been on the hardware all the time
 * that it was enabled; 0 if it never was. */
uint64_t perf_event_scaled(uint64_t counted, uint64_t enabled_ns, uint64_t running_ns);

#endif
