/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FORMAT_REDACT_COMMAND_H
#define FORMAT_REDACT_COMMAND_H

#include <stddef.h>

/*
 * Masks the secrets of a command line in place. Arguments are separated by NUL, as in
 * /proc/PID/cmdline, or by blanks in a single string (sh -c, rewritten titles). Masks values by
 * their names (--password=X, --token X, API_KEY=X, "Authorization: X"), secrets that
 * redact_fields.h finds (URLs, JSON), options and arguments of well-known clients (mysql -pX, curl
 * -u user:X, redis-cli AUTH X), and in text of a shell what they read (echo X | sudo -S).
 */
void redact_command(char *args, size_t sz);

/*
 * Masks the secrets of settings such as the data of mount(2), name=value,name=value, in place. A
 * comma in a value is doubled. A single setting may have a NUL in place of its '='; its value then
 * has no separators.
 */
void redact_settings(char *text, size_t sz);

#endif
