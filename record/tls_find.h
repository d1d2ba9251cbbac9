/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in an ELF file TLS libraries can be listened to: their functions by name, and in each the
 * instruction that a probe costs least at. Pure: reads the file only.
 */
#ifndef RECORD_TLS_FIND_H
#define RECORD_TLS_FIND_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../bpf/tls.h"

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

/* How many sites; 0: no TLS library, or none that can be read. */
size_t tls_find(int fd, struct tls_site sites[TLS_SITES_MAX]);

/* Where executable code of that address lies in the file. */
bool tls_file_offset(Elf *elf, uint64_t address, uint64_t *offset);

#endif
