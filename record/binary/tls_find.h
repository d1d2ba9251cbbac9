/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in an ELF file TLS libraries can be listened to: their functions by name, and in each the
 * instruction that a probe costs least at. Pure: reads the file only.
 */
#ifndef RECORD_TLS_FIND_H
#define RECORD_TLS_FIND_H

#include "record/binary/tls_sites.h"

/* How many sites; 0: no TLS library, or none that can be read. */
size_t tls_find(int fd, struct tls_site sites[TLS_SITES_MAX]);

#endif
