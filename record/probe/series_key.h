/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of keys of cells: parts joined by tabs. Names in them are chosen by programs and users
 * (threads, files, functions, cgroups): control characters become '?', so that no name can look
 * like two parts.
 */
#ifndef RECORD_SERIES_KEY_H
#define RECORD_SERIES_KEY_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/metric.h"

struct probe_env;

/* Replaces the control characters of a name. */
void series_key_clean(char *name);
/* Sets the first part of a key's text. */
void series_key_set(char *text, size_t sz, const char *part);
/* Appends a part. */
void series_key_add(char *text, size_t sz, const char *part);

/* Formats a key that is a process name. */
void series_key_comm(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz);
/* Formats a key of process name and error. */
void series_key_error(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz);

#endif
