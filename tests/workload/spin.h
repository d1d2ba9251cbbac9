/* SPDX-License-Identifier: BSD-2-Clause */
/* A function that can be copied anywhere: counts to 300,000 and returns. */
#ifndef WORKLOAD_SPIN_H
#define WORKLOAD_SPIN_H

#if defined(__x86_64__)
static const unsigned char spin_code[] = {
	0xb9, 0xe0, 0x93, 0x04, 0x00, /* mov ecx, 300000 */
	0xff, 0xc9,		      /* dec ecx */
	0x75, 0xfc,		      /* jne */
	0xc3,			      /* ret */
};
#elif defined(__aarch64__)
static const unsigned char spin_code[] = {
	0x80, 0x00, 0xa0, 0x52, /* mov w0, 4 << 16 */
	0x00, 0x04, 0x00, 0x71, /* subs w0, w0, 1 */
	0xe1, 0xff, 0xff, 0x54, /* b.ne */
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
};
#endif

#endif
