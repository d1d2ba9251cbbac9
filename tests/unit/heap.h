/* SPDX-License-Identifier: BSD-2-Clause */
/* Number of allocated bytes that are not freed. */
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__ /* its allocator is not glibc's */
size_t __sanitizer_get_current_allocated_bytes(void); /* sanitizer/allocator_interface.h */

static size_t heap_in_use(void)
{
	return __sanitizer_get_current_allocated_bytes();
}
#else
#include <malloc.h>

static size_t heap_in_use(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}
#endif

#endif
