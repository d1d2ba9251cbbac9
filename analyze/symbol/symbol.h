/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps addresses to functions, inline chains and lines for ELF images with symtab, dynsym or DWARF.
 * A symbolizer owns everything it returns until __free. Thread-safe for distinct images.
 */
#ifndef ANALYZE_SYMBOL_H
#define ANALYZE_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbolizer;
struct symbol_image;

struct symbolizer_opts {
	/* --debug-dir, then /usr/lib/debug; NULL-terminated; NULL: none. Borrowed until __free. */
	const char *const *debug_dirs;
	const char *cache_dir; /* persistent cache, see symbol_cache_dir; NULL: none */
	unsigned jobs;	       /* 0: all CPUs */
	bool inlines;	       /* expand inlined calls */
	bool debuginfod;       /* run debuginfod-find (only if requested) */
};

int symbolizer__new(struct symbolizer **s, const struct symbolizer_opts *opts);
void symbolizer__free(struct symbolizer *s);

/* ${XDG_CACHE_HOME:-~/.cache}/obana/symbols, malloc'ed. NULL: no home directory. */
char *symbol_cache_dir(void);

/*
 * Adds an image to look up addresses in. id_hex: build-id or "sha1:..", key of the cache entry; may
 * be NULL. open(ctx) returns a new fd of an ELF file (the archive's reduced ELF or the original) or
 * negative errno. It is called at most once per __resolve, and only if the cache has no answer. If
 * that fails or the file has no DWARF, debug files are searched by build-id, or by debuglink from
 * path. The image is valid as long as the symbolizer; its files are open only during __resolve.
 */
int symbolizer__image(struct symbolizer *s, const char *id_hex, const char *path,
		      int (*open)(void *ctx), void *ctx, struct symbol_image **image);

/* Describes an image stored in an archive. Build-ids are then not trusted: dwz's common file is
 * searched only in this archive, and cached answers apply only to this content. */
struct symbol_archive {
	const char *content; /* hash of open() and open_part() data, 32 hex digits; copied */
	/* Returns a new fd of further DWARF of the image, numbered from 0. -ENOENT: no more; other
	 * errors: not available. NULL: none. */
	int (*open_part)(void *ctx, size_t number);
	/* Returns a new fd of another ELF file of the archive by build-id, or negative errno;
	 * content_by_id returns its content ("": none). Called during __resolve. */
	int (*open_by_id)(void *ctx, const char *id_hex);
	const char *(*content_by_id)(void *ctx, const char *id_hex);
	void *ctx;
};
int symbol_image__in_archive(struct symbol_image *image, const struct symbol_archive *archive);

struct symbol_frame {
	const char *name;	  /* demangled or qualified; NULL: not known */
	const char *linkage_name; /* as in the file; NULL if the same */
	const char *file;	  /* NULL: not known */
	uint32_t line;		  /* 0: not known; for outer frames the line of the call */
	bool inlined;		  /* inlined into the next frame */
};

/*
 * Looks up addrs (ELF virtual addresses, any order, duplicates allowed). Calls fn once per address,
 * in the order of addrs, with the chain innermost first (cnt 0: unknown). The chain array is valid
 * until fn returns, its strings until symbolizer__free; equal strings are the same pointer. Inlined
 * calls are omitted after an average of 64 frames per address is exceeded. Return addresses must
 * already be decremented by one. One batch per image is fastest: it is spread over opts.jobs
 * threads.
 */
typedef void (*symbol_fn)(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt);
int symbolizer__resolve(struct symbolizer *s, struct symbol_image *image, const uint64_t *addrs,
			size_t cnt, symbol_fn fn, void *ctx);

/* After a resolve: best kind of symbols found, "dwarf", "symtab", "dynsym" or "none". *why: why it
 * is not better (NULL if "dwarf"). */
const char *symbol_image__kind(const struct symbol_image *image, const char **why);

/*
 * Cost of all resolves so far and its limits ("Symbols" in section 7 of format/FORMAT.md): steps,
 * and bytes of memory.
 */
struct symbol_cost {
	uint64_t work, bytes, work_max, bytes_max;
};
void symbolizer__cost(const struct symbolizer *s, struct symbol_cost *cost);

#endif
