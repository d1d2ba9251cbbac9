/* SPDX-License-Identifier: BSD-2-Clause */
/* Places in a file where uprobes are attached. */
#ifndef RECORD_TLS_SITES_H
#define RECORD_TLS_SITES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/net/net_tls.h"

enum { TLS_SITES_MAX = 64 };

struct tls_site {
	uint64_t offset; /* file offset */
	enum tls_kind kind;
	bool step; /* the instruction must be single-stepped */
	const char *name;
	uint32_t result_at; /* TLS_GO_DEFERRED: stack offset of the byte count */
};

struct tls_sites {
	struct tls_site *site; /* room for TLS_SITES_MAX */
	size_t cnt;
};

/* Returns false if the table is full or the place is already in it. */
bool tls_sites_add(struct tls_sites *s, const struct tls_site *site);

/* Converts the address of executable code to a file offset. */
bool tls_file_offset(Elf *elf, uint64_t address, uint64_t *offset);

#endif
