/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of probes (struct probe_option): given as -e PROBE:NAME=VALUE or by an alias. */
#ifndef RECORD_PROBE_OPTIONS_H
#define RECORD_PROBE_OPTIONS_H

#include "record/cli/options_set.h"
#include "record/probe/probe.h"

/* Value of option number n of probe number i; NULL for none. -EINVAL: probe_option_takes() says
 * what it has to be. */
int probe_option_parse(struct record_opts *opts, size_t i, size_t n, const char *word);
const char *probe_option_takes(const struct probe_option *o);

/* Their aliases, as entries of obrec's table: writes at most `room`, returns how many. */
size_t probe_option_aliases(struct option_def *to, size_t room);

/* Do the options of each probe agree? Else -EINVAL after one line. */
int probe_options_check(const struct record_opts *opts);

#endif
