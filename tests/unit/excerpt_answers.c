/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An excerpt says of each address asked for what the whole DWARF says: names, inline chains, files
 * and lines, as obana finds them. Of compilers' real output in all its forms: DWARF 4 and 5,
 * compressed, with type units, split, with dwz's common file, without .debug_aranges.
 */
#include <assert.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/symbol/symbol.h"
#include "format/dwarf/dwarf_split.h"
#include "record/symbols/debuginfo.h"
#include "record/symbols/excerpt.h"
#include "record/symbols/slim_elf.h"

static const char source[] =
	"#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
	"namespace shop {\n"
	"struct Order { std::string name; int n; };\n"
	"template <class T> struct Feed {\n"
	"  std::map<std::string, T> seen;\n"
	"  static inline __attribute__((always_inline)) int weigh(const T &t) { return t.n * 3 + "
	"1; }\n"
	"  int parse(std::vector<T> &v, volatile int *out) {\n"
	"    auto less = [&](const T &a, const T &b) { return weigh(a) < weigh(b); };\n"
	"    std::sort(v.begin(), v.end(), less);\n"
	"    for (auto &t : v) { seen[t.name] = t; *out += weigh(t); }\n"
	"    return seen.size();\n"
	"  }\n"
	"};\n"
	"}\n"
	"static volatile int out;\n"
	"int NAME(int n) {\n"
	"  shop::Feed<shop::Order> f;\n"
	"  std::vector<shop::Order> v;\n"
	"  for (int i = 0; i < n; i++) v.push_back({std::to_string(i * 7919 % 101), i});\n"
	"  return f.parse(v, &out);\n"
	"}\n";

static char dir[] = "/tmp/excerpt_answers.XXXXXX";

static int sh(const char *fmt, const char *arg)
{
	char cmd[1024], full[1200];

	snprintf(cmd, sizeof(cmd), fmt, arg);
	snprintf(full, sizeof(full), "cd %s && { %s; } >>log 2>&1", dir, cmd);
	return system(full);
}

/* ---- both answers, as text */

struct text {
	char *p;
	size_t len;
	FILE *f;
	const uint64_t *addrs;
	unsigned inlined, lines;
};

static void take(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	struct text *t = ctx;

	fprintf(t->f, "%llx", (unsigned long long)t->addrs[index]);
	for (size_t i = 0; i < cnt; i++) {
		fprintf(t->f, " %s|%s|%s:%u%s", chain[i].name ? chain[i].name : "?",
			chain[i].linkage_name ? chain[i].linkage_name : "",
			chain[i].file ? chain[i].file : "?", chain[i].line,
			chain[i].inlined ? " <" : "");
		t->inlined += chain[i].inlined;
		t->lines += chain[i].line != 0;
	}
	fputc('\n', t->f);
}

struct given {
	int main, parts[4], part_cnt;
};

static int open_main(void *ctx)
{
	return fcntl(((struct given *)ctx)->main, F_DUPFD_CLOEXEC, 3);
}

static int open_part(void *ctx, size_t n)
{
	struct given *g = ctx;

	return (int)n < g->part_cnt ? fcntl(g->parts[n], F_DUPFD_CLOEXEC, 3) : -ENOENT;
}

static int open_none(void *ctx, const char *id)
{
	return -ENOENT;
}

static const char *content_none(void *ctx, const char *id)
{
	return "";
}

static void resolve(struct text *t, struct given *g, const char *path, const uint64_t *addrs,
		    size_t cnt)
{
	const struct symbol_archive archive = {"00000000000000000000000000000000", open_part,
					       open_none, content_none, g};
	struct symbolizer_opts opts = {.jobs = 1, .inlines = true};
	struct symbolizer *s;
	struct symbol_image *image;

	*t = (struct text){.addrs = addrs};
	t->f = open_memstream(&t->p, &t->len);
	assert(!symbolizer__new(&s, &opts));
	assert(!symbolizer__image(s, NULL, path, open_main, g, &image));
	if (g->part_cnt)
		assert(!symbol_image__in_archive(image, &archive));
	assert(!symbolizer__resolve(s, image, addrs, cnt, take, t));
	assert(!strcmp(symbol_image__kind(image, NULL), "dwarf"));
	symbolizer__free(s);
	fclose(t->f);
}

/* ---- addresses: every third of .text, shuffled into batches */

static size_t text_addresses(int fd, uint64_t **addrs)
{
	struct slim_elf e;
	size_t i, cnt;

	assert(!slim_elf__load(&e, fd));
	i = slim_elf_find(&e, ".text");
	assert(i);
	cnt = e.shdrs[i].sh_size / 3;
	*addrs = calloc(cnt, sizeof(**addrs));
	for (size_t k = 0; k < cnt; k++)
		(*addrs)[k] = e.shdrs[i].sh_addr + 3 * k;
	slim_elf__fini(&e);
	return cnt;
}

static int memory_file(const void *p, size_t sz)
{
	int fd = memfd_create("excerpt", MFD_CLOEXEC);

	assert(fd >= 0 && write(fd, p, sz) == (ssize_t)sz);
	return fd;
}

/* Of the addresses from..to of n; what is covered already is not asked again. */
static void add_part(struct given *g, int fd, int alt_fd, const char *path, const uint64_t *addrs,
		     size_t cnt)
{
	const struct split_place split = {.path = path};
	struct excerpt_opts opts = {
		.fd = fd, .alt_fd = alt_fd, .split = &split, .addrs = addrs, .cnt = cnt};
	struct excerpt e;

	assert(!excerpt_make(&e, &opts));
	assert(e.elf && e.covered_cnt && !e.missing_cnt);
	for (size_t i = 1; i < e.covered_cnt; i++)
		assert(e.covered[i].lo >= e.covered[i - 1].hi);
	g->parts[g->part_cnt++] = memory_file(e.elf, e.sz);
	excerpt_fini(&e);
}

static void compare(const char *what, const char *program, const char *alt)
{
	char path[256], alt_path[256];
	struct given full = {0}, less = {0};
	struct text a, b;
	const char *symbols;
	uint64_t *addrs, sz;
	size_t cnt;
	int alt_fd = -1;

	snprintf(path, sizeof(path), "%s/%s", dir, program);
	full.main = open(path, O_RDONLY | O_CLOEXEC);
	assert(full.main >= 0);
	if (alt) {
		snprintf(alt_path, sizeof(alt_path), "%s/%s", dir, alt);
		alt_fd = open(alt_path, O_RDONLY | O_CLOEXEC);
		assert(alt_fd >= 0);
	}
	cnt = text_addresses(full.main, &addrs);
	resolve(&a, &full, path, addrs, cnt);
	assert(a.inlined > 100 && a.lines > 100);
	assert(!debuginfo_slim(full.main, DEBUGINFO_SYMTAB, &less.main, &sz, &symbols));
	/* three batches: functions are cut by none of them */
	for (size_t i = 0; i < 3; i++)
		add_part(&less, full.main, alt_fd, path, addrs + cnt * i / 3,
			 cnt * (i + 1) / 3 - cnt * i / 3);
	resolve(&b, &less, path, addrs, cnt);
	printf("%s: %zu addresses, %u inlined frames\n", what, cnt, a.inlined);
	if (strcmp(a.p, b.p)) {
		size_t same = 0;

		while (a.p[same] == b.p[same])
			same++;
		while (same && a.p[same - 1] != '\n')
			same--;
		printf("whole:   %.*s\nexcerpt: %.*s\n", (int)strcspn(a.p + same, "\n"), a.p + same,
		       (int)strcspn(b.p + same, "\n"), b.p + same);
		exit(1);
	}
	free(a.p);
	free(b.p);
	free(addrs);
	close(full.main);
	close(less.main);
	for (int i = 0; i < less.part_cnt; i++)
		close(less.parts[i]);
	if (alt_fd >= 0)
		close(alt_fd);
}

static bool build(const char *compiler, const char *flags)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd),
		 "for n in one two; do %s -O2 -g %s -DNAME=$n -c -o $n.o src.cpp; done && "
		 "%s -g %s -o prog main.cpp one.o two.o",
		 compiler, flags, compiler, flags);
	return !sh("%s", cmd);
}

/* One address: its function and what that needs, not the unit. */
static void test_little(void)
{
	char path[256];
	struct excerpt_opts opts = {.alt_fd = -1, .cnt = 1};
	struct excerpt e;
	struct slim_elf elf;
	uint64_t *addrs;
	struct stat st;

	assert(build("g++", ""));
	snprintf(path, sizeof(path), "%s/prog", dir);
	opts.fd = open(path, O_RDONLY | O_CLOEXEC);
	text_addresses(opts.fd, &addrs);
	assert(!slim_elf__load(&elf, opts.fd));
	opts.addrs = &elf.ehdr.e_entry; /* _start has no DWARF */
	assert(!excerpt_make(&e, &opts) && !e.elf && !e.covered_cnt);
	slim_elf__fini(&elf);
	opts.addrs = addrs + 300;
	assert(!excerpt_make(&e, &opts) && e.elf && !fstat(opts.fd, &st));
	printf("one address: %zu of %lld bytes\n", e.sz, (long long)st.st_size);
	assert(e.sz < (size_t)st.st_size / 20);
	excerpt_fini(&e);
	opts.mem_max = 4096;
	assert(excerpt_make(&e, &opts) == -E2BIG && !e.elf && !e.covered);
	free(addrs);
	close(opts.fd);
}

int main(void)
{
	FILE *f;

	if (system("command -v g++ objcopy >/dev/null")) {
		puts("needs g++ and binutils");
		return 77;
	}
	assert(mkdtemp(dir));
	assert(!sh("echo 'int one(int); int two(int); int main(int c, char **v) "
		   "{ return one(c) + two(c); }' >%s",
		   "main.cpp"));
	{
		char path[256];

		snprintf(path, sizeof(path), "%s/src.cpp", dir);
		f = fopen(path, "w");
		assert(f && fputs(source, f) >= 0 && !fclose(f));
	}
	test_little();
	compare("DWARF 5", "prog", NULL);
	assert(!sh("objcopy --compress-debug-sections=zlib prog %s", "compressed"));
	compare("compressed", "compressed", NULL);
	if (!sh("command -v %s", "dwz") &&
	    !sh("cp prog first && cp prog second && dwz -m %s -M $PWD/common first second",
		"common"))
		compare("dwz", "first", "common");
	assert(build("g++", "-gdwarf-4 -fdebug-types-section -ffunction-sections"));
	compare("DWARF 4, type units", "prog", NULL);
	assert(build("g++", "-gsplit-dwarf"));
	compare("split", "prog", NULL);
	assert(build("g++", "-gsplit-dwarf -fdebug-types-section"));
	compare("split, type units", "prog", NULL);
	assert(build("g++", "-flto"));
	compare("of link-time optimization", "prog", NULL);
	if (!sh("command -v %s", "clang++") && build("clang++", ""))
		compare("clang, no .debug_aranges", "prog", NULL);
	assert(!sh("cd / && rm -rf \"$OLDPWD\"%s", ""));
	puts("ok");
	return 0;
}
