/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of probes (struct probe_option), given as -e PROBE:NAME=VALUE or by an alias. */
#ifndef RECORD_PROBE_OPTIONS_H
#define RECORD_PROBE_OPTIONS_H

#include "record/cli/options_set.h"
#include "record/probe/probe.h"

/* Parses a value for option n of probe i; word NULL: no value. -EINVAL: probe_option_takes()
 * describes the expected value. */
int probe_option_parse(struct record_opts *opts, size_t i, size_t n, const char *word);
const char *probe_option_takes(const struct probe_option *o);

/* Writes the aliases as entries of the option table, at most `room`. Returns their number. */
size_t probe_option_aliases(struct option_def *to, size_t room);

/* Checks that the options of each probe are consistent. -EINVAL after one line on stderr. */
int probe_options_check(const struct record_opts *opts);

#endif
