/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/profile/sample_kind.h"

#include <stdio.h>

#include "format/records.h"

const char *sample_kind_name(uint32_t kind, char *buf, size_t sz)
{
	switch (kind) {
#define X(name, number)                                                                            \
	case number:                                                                               \
		return #name;
		SAMPLE_KINDS(X)
#undef X
	}
	snprintf(buf, sz, "kind%u", kind); /* of a newer recorder */
	return buf;
}
