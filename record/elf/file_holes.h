/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with holes claim bytes that nobody had to store: what is read of them is bounded by what is
 * there. */
#ifndef RECORD_FILE_HOLES_H
#define RECORD_FILE_HOLES_H

#include <stdbool.h>
#include <stdint.h>

/* More than a MiB, and most of it a hole, or cut into more pieces than are looked at. False where
 * the file system does not tell. */
bool file_is_hollow(int fd, uint64_t offset, uint64_t size);

#endif
