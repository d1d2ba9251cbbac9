/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* USDT probes of programs: where their arguments are. Shared by obrec and the programs of the probe
 * func. */
#ifndef BPF_USDT_H
#define BPF_USDT_H

#include <linux/types.h>

#define USDT_ARGS 12	/* as many as <sys/sdt.h> has */
#define USDT_SITES 4096 /* a power of two */

/* Registers are words of struct pt_regs (user_pt_regs on arm64). */
#define USDT_NO_REG 0xff
enum usdt_kind { USDT_UNKNOWN, USDT_CONST, USDT_REG, USDT_MEM };
struct usdt_arg {
	__s64 value; /* the constant; or what is added to the address */
	__u8 kind, reg, index, shift;
	__u8 sz, is_signed; /* bytes: 1, 2, 4, 8 */
	__u8 pad[2];
};
/* A place where a probe fires: map `usdt_sites`, by its number, which is its cookie. */
struct usdt_args {
	__u32 probe; /* in `func_names` */
	__u32 cnt;
	struct usdt_arg arg[USDT_ARGS];
};

#endif
