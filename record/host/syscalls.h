/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of system calls by number, and which of their arguments are paths. */
#ifndef RECORD_SYSCALLS_H
#define RECORD_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `compat`: a number of 32-bit programs (i386, arm). Returns false if the number has no name; then
 * `name` is "syscall N". */
bool syscall_name(uint32_t number, bool compat, char *name, size_t sz);

/* Returns the number of arguments, and sets `paths` to 1 + index of the first two that are paths,
 * 0 for none, as the kernel describes the call in tracefs. 6 and none, if it does not. */
unsigned syscall_args(const char *name, uint8_t paths[2]);

#endif
