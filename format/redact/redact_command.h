/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FORMAT_REDACT_COMMAND_H
#define FORMAT_REDACT_COMMAND_H

#include <stddef.h>

/*
 * Masks the secrets of a command line in place: arguments, each but the last with a NUL behind it,
 * as /proc/PID/cmdline has them, or in one with blanks between (sh -c, rewritten titles). Values by
 * their names (--password=X, --token X, API_KEY=X, "Authorization: X"), what redact_fields.h finds
 * (URLs, JSON), and options of well-known clients (mysql -pX, curl -u user:X).
 */
void redact_command(char *args, size_t sz);

#endif
