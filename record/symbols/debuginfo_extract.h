/* SPDX-License-Identifier: BSD-2-Clause */
/* Extracts one compressed slim ELF from a binary: cache, search, plan, compression, and the reason
 * if less than requested was found. */
#ifndef RECORD_DEBUGINFO_EXTRACT_H
#define RECORD_DEBUGINFO_EXTRACT_H

#include <stdatomic.h>

#include "record/symbols/debuginfo_cache.h"
#include "record/symbols/debuginfo_find.h"
#include "record/symbols/excerpt.h"

struct extract_job {
	const char *id;	  /* build-id or sha1:HEX */
	const char *path; /* as the process sees it */
	int fd, root_fd;  /* borrowed; fd -1: use the cache only; root_fd -1: none */
	enum debuginfo_mode mode;
	uint64_t dwarf_max; /* with DEBUGINFO_AUTO */
	uint64_t mem_max;   /* memory limit in bytes; 0: unlimited */
	const struct debuginfo_cache *cache;
	uint64_t tag; /* its content tag in the cache if fd is -1 */
	const uint64_t *addrs; /* with DEBUGINFO_AUTO: DWARF of these only; ascending, unique */
	size_t addr_cnt;
	const atomic_bool *cancel;
};

/* The dwz alternate file of what was extracted; it must become a separate member. */
struct extract_alt {
	char id[BUILD_ID_HEX_SZ]; /* empty: none */
	int fd;			  /* owned by the caller; -1: in the cache under `tag` */
	uint64_t tag;		  /* content tag in the cache */
	uint64_t file_sz;
	/* For an excerpt: addresses that need no further request. Owned by the caller. */
	struct excerpt_range *covered;
	size_t covered_cnt;
	uint64_t *missing; /* offsets of units without .dwo file; owned by the caller */
	size_t missing_cnt;
};

/*
 * Fills m (the caller owns its fd) and alt. Without symbols m->fd is -1, m->symbols is "none" and
 * m->why has the reason; that is not an error. -ECANCELED: *cancel was set and nothing is filled.
 */
int debuginfo_extract(const struct extract_job *job, struct slim_member *m,
		      struct extract_alt *alt);

#endif
