/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbolize [-j JOBS] [-c CACHE_DIR] [-D DEBUG_DIR] [-d] [-m] [-i] [-k] FILE < ADDRESSES
 *
 * Prints the same as `llvm-symbolizer --obj=FILE`, without columns: for each address the inline
 * chain as "name" and "file:line" lines, then an empty line. -m: linkage names; -d: may run
 * debuginfod-find; -i: no inlined functions; -k: only the kind of symbols; -t: time, and the part
 * of the budget used, on stderr.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "analyze/symbol/symbol.h"

struct options {
	const char *file;
	bool mangled, kind_only, timed;
};

static int open_file(void *ctx)
{
	const struct options *o = ctx;

	return open(o->file, O_RDONLY | O_CLOEXEC);
}

static void print_chain(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	const struct options *o = ctx;

	(void)index;
	for (size_t i = 0; i < cnt; i++) {
		const char *name = chain[i].name;

		if (o->mangled && chain[i].linkage_name)
			name = chain[i].linkage_name;
		printf("%s\n%s:%u\n", name ? name : "??", chain[i].file ? chain[i].file : "??",
		       chain[i].line);
	}
	if (!cnt)
		puts("??\n??:0");
	putchar('\n');
}

static uint64_t *read_addrs(size_t *cnt)
{
	uint64_t *v = NULL;
	char word[64];
	size_t cap = 0;

	while (scanf("%63s", word) == 1) {
		if (*cnt == cap) {
			cap = cap ? cap * 2 : 1024;
			v = reallocarray(v, cap, sizeof(*v));
			if (!v)
				exit(1);
		}
		v[(*cnt)++] = strtoull(word, NULL, 0);
	}
	return v;
}

static int run(struct options *o, const struct symbolizer_opts *opts)
{
	struct timespec t0, t1;
	struct symbolizer *s = NULL;
	struct symbol_image *image;
	const char *kind, *why;
	struct symbol_cost cost = {0};
	struct rusage ru;
	size_t cnt = 0;
	uint64_t *addrs = read_addrs(&cnt);
	int err;

	clock_gettime(CLOCK_MONOTONIC, &t0);
	err = symbolizer__new(&s, opts);
	if (!err)
		err = symbolizer__image(s, getenv("SYMBOLIZE_ID"), o->file, open_file, o, &image);
	if (!err)
		err = symbolizer__resolve(s, image, addrs, cnt, print_chain, o);
	if (!err && o->kind_only) {
		kind = symbol_image__kind(image, &why);
		printf("%s: %s\n", kind, why ? why : "");
	}
	if (s)
		symbolizer__cost(s, &cost);
	symbolizer__free(s);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	getrusage(RUSAGE_SELF, &ru);
	if (o->timed)
		fprintf(stderr,
			"%zu addresses, %.3f s, %ld MB resident at most; "
			"%.1f of %.1f million steps, %.1f of %.1f MB\n",
			cnt,
			(double)(t1.tv_sec - t0.tv_sec) + (double)(t1.tv_nsec - t0.tv_nsec) / 1e9,
			ru.ru_maxrss >> 10, (double)cost.work / 1e6, (double)cost.work_max / 1e6,
			(double)cost.bytes / 1e6, (double)cost.bytes_max / 1e6);
	free(addrs);
	if (err)
		fprintf(stderr, "symbolize: error %d\n", err);
	return err ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *dirs[] = {"/usr/lib/debug", NULL};
	struct symbolizer_opts opts = {.debug_dirs = dirs, .inlines = true};
	struct options o = {0};
	int c;

	while ((c = getopt(argc, argv, "j:c:D:dmikt")) != -1) {
		switch (c) {
		case 'j':
			opts.jobs = (unsigned)atoi(optarg);
			break;
		case 'c':
			opts.cache_dir = optarg;
			break;
		case 'D':
			dirs[0] = optarg;
			break;
		case 'd':
			opts.debuginfod = true;
			break;
		case 'm':
			o.mangled = true;
			break;
		case 'i':
			opts.inlines = false;
			break;
		case 'k':
			o.kind_only = true;
			break;
		case 't':
			o.timed = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc)
		return 2;
	o.file = argv[optind];
	return run(&o, &opts);
}
