/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue and its threads: one member an id, one record a binary, whatever the file is and
 * whenever the end comes. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/symbols/debuginfo.h"
#include "record/symbols/debuginfo_extract.h"
#include "record/symbols/debuginfo_queue.h"
#include "record/reader/reader_process.h"
#include "record/symbols/slim_elf.h"

/* ---- a writer that remembers */

static struct {
	pthread_mutex_t lock;
	int members, records, fail;
	char names[64][104];
	uint64_t sizes[64];
	struct {
		uint32_t binary;
		char member[128], symbols[16], why[256];
	} rec[64];
} w = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void copy(char *to, size_t sz, struct span s)
{
	snprintf(to, sz, "%.*s", (int)s.len, s.p);
}

int obz_writer__put(struct obz_writer *unused, enum rec_kind kind, const void *rec)
{
	const struct rec_debuginfo *r = rec;

	assert(kind == REC_debuginfo);
	pthread_mutex_lock(&w.lock);
	assert(w.records < 64);
	w.rec[w.records].binary = r->binary;
	copy(w.rec[w.records].member, 128, r->member);
	copy(w.rec[w.records].symbols, 16, r->symbols);
	copy(w.rec[w.records].why, 256, r->why);
	w.records++;
	pthread_mutex_unlock(&w.lock);
	return 0;
}

static char *in_dir(const char *name);

/* As memberN.zst, for a look at what is in it. */
static void save(int n, int fd, uint64_t sz)
{
	char name[32];
	off_t at = 0;
	int to;

	snprintf(name, sizeof(name), "member%d.zst", n);
	to = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(to >= 0 && sendfile(to, fd, &at, sz) == (ssize_t)sz);
	close(to);
}

int obz_writer__add_compressed(struct obz_writer *unused, const char *name, int fd, uint64_t sz)
{
	struct stat st;

	assert(!fstat(fd, &st) && (uint64_t)st.st_size >= sz);
	pthread_mutex_lock(&w.lock);
	if (!w.fail) {
		if (sz < 1 << 20)
			save(w.members, fd, sz);
		snprintf(w.names[w.members], sizeof(w.names[0]), "%s", name);
		w.sizes[w.members++] = sz;
	}
	pthread_mutex_unlock(&w.lock);
	return w.fail;
}

/* The record of a binary; there must be exactly one. */
static int record_of(uint32_t binary)
{
	int found = -1;

	for (int i = 0; i < w.records; i++)
		if (w.rec[i].binary == binary) {
			assert(found < 0);
			found = i;
		}
	assert(found >= 0);
	return found;
}

static void expect(uint32_t binary, const char *symbols, const char *why)
{
	int i = record_of(binary);

	if (strcmp(w.rec[i].symbols, symbols) || !strstr(w.rec[i].why, why) ||
	    (!*why && *w.rec[i].why) || !*w.rec[i].member != !strcmp(symbols, "none")) {
		printf("binary %u: %s (%s) in \"%s\", not %s (%s)\n", binary, w.rec[i].symbols,
		       w.rec[i].why, w.rec[i].member, symbols, why);
		exit(1);
	}
}

/* ---- helpers */

static char dir[] = "/tmp/record_debuginfo.XXXXXX";

static char *in_dir(const char *name)
{
	static char path[4][256];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

static int sh(const char *cmd)
{
	char full[1024];

	snprintf(full, sizeof(full), "cd %s && { %s; } >>log 2>&1", dir, cmd);
	return system(full);
}

static int file(const char *name)
{
	int fd = open(in_dir(name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	assert(fd >= 0);
	return fd;
}

static struct nursery *nursery;

static struct debuginfo *start(enum debuginfo_mode mode, const char *exclude, const char *cache)
{
	struct debuginfo_opts opts = {.mode = mode,
				      .exclude_file = exclude,
				      .cache_dir = cache,
				      .nursery = nursery};
	struct debuginfo *d;

	w.members = w.records = w.fail = 0;
	assert(!debuginfo__new(&d, &opts));
	return d;
}

static void want(struct debuginfo *d, uint32_t binary, const char *name, const char *id)
{
	int fd = file(name);

	struct stat st;

	assert(!fstat(fd, &st));
	assert(!debuginfo__want(d, binary, fd, st.st_size, -1, in_dir(name), id));
	close(fd);
}

static int finish(struct debuginfo *d)
{
	int err = debuginfo__finish(d, 0);

	assert(debuginfo__pending(d) == 0);
	debuginfo__free(d);
	return err;
}

/* ---- cases */

static void test_one_member_an_id(void)
{
	struct debuginfo *d = start(DEBUGINFO_AUTO, NULL, NULL);

	want(d, 1, "prog", "aa01");
	want(d, 2, "prog", "aa01");
	want(d, 3, "prog", "sha1:00112233");
	while (debuginfo__wait(d, 1000))
		;
	want(d, 4, "prog", "aa01"); /* done already */
	assert(!finish(d));
	assert(w.members == 2 && w.records == 4);
	for (int i = 1; i <= 4; i++)
		expect(i, "dwarf", "");
	assert(!strcmp(w.rec[record_of(4)].member, ".build-id/aa/01.debug.zst"));
	assert(!strcmp(w.rec[record_of(3)].member, ".build-id/sha1/00112233.debug.zst"));
}

/* Of what is done little stays, whatever it took; a file of the same id is answered by it. */
static void test_done_is_small(void)
{
	enum { CNT = 2000 };
	struct debug_queue q;
	int fd = file("prog");
	struct item *it;
	uint32_t binary;
	size_t before;
	char id[48];

	debug_queue__init(&q);
	before = mallinfo2().uordblks;
	for (uint32_t i = 1; i <= CNT; i++) {
		snprintf(id, sizeof(id), "%040x", i);
		assert(!debug_queue__push(&q, i, fd, 100, -1, "/some/where/below/a/long/path", id));
		assert(!debug_queue__next(&q)); /* the extractor takes nothing in */
		assert(debug_queue__take_in(&q));
		it = debug_queue__next(&q);
		assert(it && it->work->fd >= 0);
		it->work->m.symbols = "symtab";
		strcpy(it->work->m.why, i == 7 ? "for a reason" : "");
		debug_queue__make_ready(&q, it);
		assert(debug_queue__next_ready(&q) == it);
		debug_queue__settle(it, true);
		assert(debug_queue__report(&q, it, &binary) && binary == i);
		assert(!debug_queue__report(&q, it, &binary));
	}
	before = (mallinfo2().uordblks - before) / CNT;
	printf("%zu bytes each of what is done\n", before);
#ifndef __SANITIZE_ADDRESS__
	assert(before > 0 && before < 180);
#endif
	snprintf(id, sizeof(id), "%040x", 7);
	assert(!debug_queue__push(&q, CNT + 1, fd, 100, -1, "/another", id));
	assert(!debug_queue__take_in(&q) && !debug_queue__next(&q));
	it = debug_queue__next_ready(&q);
	assert(it && it->has_member && !strcmp(it->symbols, "symtab") &&
	       !strcmp(it->why, "for a reason"));
	assert(debug_queue__report(&q, it, &binary) && binary == CNT + 1);
	debug_queue__fini(&q);
	close(fd);
}

static void test_bad_files(void)
{
	struct debuginfo *d = start(DEBUGINFO_FULL, NULL, NULL);

	want(d, 1, "text", "aa01");
	want(d, 2, ".", "aa02");
	want(d, 3, "fifo", "aa03");
	want(d, 4, "sparse", "aa04");
	want(d, 5, "cut", "aa05");
	want(d, 6, "prog", "../../etc/passwd");
	want(d, 7, "damaged", "aa07");
	assert(!finish(d));
	expect(1, "none", "not an ELF file");
	expect(2, "none", "not a regular file");
	expect(3, "none", "not a regular file");
	expect(4, "none", "not an ELF file");
	expect(5, "none", "section headers damaged");
	expect(6, "none", "no build-id");
	expect(7, "symtab", "DWARF damaged; symtab only");
	assert(w.members == 1);
}

static void test_excluded(void)
{
	struct debuginfo_opts bad = {0};
	struct debuginfo *d = start(DEBUGINFO_AUTO, in_dir("exclude"), NULL);

	want(d, 1, "prog", "aa01");
	want(d, 2, "prog", "bb02");
	assert(!finish(d));
	expect(1, "none", "excluded");
	expect(2, "dwarf", "");
	bad.exclude_file = in_dir("text");
	assert(debuginfo__new(&d, &bad) == -EINVAL);
	bad.exclude_file = in_dir("missing");
	assert(debuginfo__new(&d, &bad) == -ENOENT);
}

static void test_modes(void)
{
	struct debuginfo *d = start(DEBUGINFO_NONE, NULL, NULL);

	want(d, 1, "prog", "aa01");
	assert(!finish(d));
	expect(1, "none", "not asked for");
	d = start(DEBUGINFO_SYMTAB, NULL, NULL);
	want(d, 1, "prog", "aa01");
	assert(!finish(d));
	expect(1, "symtab", "");
}

/* The one file of the cache; its inode changes when it is written again, as the link keeps the
 * number taken. */
static ino_t kept_ino(void)
{
	struct stat st;

	assert(!sh("f=$(ls -d $PWD/cache/aa/01-*.debug.zst) && ln -sf $f kept && ln -f $f "
		   "$(stat -c inode%i $f)"));
	assert(!stat(in_dir("kept"), &st));
	assert((st.st_mode & 0777) == 0600);
	return st.st_ino;
}

static void cached(const char *cache, enum debuginfo_mode mode, const char *name,
		   const char *symbols, const char *why)
{
	struct debuginfo *d = start(mode, NULL, cache);

	want(d, 1, name, "aa01");
	assert(!finish(d));
	expect(1, symbols, why);
}

static void test_cache(void)
{
	char *cache = strdup(in_dir("cache"));
	struct debuginfo_opts open_to_all = {0};
	struct debuginfo *d;
	ino_t first;

	cached(cache, DEBUGINFO_AUTO, "prog", "dwarf", "");
	first = kept_ino();
	assert(!sh("zstd -dc <kept >whole && readelf -SW whole | grep -q debug_info"));
	cached(cache, DEBUGINFO_AUTO, "prog", "dwarf", "");
	cached(cache, DEBUGINFO_AUTO, "copy", "dwarf", "");
	assert(kept_ino() == first); /* no file was extracted again */
	assert(w.members == 1 && !sh("cmp -n $(stat -c %s member0.zst) member0.zst kept"));
	/* less is wanted: that must not be answered with all, nor more with less */
	cached(cache, DEBUGINFO_SYMTAB, "prog", "symtab", "");
	cached(cache, DEBUGINFO_FULL, "prog", "dwarf", "");
	assert(kept_ino() != first);

	/* damaged, cut, writable by others, not ours to trust */
	first = kept_ino();
	assert(!sh("printf x | dd of=kept bs=1 seek=$(($(stat -Lc %s kept) - 9)) conv=notrunc"));
	cached(cache, DEBUGINFO_AUTO, "prog", "dwarf", "");
	assert(kept_ino() != first);
	first = kept_ino();
	assert(!sh("truncate -s -1 kept"));
	cached(cache, DEBUGINFO_AUTO, "prog", "dwarf", "");
	assert(kept_ino() != first);
	first = kept_ino();
	assert(!chmod(in_dir("kept"), 0622));
	cached(cache, DEBUGINFO_AUTO, "prog", "dwarf", "");
	assert(kept_ino() != first);
	assert(!mkdir(in_dir("public"), 0700) && !chmod(in_dir("public"), 0777));
	open_to_all.cache_dir = in_dir("public");
	assert(debuginfo__new(&d, &open_to_all) == -EPERM);
	assert(!chmod(in_dir("cache/key"), 0644));
	open_to_all.cache_dir = cache;
	assert(debuginfo__new(&d, &open_to_all) == -EBADMSG);
	assert(!sh("test -z \"$(find cache -name '*.tmp')\""));
	free(cache);
}

/* A program that carries another's build-id, of the same size: what is kept of one is not given to
 * the other, whichever came first. */
static void test_cache_of_two(void)
{
	char *cache = strdup(in_dir("two"));

	assert(!sh("test $(stat -c %s honest) = $(stat -c %s hostile) && ! cmp honest hostile"));
	for (int round = 0; round < 2; round++) {
		cached(cache, DEBUGINFO_AUTO, "hostile", "dwarf", "");
		assert(!sh("zstd -dc member0.zst | strings | grep -q hostile_function"));
		cached(cache, DEBUGINFO_AUTO, "honest", "dwarf", "");
		assert(sh("zstd -dc member0.zst | strings | grep -q hostile_function"));
		assert(!sh("zstd -dc member0.zst | strings | grep -q honest__function"));
	}
	cached(cache, DEBUGINFO_AUTO, "text", "none", "not an ELF file");
	assert(!sh("test $(ls two/aa/*.debug.zst | wc -l) = 2"));
	free(cache);
}

/* A dwz alternate file may have any id; a binary of that id does not get what is in it. */
static void test_alternate_is_no_binary(void)
{
	struct debug_queue q;
	int fd = file("prog");
	struct item *of, *it;
	uint32_t binary;

	debug_queue__init(&q);
	assert(!debug_queue__push(&q, 1, fd, 100, -1, "/one", "aa01") && debug_queue__take_in(&q));
	of = debug_queue__next(&q);
	assert(debug_queue__push_alternate(&q, of, "aa02", -1, 0, 0) == 1);
	assert(debug_queue__push_alternate(&q, of, "aa02", -1, 0, 0) == 0);
	it = debug_queue__next(&q);
	assert(it && it->alternate && !debug_queue__next(&q));
	for (uint32_t i = 2; i < 4; i++) { /* the second joins the first */
		assert(!debug_queue__push(&q, i, fd, 100, -1, "/two", "aa02"));
		assert(!debug_queue__take_in(&q));
	}
	of = debug_queue__next_ready(&q);
	assert(of && of != it && !of->alternate && !debug_queue__next_ready(&q));
	assert(of->work->m.fd < 0 && strstr(of->work->m.why, "alternate"));
	debug_queue__settle(of, false);
	assert(debug_queue__report(&q, of, &binary) && debug_queue__report(&q, of, &binary));
	assert(!debug_queue__report(&q, it, &binary));
	debug_queue__fini(&q);
	close(fd);
}

static void test_end_of_capture(void)
{
	struct debuginfo *d = start(DEBUGINFO_FULL, NULL, NULL);
	struct timespec t0, t1;
	int cut = 0;

	for (uint32_t i = 1; i <= 20; i++) {
		char id[16];

		snprintf(id, sizeof(id), "ee%02x", i);
		want(d, i, "big", id);
	}
	clock_gettime(CLOCK_MONOTONIC, &t0);
	assert(!debuginfo__finish(d, 1));
	clock_gettime(CLOCK_MONOTONIC, &t1);
	debuginfo__free(d);
	assert(w.records == 20);
	for (uint32_t i = 1; i <= 20; i++)
		cut += !!strstr(w.rec[record_of(i)].why, "cut short by the end");
	assert(cut > 10);
	assert((t1.tv_sec - t0.tv_sec) * 1000 + (t1.tv_nsec - t0.tv_nsec) / 1000000 < 2000);
	d = start(DEBUGINFO_FULL, NULL, NULL); /* freed without an end */
	want(d, 1, "big", "aa01");
	debuginfo__free(d);
}

static void test_failing_archive(void)
{
	struct debuginfo *d = start(DEBUGINFO_AUTO, NULL, NULL);

	w.fail = -EFBIG;
	want(d, 1, "prog", "aa01");
	assert(finish(d) == -EFBIG);
	expect(1, "none", "not written");
}

static atomic_bool touching;
static void *toucher(void *arg)
{
	int fd = *(int *)arg;

	while (atomic_load(&touching)) {
		futimens(fd, NULL);
		usleep(100);
	}
	return NULL;
}

static void test_changing_file(void)
{
	struct debuginfo *d = start(DEBUGINFO_FULL, NULL, NULL);
	int fd = file("big");
	pthread_t t;

	atomic_store(&touching, true);
	assert(!pthread_create(&t, NULL, toucher, &fd));
	want(d, 1, "big", "aa01");
	assert(!finish(d));
	atomic_store(&touching, false);
	pthread_join(t, NULL);
	close(fd);
	expect(1, "none", "changed");
}

/* What a reader process does. */
static void extract(const char *name, enum debuginfo_mode mode, const char *symbols,
		    const char *why)
{
	static const atomic_bool never;
	static const struct debuginfo_cache none = {.fd = -1};
	struct extract_job job = {.id = "aa01",
				  .path = "/prog",
				  .fd = file(name),
				  .root_fd = -1,
				  .mode = mode,
				  .dwarf_max = DEBUGINFO_AUTO_BINARY_MAX,
				  .cache = &none,
				  .cancel = &never};
	struct extract_alt alt;
	struct slim_member m;

	assert(!debuginfo_extract(&job, &m, &alt));
	assert(!strcmp(m.symbols, symbols) && strstr(m.why, why));
	close(m.fd);
	close(job.fd);
}

/* 300 MB of DWARF, and its size bound: in a process of its own, for its memory's sake. */
static void test_memory(void)
{
	struct rusage ru;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		extract("big", DEBUGINFO_FULL, "dwarf", "");
		extract("huge", DEBUGINFO_AUTO, "symtab",
			"DWARF is 600 MiB, over the bound of 512 MiB; symtab only");
		_exit(0);
	}
	assert(pid > 0 && wait4(pid, &status, 0, &ru) == pid && status == 0);
	printf("peak memory %ld KiB\n", ru.ru_maxrss);
#ifndef __SANITIZE_ADDRESS__
	assert(ru.ru_maxrss < 24 << 10);
#endif
}

/* A copy of prog whose .debug_line_str is a hole of that size at the end of the file. */
static void inflate_section(const char *name, off_t sz)
{
	static const char zeros[1 << 20];
	struct slim_elf e;
	size_t i;
	int fd;

	assert(!sh("cp prog inflated") && !rename(in_dir("inflated"), in_dir(name)));
	fd = open(in_dir(name), O_RDWR | O_CLOEXEC);
	assert(fd >= 0 && !slim_elf__load(&e, fd));
	i = slim_elf_find(&e, ".debug_line_str");
	assert(i);
	e.shdrs[i].sh_flags = 0;
	e.shdrs[i].sh_offset = e.file_sz;
	e.shdrs[i].sh_size = sz;
	assert(pwrite(fd, &e.shdrs[i], sizeof(e.shdrs[i]),
		      e.ehdr.e_shoff + i * sizeof(e.shdrs[i])) > 0);
	assert(!ftruncate(fd, e.file_sz + sz));
	/* more than half of it: what is mostly a hole is no section */
	for (off_t at = 0; at < sz / 8 * 5; at += sizeof(zeros))
		assert(pwrite(fd, zeros, sizeof(zeros), e.file_sz + at) == sizeof(zeros));
	slim_elf__fini(&e);
	close(fd);
}

int main(void)
{
	if (system("command -v gcc objcopy readelf zstd >/dev/null")) {
		puts("needs gcc, binutils, zstd");
		return 77;
	}
	assert(!nursery__new(&nursery, NULL));
	assert(mkdtemp(dir));
	assert(!sh("echo 'int main(void) { return 0; }' >prog.c && gcc -O2 -g -gz prog.c -o prog"));
	assert(!sh("echo text >text && mkfifo fifo && truncate -s 8T sparse && head -c 3000 prog "
		   ">cut"));
	assert(!sh(
		"printf '# none of these\\n\\nAA01 # upper case\\n  sha1:00112233\\n' >exclude"));
	assert(!sh("cp prog copy"));
	assert(!sh("for n in hostile_function honest__function; do "
		   "echo \"int $n(void) { return 1; } int main(void) { return $n(); }\" >two.c && "
		   "gcc -g -Wl,--build-id=0xaa01 two.c -o ${n%%_*}; done"));
	inflate_section("big", 300 << 20);
	inflate_section("huge", 600 << 20);
	/* the middle of a zlib stream */
	assert(!sh("off=$((0x$(readelf -SW prog | sed -n 's/.* .debug_info *PROGBITS *[0-9a-f]* "
		   "\\([0-9a-f]*\\).*/\\1/p'))) && cp prog damaged && "
		   "printf '\\377\\377\\377\\377' | dd of=damaged bs=1 seek=$((off + 40)) "
		   "conv=notrunc"));
	test_one_member_an_id();
	test_done_is_small();
	test_bad_files();
	test_modes();
	test_cache();
	test_cache_of_two();
	test_alternate_is_no_binary();
	test_end_of_capture();
	test_failing_archive();
	test_changing_file();
	test_memory();
	test_excluded();
	assert(!sh("cd / && rm -rf \"$OLDPWD\""));
	nursery__free(nursery);
	puts("ok");
	return 0;
}
