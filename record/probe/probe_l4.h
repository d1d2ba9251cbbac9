/* SPDX-License-Identifier: BSD-2-Clause */
/* Access for probes that extend l4, which owns the session's traffic. */
#ifndef RECORD_PROBE_L4_H
#define RECORD_PROBE_L4_H

#include "record/traffic/traffic_intake.h"

struct probe_env;

extern const struct probe probe_l4_entry;

/* Valid after attach() of l4. */
struct traffic *probe_l4_traffic(const struct probe_env *env);

#endif
