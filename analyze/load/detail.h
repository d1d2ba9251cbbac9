/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields of a message's detail: a JSON object without spaces whose keys have no escapes. */
#ifndef ANALYZE_DETAIL_H
#define ANALYZE_DETAIL_H

#include <stdbool.h>

#include "format/records.h"

/* End of a JSON value that begins at p: the next comma or brace outside it. */
const char *detail_value_end(const char *p, const char *end);

/* Takes the next field off *rest, at first the object. Values are without the quotes of a string.
 * False: there is none. */
bool detail_next(struct span *rest, struct span *key, struct span *value);

/* False: there is no such field. */
bool detail_find(struct span object, struct span key, struct span *value);

#endif
