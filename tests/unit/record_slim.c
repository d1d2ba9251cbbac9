/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs built in every way that changes how symbols are kept: what llvm-symbolizer and
 * eu-addr2line say of thousands of addresses must be the same for the slim ELF as for the
 * unstripped original.
 */
#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "record/symbols/debuginfo_extract.h"

static char dir[] = "/tmp/record_slim.XXXXXX";
static int failures;

static int sh(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static int sh(const char *fmt, ...)
{
	char *cmd, *full;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	assert(vasprintf(&cmd, fmt, ap) > 0);
	va_end(ap);
	assert(asprintf(&full, "cd %s && { %s; } >>log 2>&1", dir, cmd) > 0);
	rc = system(full);
	free(full);
	free(cmd);
	return rc;
}

static const char source[] =
	"#include <algorithm>\n#include <cstdio>\n#include <map>\n#include <string>\n#include "
	"<vector>\n"
	"template <int N> struct Fold { static int run(const std::vector<int> &v) { int s = N; for "
	"(int x : v) s = s * 31 + x % (N + 1);\n"
	" return s + Fold<N - 1>::run(v); } };\n"
	"template <> struct Fold<0> { static int run(const std::vector<int> &v) { return v.size(); "
	"} };\n"
	"struct Shape { virtual ~Shape() {} virtual double area() const = 0; };\n"
	"struct Square : Shape { double a; Square(double x) : a(x) {} double area() const override "
	"{ return a * a; } };\n"
	"static inline int twice(int x) { return x * 2; }\n"
	"static __attribute__((noinline)) int deep(int n) { return n ? twice(deep(n - 1)) + n : 1; "
	"}\n"
	"int helper(const std::map<std::string, int> &);\n"
	"int main(int argc, char **argv) {\n"
	" std::vector<int> v; for (int i = 0; i < argc * 100; i++) v.push_back(i * 7919 % 101);\n"
	" std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });\n"
	" std::map<std::string, int> m; for (int x : v) m[std::to_string(x)] += x;\n"
	" Square s(argc); Shape *p = &s;\n"
	" printf(\"%d %f %d %d\\n\", Fold<20>::run(v), p->area(), deep(argc + 30), helper(m)); }\n";
static const char helper_source[] =
	"#include <map>\n#include <string>\n"
	"static int add(int a, int b) { return a + b; }\n"
	"int helper(const std::map<std::string, int> &m) { int s = 0; for (auto &e : m) s = add(s, "
	"e.second + e.first.size()); return s; }\n";

static void write_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static int open_in_dir(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert(fd >= 0);
	return fd;
}

/* Addresses all over the text, some off instruction boundaries. */
static void write_addresses(const char *name, const char *to, int cnt)
{
	struct slim_elf e;
	char path[PATH_MAX];
	size_t text;
	FILE *f;
	int fd = open_in_dir(name);

	assert(!slim_elf__load(&e, fd));
	text = slim_elf_find(&e, ".text");
	assert(text);
	snprintf(path, sizeof(path), "%s/%s", dir, to);
	f = fopen(path, "w");
	assert(f);
	for (int i = 0; i < cnt; i++)
		fprintf(f, "0x%llx\n",
			(unsigned long long)(e.shdrs[text].sh_addr +
					     e.shdrs[text].sh_size * i / cnt));
	fclose(f);
	slim_elf__fini(&e);
	close(fd);
}

static void unpack(const struct slim_member *m, const char *to)
{
	char path[PATH_MAX], *in = malloc(m->sz), *out = malloc(m->raw_sz);
	FILE *f;

	assert(in && out && pread(m->fd, in, m->sz, 0) == (ssize_t)m->sz);
	assert(ZSTD_getFrameContentSize(in, m->sz) == m->raw_sz);
	assert(ZSTD_decompress(out, m->raw_sz, in, m->sz) == m->raw_sz);
	snprintf(path, sizeof(path), "%s/%s", dir, to);
	f = fopen(path, "w");
	assert(f && fwrite(out, 1, m->raw_sz, f) == m->raw_sz && !fclose(f));
	free(in);
	free(out);
}

static const atomic_bool never;
static const struct debuginfo_cache no_cache = {.fd = -1};

static struct slim_member extract_mode(const char *name, enum debuginfo_mode mode,
				       struct extract_alt *alt)
{
	struct slim_member m;
	char path[PATH_MAX];
	struct extract_job job = {.id = "",
				  .path = path,
				  .mode = mode,
				  .dwarf_max = DEBUGINFO_AUTO_BINARY_MAX,
				  .cache = &no_cache,
				  .cancel = &never};

	snprintf(path, sizeof(path), "/%s", name);
	job.fd = open_in_dir(name);
	job.root_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert(!debuginfo_extract(&job, &m, alt));
	close(job.fd);
	close(job.root_fd);
	return m;
}

static void check(bool ok, const char *name, const char *what)
{
	if (!ok) {
		printf("%s: %s\n", name, what);
		failures++;
	}
}

/* `name` as recorded must answer as `original` does. */
static void same_answers(const char *name, const char *original, const char *symbols, int cnt)
{
	struct extract_alt alt;
	struct slim_member m = extract_mode(name, DEBUGINFO_AUTO, &alt);

	if (strcmp(m.symbols, symbols) || m.fd < 0) {
		printf("%s: symbols %s, not %s: %s\n", name, m.symbols, symbols, m.why);
		failures++;
		return;
	}
	unpack(&m, "slim");
	if (alt.id[0]) { /* where the link in the slim file leads */
		struct slim_member am;
		struct extract_alt none;
		struct extract_job job = {.id = alt.id,
					  .path = "/alt",
					  .fd = alt.fd,
					  .root_fd = -1,
					  .mode = DEBUGINFO_AUTO,
					  .dwarf_max = DEBUGINFO_AUTO_BINARY_MAX,
					  .cache = &no_cache,
					  .cancel = &never};

		assert(!debuginfo_extract(&job, &am, &none));
		check(!strcmp(am.symbols, "dwarf"), name, "alternate file without DWARF");
		unpack(&am, "common.slim");
		close(am.fd);
		close(alt.fd);
	}
	write_addresses(original, "addrs", cnt);
	check(!sh("llvm-symbolizer --inlines --obj=%s <addrs >a && llvm-symbolizer --inlines "
		  "--obj=slim <addrs >b && cmp a b",
		  original),
	      name, "llvm-symbolizer differs");
	check(!sh("awk 'NR%%20==0' addrs >few; eu-addr2line -f -i -e %s <few >c; eu-addr2line -f "
		  "-i -e slim <few >b; cmp c b && test -s c",
		  original),
	      name, "eu-addr2line differs");
	check(!sh("test $(grep -cv -e '^$' -e '?' a) -gt %d",
		  strcmp(symbols, "dwarf") ? cnt / 4 : cnt / 2),
	      name, "the answers are empty");
	check(!sh("eu-elflint --gnu-ld -d slim || true; eu-readelf -n slim | grep -q 'Build ID' && "
		  "readelf -SlsW slim >/dev/null"),
	      name, "not a whole ELF file");
	close(m.fd);
}

struct variant {
	const char *name, *build, *original, *symbols;
};

#define LINK "main.cpp helper.cpp -Wl,--build-id"
#define OBJECTS "main.o helper.o -Wl,--build-id" /* DWARF 5; compiling takes most of the time */
static const struct variant variants[] = {
	{"d5", "g++ -O2 -g -gdwarf-5 -c main.cpp helper.cpp && g++ " OBJECTS " -o d5", "d5",
	 "dwarf"},
	{"d4", "g++ -O2 -g -gdwarf-4 " LINK " -o d4", "d4", "dwarf"},
	{"types", "g++ -O2 -g -gdwarf-4 -fdebug-types-section " LINK " -o types", "types", "dwarf"},
	{"gz", "g++ -gz " OBJECTS " -o gz", "gz", "dwarf"},
	{"zdebug", "objcopy --compress-debug-sections=zlib-gnu d5 zdebug", "d5", "dwarf"},
	{"clang", "clang++ -O2 -g " LINK " -o clang", "clang", "dwarf"},
	{"static", "g++ -static " OBJECTS " -o static", "static", "dwarf"},
	{"static-pie", "g++ -static-pie " OBJECTS " -o static-pie", "static-pie", "dwarf"},
	{"no-pie", "g++ -no-pie " OBJECTS " -o no-pie", "no-pie", "dwarf"},
	{"split",
	 "echo 'int main(void) { return 0; }' >split.c && gcc -O2 -g -gsplit-dwarf "
	 "-Wl,--build-id split.c -o split",
	 NULL, "dwarf"},
	{"plain", "objcopy --strip-debug d5 plain", "plain", "symtab"},
	{"stripped", "strip -o stripped plain", NULL, "dynsym"},
	{"linked",
	 "objcopy --only-keep-debug d5 linked.debug && strip -o linked d5 && "
	 "objcopy --add-gnu-debuglink=linked.debug linked",
	 "d5", "dwarf"},
	{"linked-z",
	 "objcopy --only-keep-debug gz linked-z.debug && strip -o linked-z gz && mkdir -p .debug "
	 "&& "
	 "objcopy --add-gnu-debuglink=linked-z.debug linked-z && mv linked-z.debug .debug/",
	 "gz", "dwarf"},
	{"by-id",
	 "strip -o by-id d4 && id=$(file d4 | sed 's/.*BuildID[^=]*=\\([0-9a-f]*\\).*/\\1/') && "
	 "d=usr/lib/debug/.build-id/$(echo $id | cut -c1-2) && mkdir -p $d && "
	 "objcopy --only-keep-debug d4 $d/$(echo $id | cut -c3-).debug",
	 "d4", "dwarf"},
	{"eu-strip", "eu-strip -f eu-strip.debug -o eu-strip types", "types", "dwarf"},
	{"mini",
	 "nm plain --format=posix --defined-only | awk '$2==\"T\"||$2==\"t\"{print $1}' | sort "
	 ">keep && "
	 "objcopy -S --keep-symbols=keep plain mini_plain && "
	 "objcopy --only-keep-debug plain mini_debug && objcopy -S --keep-symbols=keep mini_debug "
	 "&& xz -k mini_debug && "
	 "strip -o mini plain && objcopy --add-section .gnu_debugdata=mini_debug.xz mini",
	 "mini_plain", "symtab"},
	{"m32",
	 "echo 'static inline int sq(int x) { return x * x; } int leaf(int x) { return sq(x) + 1; "
	 "} "
	 "void _start(void) { for (;;) leaf(3); }' >m32.c && "
	 "gcc -m32 -nostdlib -static -O1 -g -Wl,--build-id m32.c -o m32",
	 "m32", "dwarf"},
	{"dwz1", "cp d4 dwz1 && cp types dwz2 && dwz -m common -r dwz1 dwz2", "dwz1", "dwarf"},
};

static const char go_source[] =
	"package main\nimport (\"fmt\"; \"sort\")\ntype shape[T any] struct { v []T }\n"
	"func (s *shape[T]) add(x T) { s.v = append(s.v, x) }\n"
	"func main() { var s shape[int]; for i := 0; i < 100; i++ { s.add(i * 7919 % 101) }\n"
	" sort.Slice(s.v, func(a, b int) bool { return s.v[a] > s.v[b] }); fmt.Println(s.v) }\n";

/*
 * A stripped Go program has the names that it had before, as its runtime prints them: without
 * .abi0, and
 * [...] for type arguments. An address between two functions belongs to the first.
 */
static void go_program(const char *mode)
{
	struct extract_alt alt;
	struct slim_member m;

	if (sh("export GOCACHE=${GOCACHE:-$PWD/gocache} GO111MODULE=off HOME=$PWD; go build "
	       "-buildmode=%s "
	       "-ldflags "
	       "'-w -B 0x1234567890abcdef' -o go-whole m.go && strip -o go-stripped go-whole",
	       mode)) {
		check(false, mode, "does not build here");
		return;
	}
	m = extract_mode("go-stripped", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "symtab") && strstr(m.why, ".gopclntab"), mode, m.why);
	unpack(&m, "slim");
	close(m.fd);
	write_addresses("go-whole", "addrs", 5000);
	check(!sh("for f in go-whole slim; do llvm-symbolizer --obj=$f <addrs | awk 'NR %% 3 == 1' "
		  "| "
		  "sed 's/[.]abi0$//; s/\\[.*\\]/[...]/g' >$f.names; done; paste -d '\t' "
		  "go-whole.names "
		  "slim.names | awk -F'\t' '$1 == \"??\" {next} {n++} $1 != $2 {print; bad++} "
		  "END {exit n < 4000 || bad}'"),
	      mode, "names differ");
}

/* The system's libc, whose debug file is a package of its own. */
static void libc(void)
{
	if (sh("cp -L $(ldd d5 | sed -n 's/.*libc.so.6 => \\([^ ]*\\).*/\\1/p') libc && "
	       "id=$(file libc | sed 's/.*BuildID[^=]*=\\([0-9a-f]*\\).*/\\1/') && "
	       "cp /usr/lib/debug/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug "
	       "libc.debug"))
		puts("libc: no debug file installed, left out");
	else
		same_answers("libc", "libc.debug", "dwarf", 4000);
}

/* Programs are only comparable by what their own original says; these are looked at by hand. */
static void facts(void)
{
	struct extract_alt alt;
	struct slim_member m;

	m = extract_mode("split", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dwarf") && strstr(m.why, ".dwo"), "split", m.why);
	close(m.fd);
	m = extract_mode("stripped", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dynsym") && strstr(m.why, "no separate debug file for build-id"),
	      "stripped", m.why);
	close(m.fd);
	m = extract_mode("d5", DEBUGINFO_SYMTAB, &alt);
	check(!strcmp(m.symbols, "symtab") && !m.why[0], "symtab", m.why);
	unpack(&m, "slim");
	check(sh("readelf -SW slim | grep debug_"), "symtab", "DWARF in it");
	close(m.fd);
	m = extract_mode("main.cpp", DEBUGINFO_AUTO, &alt);
	check(m.fd < 0 && !strcmp(m.why, "not an ELF file"), "main.cpp", m.why);
	/* the debug file of another build */
	assert(!sh("objcopy --only-keep-debug d4 wrong.debug && strip -o wrong gz && objcopy "
		   "--add-gnu-debuglink=wrong.debug wrong"));
	m = extract_mode("wrong", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dynsym"), "wrong", "took the debug file of another build");
	close(m.fd);
	/* neither has a build-id: the CRC decides */
	assert(!sh("objcopy -R .note.gnu.build-id d4 noid && objcopy --only-keep-debug noid "
		   "noid.debug && strip noid && "
		   "objcopy --add-gnu-debuglink=noid.debug noid"));
	m = extract_mode("noid", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dwarf"), "noid", m.why);
	close(m.fd);
	assert(!sh("printf x >>noid.debug"));
	m = extract_mode("noid", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dynsym"), "noid", "took a debug file with a wrong CRC");
	close(m.fd);
	/* a FIFO and a directory where the debug file should be */
	assert(!sh("rm noid.debug && mkfifo noid.debug && mkdir -p .debug/noid.debug"));
	m = extract_mode("noid", DEBUGINFO_AUTO, &alt);
	check(!strcmp(m.symbols, "dynsym"), "noid", "took a FIFO");
	close(m.fd);
}

int main(void)
{
	if (system("command -v g++ llvm-symbolizer eu-addr2line dwz objcopy xz >/dev/null")) {
		puts("needs g++, llvm, elfutils, dwz, binutils, xz");
		return 77;
	}
	assert(mkdtemp(dir));
	write_file("main.cpp", source);
	write_file("helper.cpp", helper_source);
	write_file("m.go", go_source);
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
		const struct variant *v = &variants[i];

		if (sh("%s", v->build)) {
			printf("%s: does not build here\n", v->name);
			failures++;
		} else if (v->original) {
			same_answers(v->name, v->original, v->symbols, 2000);
		}
	}
	libc();
	facts();
	if (system("command -v go >/dev/null")) {
		puts("go: not installed, left out");
	} else {
		go_program("exe");
		go_program("pie");
	}
	if (getenv("KEEP"))
		printf("%s kept\n", dir);
	else
		assert(!system(strcat(strcpy((char[64]){0}, "rm -rf "), dir)));
	printf("%d failures\n", failures);
	return failures != 0;
}
