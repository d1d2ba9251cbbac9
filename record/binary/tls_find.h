/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the functions of TLS libraries in an ELF file by name, and for each the instruction where a
 * uprobe is cheapest. Pure: only reads the file. */
#ifndef RECORD_TLS_FIND_H
#define RECORD_TLS_FIND_H

#include "record/binary/tls_sites.h"

/* Returns the number of sites; 0: no TLS library, or an unreadable file. */
size_t tls_find(int fd, struct tls_site sites[TLS_SITES_MAX]);

#endif
