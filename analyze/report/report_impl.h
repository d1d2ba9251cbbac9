/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the report. */
#ifndef ANALYZE_REPORT_IMPL_H
#define ANALYZE_REPORT_IMPL_H

#include "analyze/report/report.h"

struct report {
	const struct analysis *a;
	const struct report_page *page;
	sqlite3 *db;
	unsigned limit;
};

/* First column of the first row; 0: no rows. */
uint64_t report_number(const struct report *r, const char *sql);

void report_facts(const struct report *r);
int report_facts_prepare(struct load *l);

#endif
