/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes of a file: those of <sys/sdt.h>, which are described in notes. */
#ifndef RECORD_USDT_FIND_H
#define RECORD_USDT_FIND_H

#include "bpf/probe/func.h"
#include "record/binary/usdt_arg.h"

enum { USDT_NAME_MAX = 256 };

/* A place where a probe fires. */
struct usdt_site {
	const char *name; /* PROVIDER:NAME */
	uint32_t pattern; /* the first that it matches */
	uint64_t offset;  /* in the file */
	uint64_t counter; /* offset of the semaphore: how many want the probe to fire; 0: none */
	uint32_t arg_cnt;
	struct usdt_arg arg[USDT_ARGS];
	struct func_place place;
};

/* A note of type 3 and name "stapsdt". The strings end within the section. */
struct usdt_note {
	uint64_t pc, base, semaphore;
	const char *provider, *name, *args;
};

/* Calls fn for each note of a section, until it returns false or the section is damaged. Pure. */
void usdt_notes_each(const void *section, size_t len,
		     bool (*fn)(void *ctx, const struct usdt_note *note), void *ctx);

/* Whether a pattern (fnmatch(3)) of PROVIDER:NAME matches; -, as in DTrace's documents, stands for
 * __ too. */
bool usdt_matches(const char *pattern, const char *name);

/*
 * Calls fn for each place, at most USDT_SITES, of the probes that a pattern matches, until it
 * returns false. Returns the number of places left out: where there is no nop, or too many.
 */
size_t usdt_find(int fd, const char *const *patterns, size_t cnt,
		 bool (*fn)(void *ctx, const struct usdt_site *site), void *ctx);

#endif
