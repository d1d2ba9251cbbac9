/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads Hessian 2 values (hessian.caucho.com/doc/hessian-serialization.html), as far as message
 * headers contain them. */
#ifndef ANALYZE_L7_HESSIAN_H
#define ANALYZE_L7_HESSIAN_H

#include "analyze/l7/engine/l7.h"

/* Reads the first chunk of a string, or null (empty). False: not a string. Truncation marks the
 * cursor, and *s is the part present. */
bool hessian_string(struct l7_cursor *c, struct span *s);
bool hessian_int(struct l7_cursor *c, int32_t *v);
/* Reads a thrown object: its class, and its message if it can be reached. */
bool hessian_exception(struct l7_cursor *c, struct span *type, struct span *text);

#endif
