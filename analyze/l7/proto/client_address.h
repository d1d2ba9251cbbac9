/* SPDX-License-Identifier: BSD-2-Clause */
/* The original client behind proxies, from header fields of any HTTP version. */
#ifndef ANALYZE_L7_CLIENT_ADDRESS_H
#define ANALYZE_L7_CLIENT_ADDRESS_H

#include "format/text.h"

/*
 * Returns the client address from X-Forwarded-For, X-Real-IP or Forwarded (RFC 7239), in this order
 * of preference; if there are several addresses, the first. The result is a part of `value`,
 * without port, brackets and quotes. It is empty if `name` is another field or is not preferred
 * over *rank, which must be 0 initially.
 */
struct span client_address(struct span name, struct span value, unsigned *rank);

#endif
