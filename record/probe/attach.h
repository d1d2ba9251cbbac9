/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attach points are alternatives: a probe that has several lists them in its `variants`, best
 * first. The first that this kernel has is taken, unless --attach names another.
 */
#ifndef RECORD_ATTACH_H
#define RECORD_ATTACH_H

#include "record/host/features.h"
#include "record/probe/record_opts.h"

struct probe;

struct variant {
	const char *name;
	const char *doc; /* what it attaches to */
	/* Does this kernel have it? Else one line why not. NULL: if it has what the hooks need. */
	bool (*possible)(const struct features *f, char *why, size_t why_sz);
	const struct hook *hooks; /* attached as they stand (hooks.h); NULL: the probe does it */
};

/* What is recorded with, known before anything is loaded. */
struct attach_plan {
	struct features features;
	uint64_t probes; /* what is wanted and available, bits as in record_opts.probes */
	unsigned char variant[RECORD_MAX_PROBES]; /* of each probe that has variants */
};

/*
 * Finds out what this kernel has and chooses a variant for each wanted probe. One that is not
 * available is left out with a warning unless it is required or the last one. Reports its errors;
 * -EPERM or -EOPNOTSUPP when privilege or kernel support is missing.
 */
int attach_plan_make(struct attach_plan *plan, const struct record_opts *opts);

/* Can it work here, and how (what it needs aside)? `forced`: 0, or 1 + the number of the only
 * variant allowed. Returns the variant's number (0 for a probe without), or -EOPNOTSUPP with one
 * line in `why`. */
int attach_choose(const struct probe *probe, const struct features *f, unsigned forced, char *why,
		  size_t why_sz);

/* One PROBE=VARIANT of --attach; -EINVAL with the choices named in `why`. */
int attach_parse(unsigned char *forced, const char *word, size_t len, char *why, size_t why_sz);

/* The name of what is taken for probe number i; NULL where there is no choice. */
const char *attach_name(const struct attach_plan *plan, size_t i);

#endif
