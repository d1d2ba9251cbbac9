/* SPDX-License-Identifier: BSD-2-Clause */
/* Command line of obrec. The option table is the single source for parser, --help, manual page and
 * completion. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include "record/probe/record_opts.h"

#define OPTIONS_MAX_PIDS 1024
#define OPTIONS_MAX_LABELS 64

struct options {
	struct record_opts record;
	const char *output;			/* NULL: default name, "-": stdout */
	uint64_t max_sz;			/* 0: no limit */
	const char *labels[OPTIONS_MAX_LABELS]; /* "K=V" */
	size_t label_cnt;
	int ready_fd;  /* -1: none */
	int verbosity; /* -1 quiet, 0, 1 verbose */
	bool list;
	bool events_given; /* -e replaced the default set */
	char **command; /* -- COMMAND ARG..., NULL-terminated; NULL: none */

	/* storage for the pointers in record.target */
	uint32_t pids[OPTIONS_MAX_PIDS];
	const char *label_env[OPTIONS_MAX_LABELS];
};

/* Parses argv into `o`; strings still point into argv. Returns 0; 1: handled (--help ...); -EINVAL
 * after one line on stderr. */
int options_parse(struct options *o, int argc, char **argv);

/* Calls fn with the name of each probe in `probes`, in list order. */
void options_each_probe(uint64_t probes, void (*fn)(void *ctx, const char *name), void *ctx);

#endif
