/* SPDX-License-Identifier: BSD-2-Clause */
/* What samples are of, by name. */
#ifndef ANALYZE_SAMPLE_KIND_H
#define ANALYZE_SAMPLE_KIND_H

#include <stddef.h>
#include <stdint.h>

/* "cpu"; into buf when the kind is not known to this build. */
const char *sample_kind_name(uint32_t kind, char *buf, size_t sz);
#define SAMPLE_KIND_CNT 64 /* numbers beyond are not used */

#endif
