/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of probes. */
#include "record/probe/probe.h"

#define PROBE(name, ...) extern const struct probe probe_##name##_entry;
#include "format/probes.def"

const struct probe *const probes[] = {
#define PROBE(name, ...) &probe_##name##_entry,
#include "format/probes.def"
	NULL,
};
