/* SPDX-License-Identifier: BSD-2-Clause */
/* Detects sparse files. A hole can make a file seem arbitrarily large at no cost, so reads are
 * limited by the data present. */
#ifndef RECORD_FILE_HOLES_H
#define RECORD_FILE_HOLES_H

#include <stdbool.h>
#include <stdint.h>

/* True if the range is larger than 1 MiB and most of it is a hole, or has more extents than are
 * examined. False if the file system does not report holes. */
bool file_is_hollow(int fd, uint64_t offset, uint64_t size);

#endif
