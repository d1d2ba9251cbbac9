/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/l7.h"

#define PROTOCOL(name, shown) extern const struct l7_protocol l7_##name;
#include "format/protocols.def"
#undef PROTOCOL

const struct l7_protocol *const l7_protocols[] = {
#define PROTOCOL(name, shown) &l7_##name,
#include "format/protocols.def"
#undef PROTOCOL
	NULL,
};
