/* SPDX-License-Identifier: BSD-2-Clause */
/* The places of a file that are to be probed. */
#ifndef RECORD_TLS_SITES_H
#define RECORD_TLS_SITES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/net/tls.h"

enum { TLS_SITES_MAX = 64 };

struct tls_site {
	uint64_t offset; /* in the file */
	enum tls_kind kind;
	bool step; /* the instruction there has to be single-stepped */
	const char *name;
	uint32_t result_at; /* TLS_GO_DEFERRED */
};

struct tls_sites {
	struct tls_site *site; /* room for TLS_SITES_MAX */
	size_t cnt;
};

/* False when there are too many, or the place has one already. */
bool tls_sites_add(struct tls_sites *s, const struct tls_site *site);

/* Where executable code of that address lies in the file. */
bool tls_file_offset(Elf *elf, uint64_t address, uint64_t *offset);

#endif
