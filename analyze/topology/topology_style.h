/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours of a topology's drawing, light and dark. */
#ifndef ANALYZE_TOPOLOGY_STYLE_H
#define ANALYZE_TOPOLOGY_STYLE_H

#include <stdint.h>
#include <stdio.h>

/* Boxes and lines are coloured by their share of errors. */
struct error_level {
	const char *cls;  /* and id of the arrow's head; NULL ends the list */
	const char *text; /* in the legend */
	double below;	  /* share */
	double w;	  /* of the legend's entry */
	const char *light, *dark;
};
extern const struct error_level error_levels[];

const char *error_level(int64_t errors, int64_t calls); /* class; NULL: no errors */

/* Writes the rules, and the heads of arrows as markers "to" (no errors) and those of the levels. */
void topology_style(FILE *out, int arrow);

#endif
