/* SPDX-License-Identifier: BSD-2-Clause */
/* obz.json: describes the host and the options of the capture. */
#ifndef RECORD_HEADER_H
#define RECORD_HEADER_H

#include "record/cli/obrec_options.h"

/* Returns the JSON text, malloc'ed, or NULL if out of memory. */
char *header_json(const struct options *o, int argc, char **argv);

#endif
