/* SPDX-License-Identifier: BSD-2-Clause */
/* crypto/tls in a Go program, found by the runtime's own table of functions, which strip keeps. */
#ifndef RECORD_TLS_GO_H
#define RECORD_TLS_GO_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "../bpf/tls.h"

enum { TLS_GO_FUNCTIONS = 2, TLS_GO_MAX_SZ = 65536 };

struct tls_go_function {
	const char *name;
	enum tls_kind kind;
	uint64_t start, end; /* addresses */
};

/* True when all are there. */
bool tls_go_find(Elf *elf, struct tls_go_function fn[TLS_GO_FUNCTIONS]);

#endif
