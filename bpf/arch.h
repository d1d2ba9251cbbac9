/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * What differs between processors: how DWARF numbers registers, where the kernel's struct pt_regs
 * and a signal frame keep them. For BPF it is chosen by the target's macro, for user space by the
 * compiler. Sources: System V ABI for x86-64 (3.6.2) and asm/sigcontext.h; DWARF for the Arm 64-bit
 * Architecture (4.1), asm/ptrace.h and asm/sigcontext.h of arm64.
 */
#ifndef BPF_ARCH_H
#define BPF_ARCH_H

#if defined(__TARGET_ARCH_arm64) || (!defined(__bpf__) && defined(__aarch64__))
#define ARCH_ARM64 1

/* DWARF registers. The fast path needs FP's bits to be among SP's. */
#define UNWIND_SP 31
#define UNWIND_FP 29
#define UNWIND_RA 30
#define UNWIND_RBX 255 /* none such: nothing but sp and x29 is a base of frames here */
#define UNWIND_REG_CNT 32
#define UNWIND_RA_IS_REG 1 /* a call leaves the return address in a register */
#define UNWIND_ELF_MACHINE EM_AARCH64

/* Words of struct pt_regs; that of a DWARF register. */
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

/* regs[] of struct sigcontext in struct rt_sigframe, where sp points in the trampoline. */
#define UNWIND_SIGCTX_OFF 312
#define UNWIND_SIGCTX_OF(reg) ((reg)&31)

#define UNWIND_USER_END (1ULL << 48)
/* Without the signature that pointer authentication puts above the address's 48 bits. */
#define UNWIND_CODE(address) ((address) & (UNWIND_USER_END - 1))

#else
#define ARCH_ARM64 0

#define UNWIND_SP 7
#define UNWIND_FP 6
#define UNWIND_RA 16
#define UNWIND_RBX 3
#define UNWIND_REG_CNT 16
#define UNWIND_RA_IS_REG 0
#define UNWIND_ELF_MACHINE EM_X86_64

enum unwind_pt_regs {
	UNWIND_PT_BP = 4,
	UNWIND_PT_BX = 5,
	UNWIND_PT_IP = 16,
	UNWIND_PT_MODE = 17, /* cs */
	UNWIND_PT_SP = 19,
	UNWIND_PT_CNT = 21
};
/* A nibble each (rbp and rsp are never asked for). */
#define UNWIND_PT_OF(reg) (0x0123678904ed5bcaULL >> ((reg)&15) * 4 & 15)
#define UNWIND_IS_USER(mode) (((mode)&3) == 3)

/* struct sigcontext in struct ucontext, where rsp points in the trampoline; its words. */
#define UNWIND_SIGCTX_OFF 40
#define UNWIND_SIGCTX_OF(reg) (0x76543210fa89becdULL >> ((reg)&15) * 4 & 15)

#define UNWIND_USER_END (1ULL << 47)
#define UNWIND_CODE(address) (address)
#endif

#endif
