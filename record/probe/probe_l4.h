/* SPDX-License-Identifier: BSD-2-Clause */
/* What probes that add to connections take from l4, which owns their traffic. */
#ifndef RECORD_PROBE_L4_H
#define RECORD_PROBE_L4_H

#include "record/traffic/traffic_intake.h"

struct probe_env;

extern const struct probe probe_l4_entry;

/* From its attach() on. */
struct traffic *probe_l4_traffic(const struct probe_env *env);

#endif
