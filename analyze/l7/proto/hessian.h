/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of Hessian 2 (hessian.caucho.com/doc/hessian-serialization.html), as far as
 * message headers contain them. */
#ifndef ANALYZE_L7_HESSIAN_H
#define ANALYZE_L7_HESSIAN_H

#include "analyze/l7/engine/l7.h"

/* A string's first chunk, or null (empty); false: none. What is cut marks the cursor, and *s is
 * what there is. */
bool hessian_string(struct l7_cursor *c, struct span *s);
bool hessian_int(struct l7_cursor *c, int32_t *v);
/* A thrown object: its class, and its message where that can be reached. */
bool hessian_exception(struct l7_cursor *c, struct span *type, struct span *text);

#endif
