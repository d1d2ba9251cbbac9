/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Differences between processor architectures: DWARF register numbers and where the kernel's struct
 * pt_regs and a signal frame store the registers. The architecture is selected by the BPF target
 * macro or, in user space, by the compiler. Sources: System V ABI for x86-64 (3.6.2) and
 * asm/sigcontext.h; DWARF for the Arm 64-bit Architecture (4.1), asm/ptrace.h and asm/sigcontext.h
 * of arm64.
 */
#ifndef BPF_ARCH_H
#define BPF_ARCH_H

#if defined(__TARGET_ARCH_arm64) || (!defined(__bpf__) && defined(__aarch64__))
#define ARCH_ARM64 1

/* DWARF register numbers. The fast path requires that SP contains all bits of FP. */
#define UNWIND_SP 31
#define UNWIND_FP 29
#define UNWIND_RA 30
#define UNWIND_RBX 255 /* none: only sp and x29 are frame bases on arm64 */
#define UNWIND_REG_CNT 32
#define UNWIND_RA_IS_REG 1 /* calls store the return address in a register */
#define UNWIND_RETURN_SZ 0   /* or on the stack, in as many bytes */
#define UNWIND_XOL_SLOT_SZ 4 /* UPROBE_XOL_SLOT_BYTES */
#define UNWIND_ELF_MACHINE EM_AARCH64

/* Word indexes in struct pt_regs, and the index of a DWARF register. */
enum unwind_pt_regs {
	UNWIND_PT_BP = 29,
	UNWIND_PT_BX = 19,
	UNWIND_PT_SP = 31,
	UNWIND_PT_IP = 32,
	UNWIND_PT_MODE = 33,
	UNWIND_PT_CNT = 36
};
#define UNWIND_PT_OF(reg) ((reg)&31)
#define UNWIND_IS_USER(mode) (((mode)&0xf) == 0)

/* Offset of sigcontext.regs[] from sp in the signal trampoline (struct rt_sigframe). */
#define UNWIND_SIGCTX_OFF 312
#define UNWIND_SIGCTX_OF(reg) ((reg)&31)

#define UNWIND_USER_END (1ULL << 48)
/* Removes the pointer authentication code, which is stored above the 48 address bits. */
#define UNWIND_CODE(address) ((address) & (UNWIND_USER_END - 1))

#else
#define ARCH_ARM64 0

#define UNWIND_SP 7
#define UNWIND_FP 6
#define UNWIND_RA 16
#define UNWIND_RBX 3
#define UNWIND_REG_CNT 16
#define UNWIND_RA_IS_REG 0
#define UNWIND_RETURN_SZ 8
#define UNWIND_XOL_SLOT_SZ 128
#define UNWIND_ELF_MACHINE EM_X86_64

enum unwind_pt_regs {
	UNWIND_PT_BP = 4,
	UNWIND_PT_BX = 5,
	UNWIND_PT_IP = 16,
	UNWIND_PT_MODE = 17, /* cs */
	UNWIND_PT_SP = 19,
	UNWIND_PT_CNT = 21
};
/* One nibble per register (rbp and rsp are never looked up). */
#define UNWIND_PT_OF(reg) (0x0123678904ed5bcaULL >> ((reg)&15) * 4 & 15)
#define UNWIND_IS_USER(mode) (((mode)&3) == 3)

/* Offset of struct sigcontext from rsp in the signal trampoline (struct ucontext), and the word
 * index of a DWARF register in it. */
#define UNWIND_SIGCTX_OFF 40
#define UNWIND_SIGCTX_OF(reg) (0x76543210fa89becdULL >> ((reg)&15) * 4 & 15)

#define UNWIND_USER_END (1ULL << 47)
#define UNWIND_CODE(address) (address)
#endif

#endif
