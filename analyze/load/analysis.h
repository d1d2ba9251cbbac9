/* SPDX-License-Identifier: BSD-2-Clause */
/* Frame of every command: parse options, open the archives, load, print, close. */
#ifndef ANALYZE_ANALYSIS_H
#define ANALYZE_ANALYSIS_H

#include "analyze/load/load.h"

struct common_opts;

struct analysis {
	struct captures captures;
	struct store *store;
	struct load load;
};

/* Opens archives and an empty store (sqlite_path as in store__open). Errors are reported; returns 0
 * or negative errno. */
int analysis__open(struct analysis *a, const struct common_opts *opts, char *const *paths,
		   size_t cnt, const char *sqlite_path);
/* Frees everything and returns an exit code: EXIT_PARTIAL if the command succeeded on truncated or
 * damaged archives. */
int analysis__close(struct analysis *a, int err);

/* Exit code for a function's result: 0 or more, or negative errno. */
int exit_code(int err);

/* Subtitle of a drawing for all captures: "host a, 60 s, 2 samples or stacks lost". affects: of the
 * losses that matter to it, see loss_effects.h; NULL: none. Malloc'ed. */
char *analysis__subtitle(const struct analysis *a, const char *affects);

/* Prints one line on stderr for each truncated or damaged archive. */
void analysis__warn(const struct analysis *a);

#endif
