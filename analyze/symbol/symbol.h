/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses to functions, inline chains and lines, for ELF images with symtab, dynsym or DWARF.
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
	const char *cache_dir; /* persistent answers; NULL: none. See symbol_cache_dir */
	unsigned jobs;	       /* 0: all CPUs */
	bool inlines;	       /* expand inlined calls */
	bool debuginfod;       /* may run debuginfod-find (only when asked for) */
};

int symbolizer__new(struct symbolizer **s, const struct symbolizer_opts *opts);
void symbolizer__free(struct symbolizer *s);

/* ${XDG_CACHE_HOME:-~/.cache}/obana/symbols, malloc'ed; NULL when there is no home. */
char *symbol_cache_dir(void);

/*
 * An image to look addresses up in. id_hex: build-id or "sha1:..", names the cache entry; may be
 * NULL. open(ctx) returns a new fd of an ELF file (the archive's slim ELF or the real one) or
 * negative errno; it is called at most once a __resolve, and only when the cache cannot answer.
 * Without it, or where it has no DWARF, debug files are looked for: by build-id, or by debuglink
 * from path. The image lives as long as the symbolizer, its files are open only during a __resolve.
 */
int symbolizer__image(struct symbolizer *s, const char *id_hex, const char *path,
		      int (*open)(void *ctx), void *ctx, struct symbol_image **image);

/* For an image that an archive brings along. Build-ids are then the archive's word: only in this
 * archive is looked for dwz's common file, and answers are kept for this content alone. */
struct symbol_archive {
	const char *content; /* 32 hex digits for what open() gives; copied */
	/* Another ELF file of the archive by its build-id: a new fd or negative errno, and its
	 * content ("": there is none). Called during a __resolve. */
	int (*open_by_id)(void *ctx, const char *id_hex);
	const char *(*content_by_id)(void *ctx, const char *id_hex);
	void *ctx;
};
int symbol_image__in_archive(struct symbol_image *image, const struct symbol_archive *archive);

struct symbol_frame {
	const char *name;	  /* demangled, or with its scopes; NULL: not known */
	const char *linkage_name; /* as in the file; NULL when the same */
	const char *file;	  /* NULL: not known */
	uint32_t line;		  /* 0: not known; the call's line for outer frames */
	bool inlined;		  /* this frame was inlined into the next one */
};

/*
 * Looks up addrs (ELF virtual, any order, repeats allowed) and calls fn once each, in order of
 * addrs, with the chain innermost first (cnt 0: nothing known). The chain array lives until fn
 * returns, its strings until symbolizer__free, and equal strings are one pointer. Inlined calls are
 * left out once there were more than 64 frames an address. Return addresses
 * are to be given already lowered by one. One batch an image is fastest: its work is spread over
 * opts.jobs threads.
 */
typedef void (*symbol_fn)(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt);
int symbolizer__resolve(struct symbolizer *s, struct symbol_image *image, const uint64_t *addrs,
			size_t cnt, symbol_fn fn, void *ctx);

/* After a resolve: "dwarf", "symtab", "dynsym", "none": the best that image had; and why not better
 * (NULL when it is dwarf). */
const char *symbol_image__kind(const struct symbol_image *image, const char **why);

/*
 * What all resolves so far have cost, and the most that they could have ("Symbols" in section 7 of
 * format/FORMAT.md): steps, and bytes of memory.
 */
struct symbol_cost {
	uint64_t work, bytes, work_max, bytes_max;
};
void symbolizer__cost(const struct symbolizer *s, struct symbol_cost *cost);

/* Demangled C++ or Rust name, malloc'ed, or NULL when it is not mangled. */
char *symbol_demangle(const char *name);
/* The same without the return type that functions made from templates have. */
char *symbol_demangle_scope(const char *name);
/* Whether it looks like one. */
bool symbol_is_mangled(const char *name);

#endif
