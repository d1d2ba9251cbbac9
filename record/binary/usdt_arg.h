/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of USDT probes as their notes describe them. Pure. */
#ifndef RECORD_USDT_ARG_H
#define RECORD_USDT_ARG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/probe/usdt.h"

/* Where symbols are, for operands such as 4+name(%rip). */
struct usdt_symbols {
	uint64_t pc; /* address of the probe */
	bool (*find)(void *ctx, const char *name, size_t len, uint64_t *address); /* NULL: none */
	void *ctx;
};

/*
 * Parses the argument string of a note, operands of the assembler such as "-4@%edi 8@-16(%rbp)
 * 4@$5": bytes, negative for signed ones, and where they are
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). machine: EM_X86_64 or
 * EM_AARCH64. Returns the number of arguments, at most USDT_ARGS. One whose form is not understood,
 * such as a floating-point one, is USDT_UNKNOWN.
 */
size_t usdt_args_parse(const char *text, unsigned machine, const struct usdt_symbols *symbols,
		       struct usdt_arg arg[USDT_ARGS]);

#endif
