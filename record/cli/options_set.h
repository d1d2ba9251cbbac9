/* SPDX-License-Identifier: BSD-2-Clause */
/* Setter functions of the option table. */
#ifndef RECORD_OPTIONS_SET_H
#define RECORD_OPTIONS_SET_H

#include <errno.h>

#include "format/option.h"
#include "record/cli/obrec_options.h"

typedef int option_setter(void *ctx, const struct option_def *def, const char *arg);

/* options_value.c; def->data: offset of the field in struct options */
option_setter option_set_budget, option_set_debuginfo, option_set_duration, option_set_false,
	option_set_label, option_set_label_env, option_set_max_mem, option_set_pid,
	option_set_positive_duration, option_set_quiet, option_set_ready_fd, option_set_ring,
	option_set_size, option_set_string, option_set_true, option_set_verbose;

/* options_probes.c */
option_setter option_set_events, option_set_no_tls, option_set_attach;
uint64_t options_default_probes(void);
int options_check_probes(struct options *o); /* also marks forced probes as required */

/* obrec_manual.c */
extern const char obrec_exit_status[];
extern const struct man_section obrec_manual[];

/* Calls fn(word) for each part of a comma-separated list. -EINVAL if a part is empty. */
int option_each_word(const char *list, int (*fn)(void *ctx, const char *word, size_t len),
		     void *ctx);

#endif
