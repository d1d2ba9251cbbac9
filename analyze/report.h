/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary as text: every table in it is a view of schema.sql. */
#ifndef ANALYZE_REPORT_H
#define ANALYZE_REPORT_H

#include <stdio.h>

#include "analysis.h"

/* The tables it reads; before load__run. */
int report_prepare(struct load *l);

/* limit: rows of the longer tables. 0 or negative errno. */
int report_write(const struct analysis *a, unsigned limit, FILE *out);

#endif
