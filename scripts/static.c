/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linked into the static obana in place of what its libraries name and it never calls; all of it
 * fails. SQLite could load extensions, which is off unless a connection turns it on, and none does.
 */
#include <stddef.h>

/* SQLite's dlopen, by the linker's --wrap */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}
