/* SPDX-License-Identifier: BSD-2-Clause */
/* Attach variants: a probe with several ways to attach lists them in `variants`, best first. The
 * first one available on this kernel is used unless --attach selects another. */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include "record/host/features.h"
#include "record/probe/record_opts.h"

struct probe;

struct variant {
	const char *name;
	const char *doc; /* what it attaches to */
	/* Returns true if the kernel supports it, else the reason in one line. NULL: check the
	 * hooks only. */
	bool (*possible)(const struct features *f, char *why, size_t why_sz);
	const struct hook *hooks; /* attached generically (hooks.h); NULL: the probe attaches
				   * itself */
};

/* Features, probes and variants of a capture, determined before loading. */
struct attach_plan {
	struct features features;
	uint64_t probes; /* requested and available probes, bits as in record_opts.probes */
	unsigned char variant[RECORD_MAX_PROBES]; /* per probe with variants */
};

/*
 * Detects kernel features and chooses a variant for each requested probe. An unavailable probe is
 * skipped with a warning unless it is required or no other is left. Reports its errors; -EPERM or
 * -EOPNOTSUPP: privilege or kernel support is missing.
 */
int attach_plan_make(struct attach_plan *plan, const struct record_opts *opts);

/*
 * Chooses the variant of one probe; the probe it requires is not considered. `forced`: 0, or 1 +
 * the number of the only variant allowed. Returns the variant's number (0 for a probe without
 * variants), or -EOPNOTSUPP with the reason in `why` (one line).
 */
int attach_choose(const struct probe *probe, const struct features *f, unsigned forced, char *why,
		  size_t why_sz);

/* Parses one PROBE=VARIANT of --attach. -EINVAL with the choices listed in `why`. */
int attach_parse(unsigned char *forced, const char *word, size_t len, char *why, size_t why_sz);

/* Returns the name of the chosen variant of probe i; NULL: it has no variants. */
const char *attach_name(const struct attach_plan *plan, size_t i);

#endif
