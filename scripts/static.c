/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stubs linked into the static obana for functions that its libraries reference but never call.
 * All of them fail. SQLite calls dlopen() only to load extensions, which no connection enables.
 */
#include <stddef.h>

/* replaces SQLite's dlopen by the linker's --wrap */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}
