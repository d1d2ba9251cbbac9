/* SPDX-License-Identifier: BSD-2-Clause */
/* The original client behind proxies, from HTTP header fields of any version. */
#ifndef ANALYZE_L7_CLIENT_ADDRESS_H
#define ANALYZE_L7_CLIENT_ADDRESS_H

#include "format/text.h"

/*
 * The address in X-Forwarded-For, X-Real-IP or Forwarded (RFC 7239), in this order of trust and
 * of several the first: without port, brackets and quotes, part of `value`. Empty when `name` is
 * none of them or tells no more than *rank, which begins with 0.
 */
struct span client_address(struct span name, struct span value, unsigned *rank);

#endif
