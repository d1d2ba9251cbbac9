/* SPDX-License-Identifier: BSD-2-Clause */
/* One binary to one compressed slim ELF: cache, search, plan, compression, and the reason when it
 * is less than asked. */
#ifndef RECORD_DEBUGINFO_EXTRACT_H
#define RECORD_DEBUGINFO_EXTRACT_H

#include <stdatomic.h>

#include "record/symbols/debuginfo_cache.h"
#include "record/symbols/debuginfo_find.h"
#include "record/symbols/excerpt.h"

struct extract_job {
	const char *id;	  /* build-id or sha1:HEX */
	const char *path; /* as the process sees it */
	int fd, root_fd;  /* borrowed; fd -1: the cache alone, root_fd -1: none */
	enum debuginfo_mode mode;
	uint64_t dwarf_max; /* with DEBUGINFO_AUTO */
	uint64_t mem_max;   /* bytes that it may take; 0: no bound */
	const struct debuginfo_cache *cache;
	uint64_t tag; /* its content in the cache, where fd is -1 */
	const uint64_t *addrs; /* with DEBUGINFO_AUTO: DWARF of these alone; ascending, once each */
	size_t addr_cnt;
	const atomic_bool *cancel;
};

/* The dwz alternate file of what was extracted: to be had as a member of its own. */
struct extract_alt {
	char id[BUILD_ID_HEX_SZ]; /* empty: none */
	int fd;			  /* owned by the caller; -1: it is in the cache, */
	uint64_t tag;		  /* as this content */
	uint64_t file_sz;
	/* Of an excerpt instead: for which addresses there is no need to ask again. The caller's. */
	struct excerpt_range *covered;
	size_t covered_cnt;
	uint64_t *missing; /* units without their .dwo file, by offset; the caller's */
	size_t missing_cnt;
};

/*
 * Fills m (its fd is the caller's) and alt. Without symbols m->fd is -1, m->symbols "none" and
 * m->why says why; that is not an error. -ECANCELED when *cancel was set; then nothing is filled.
 */
int debuginfo_extract(const struct extract_job *job, struct slim_member *m,
		      struct extract_alt *alt);

#endif
