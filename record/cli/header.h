/* SPDX-License-Identifier: BSD-2-Clause */
/* obz.json: what the archive says of its host and of how it was made. */
#ifndef RECORD_HEADER_H
#define RECORD_HEADER_H

#include "record/cli/obrec_options.h"

/* The JSON text, malloc'ed; NULL when out of memory. */
char *header_json(const struct options *o, int argc, char **argv);

#endif
