/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of probes. */
#include "record/probe/probe.h"

#define PROBE(name, on, doc) extern const struct probe probe_##name##_entry;
#include "record/probe/probes.def"
#undef PROBE

const struct probe *const probes[] = {
#define PROBE(name, on, doc) &probe_##name##_entry,
#include "record/probe/probes.def"
#undef PROBE
	NULL,
};
