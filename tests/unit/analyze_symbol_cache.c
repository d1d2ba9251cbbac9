/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers put together, kept and read again; files that are damaged, foreign, or written by several
 * at once. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyze/symbol/cache.h"
#include "check.h"

static struct name_pool *pool;

static void add(struct answers *a, uint64_t lo, uint64_t hi, const char *name)
{
	struct answer_frame f = {.name = name_pool__add_symbol(pool, name, NULL), .line = 7};

	CHECK(!answers_add(a, lo, hi, &f, name ? 1 : 0), "add");
}

static void check_text(const struct answers *a, const char *want)
{
	char text[512] = "";

	for (size_t i = 0; i < a->cnt; i++) {
		const struct answer *x = &a->v[i];

		sprintf(text + strlen(text), "%s%d-%d%s", i ? " " : "", (int)x->lo, (int)x->hi,
			x->cnt ? a->frames[x->first].name->text : "");
	}
	CHECK(!strcmp(text, want), "%s, not %s", text, want);
}

/* Lists are written as LO-HINAME with one-letter names. */
static struct answers parse(const char *s)
{
	struct answers a = {0};
	int lo, hi, n;
	char name[2];

	for (; sscanf(s, " %d-%d%1s%n", &lo, &hi, name, &n) == 3; s += n)
		add(&a, (uint64_t)lo, (uint64_t)hi, name);
	return a;
}

static void test_merge(void)
{
	static const struct {
		const char *cause, *a, *more, *both;
	} cases[] = {
		{"nothing", "", "", ""},
		{"one side", "", "1-5x", "1-5x"},
		{"apart", "1-5a 20-30b", "5-6x 40-41y", "1-5a 5-6x 20-30b 40-41y"},
		{"joined when the same", "1-5a 10-12a", "5-10a", "1-12a"},
		{"the first stays where both are", "5-10a", "1-20x", "1-5x 5-10a 10-20x"},
		{"several in one", "2-3a 5-6b", "1-9x", "1-2x 2-3a 3-5x 5-6b 6-9x"},
		{"hidden wholly", "1-9a", "2-3x 4-9y", "1-9a"},
		{"overlapping both ends", "3-6a", "1-4x 5-9y", "1-3x 3-6a 6-9y"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct answers a = parse(cases[i].a), more = parse(cases[i].more);

		CHECK(!answers_merge(&a, &more), "%s", cases[i].cause);
		check_text(&a, cases[i].both);
		answers_fini(&a);
		answers_fini(&more);
	}
}

static struct cache_name local(const char *id)
{
	return (struct cache_name){id, ""};
}

static const struct cache_alt no_alt = {"", ""};

static void check_path(const char *dir, struct cache_name name, const char *want)
{
	char *path = cache_path(dir, &name);

	CHECK(want ? path && !strcmp(path, want) : !path, "%s", path ? path : "(none)");
	free(path);
}

#define CONTENT "00112233445566778899aabbccddeeff"

static void test_ids(void)
{
	static const char *const bad[] = {"",	    "ab",	    "../../etc/passwd",
					  "ab/cd",  "ABCDEF",	    "sha1:../x",
					  "abcd\n", "sha256:abcdef"};

	check_path("/d", local("abcdef01"), "/d/ab/cdef01.sym");
	check_path("/d", local("sha1:abcdef01"), "/d/sha1-ab/cdef01.sym");
	check_path("/d", (struct cache_name){"abcdef01", CONTENT}, "/d/ab/cdef01-" CONTENT ".sym");
	check_path("/d", (struct cache_name){"abcdef01", "../" CONTENT}, NULL);
	check_path("/d", (struct cache_name){"abcdef01", "00"}, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_path("/d", local(bad[i]), NULL);
	check_path(NULL, local("abcdef01"), NULL);
	check_path("/d", local(NULL), NULL);
}

static void expect(const char *dir, struct cache_name name, const char *want)
{
	struct cache *c = cache_open(dir, &name);
	struct answers a = {0};

	CHECK(!c == !want, "%s-%s", name.id, name.content);
	if (c && want) {
		CHECK(!cache_read(c, pool, &a), "read");
		check_text(&a, want);
	}
	answers_fini(&a);
	cache_close(c);
}

/* What archives say of a build-id is kept apart by content, and from what this machine says. */
static void test_contents(const char *dir)
{
	struct cache_name here = local("0badcafe"), one = {"0badcafe", CONTENT},
			  two = {"0badcafe", "ffffffffffffffffffffffffffffffff"};
	struct answers a = parse("1-5a"), b = parse("1-5b"), c = parse("1-5c"), d = parse("8-9d");
	struct cache_alt alt = {"abcd0123", CONTENT}, other = {"abcd0123", "00"}, got;
	struct cache *cache;

	cache_store(dir, &one, &no_alt, pool, &a);
	expect(dir, here, NULL);
	expect(dir, two, NULL);
	cache_store(dir, &two, &no_alt, pool, &b);
	cache_store(dir, &here, &no_alt, pool, &c);
	expect(dir, one, "1-5a");
	expect(dir, two, "1-5b");
	expect(dir, here, "1-5c");
	/* with the same alternate file answers add up, those with another are begun anew */
	cache_store(dir, &one, &alt, pool, &b);
	expect(dir, one, "1-5b");
	cache_store(dir, &one, &alt, pool, &d);
	expect(dir, one, "1-5b 8-9d");
	cache = cache_open(dir, &one);
	got = cache ? cache_alt(cache) : no_alt;
	CHECK(!strcmp(got.id, alt.id) && !strcmp(got.content, alt.content), "%s %s", got.id,
	      got.content);
	cache_close(cache);
	cache_store(dir, &one, &other, pool, &a);
	expect(dir, one, "1-5a");
	answers_fini(&a);
	answers_fini(&b);
	answers_fini(&c);
	answers_fini(&d);
}

/* Every byte of a file changed in turn: it is refused. */
static void test_damage(const char *dir)
{
	const struct cache_name name = local("abcdef01");
	char *path = cache_path(dir, &name), data[4096];
	struct answers a = parse("1-5a 9-10b");
	struct cache *c;
	ssize_t sz;
	int fd;

	cache_store(dir, &name, &no_alt, pool, &a);
	fd = open(path, O_RDWR);
	sz = read(fd, data, sizeof(data));
	CHECK(fd >= 0 && sz > 64, "%s", path);
	for (ssize_t i = 0; i < sz; i++) {
		char wrong = (char)(data[i] ^ 0x41);

		CHECK(pwrite(fd, &wrong, 1, i) == 1, "write");
		c = cache_open(dir, &name);
		CHECK(!c, "byte %zd", i);
		cache_close(c);
		CHECK(pwrite(fd, &data[i], 1, i) == 1, "write");
	}
	for (ssize_t cut = sz - 1; cut >= 0; cut -= 7) {
		CHECK(!ftruncate(fd, cut), "truncate");
		CHECK(!cache_open(dir, &name), "cut at %zd", cut);
	}
	close(fd);
	CHECK(!unlink(path) && !symlink("/etc/passwd", path), "symlink");
	CHECK(!cache_open(dir, &name), "a symbolic link was followed");
	cache_store(dir, &name, &no_alt, pool, &a);
	c = cache_open(dir, &name);
	CHECK(c, "a symbolic link was not replaced");
	cache_close(c);
	answers_fini(&a);
	free(path);
}

static void test_same_time(const char *dir)
{
	enum { WRITERS = 4, ROUNDS = 20 };
	const struct cache_name name = local("00112233");
	struct answers all = {0};
	struct cache *c;
	int status;

	for (int w = 0; w < WRITERS; w++) {
		if (fork())
			continue;
		for (int i = 0; i < ROUNDS; i++) {
			struct answers a = {0};

			add(&a, (uint64_t)(w * 100 + i * 2), (uint64_t)(w * 100 + i * 2 + 1), "f");
			cache_store(dir, &name, &no_alt, pool, &a);
			answers_fini(&a);
		}
		_exit(0);
	}
	for (int w = 0; w < WRITERS; w++)
		CHECK(wait(&status) > 0 && !status, "writer");
	c = cache_open(dir, &name);
	CHECK(c && !cache_read(c, pool, &all), "not whole");
	/* Two may join theirs to the same old file, and what one added is lost; what the last one
	 * stored is there. */
	CHECK(all.cnt >= 1 && all.cnt <= WRITERS * ROUNDS, "%zu", all.cnt);
	answers_fini(&all);
	cache_close(c);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_many(const char *dir)
{
	enum { CNT = 10000, DEPTH = 4 };
	const struct cache_name name = local("aabbccdd");
	struct answers a = {0}, found = {0};
	uint64_t *addrs = calloc(CNT, sizeof(*addrs));
	struct name_pool *fresh;
	struct cache *c;
	double start, best = 1;

	for (uint64_t i = 0; i < CNT; i++) {
		struct answer_frame f[DEPTH];
		char name[300];

		for (uint64_t k = 0; k < DEPTH; k++) {
			sprintf(name, "_ZN9somewhereINSt6vectorIiSaIiEEE4f%04d%04dEv",
				(int)(i / (k + 1)), (int)k);
			f[k] = (struct answer_frame){name_pool__add_symbol(pool, name, NULL),
						     name_pool__add(pool, "/a/file.cc", NULL), 3};
		}
		addrs[i] = 0x1000 + i * 16 + 3;
		CHECK(!answers_add(&a, 0x1000 + i * 16, 0x1008 + i * 16, f, DEPTH), "add");
	}
	cache_store(dir, &name, &no_alt, pool, &a);
	for (int round = 0; round < 5; round++) { /* other programs run too: the best counts */
		CHECK(!name_pool__new(&fresh), "pool");
		start = now();
		c = cache_open(dir, &name);
		CHECK(c && !cache_find(c, fresh, addrs, CNT, &found), "find");
		if (now() - start < best)
			best = now() - start;
		CHECK(found.cnt == CNT, "%zu", found.cnt);
		answers_fini(&found);
		cache_close(c);
		name_pool__free(fresh);
	}
	printf("10000 addresses from the cache: %.1f ms\n", best * 1e3);
#ifndef __SANITIZE_ADDRESS__
	CHECK(best < 0.050, "%.1f ms", best * 1e3);
#endif
	answers_fini(&a);
	free(addrs);
}

static int leftovers(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

int main(void)
{
	char dir[] = "/tmp/symbol-cache.XXXXXX", sub[64], command[128];
	struct stat st;

	if (!mkdtemp(dir) || name_pool__new(&pool))
		return 1;
	snprintf(sub, sizeof(sub), "%s/deep/er", dir);
	test_merge();
	test_ids();
	test_damage(sub);
	test_contents(sub);
	test_same_time(sub);
	test_many(sub);
	snprintf(sub, sizeof(sub), "%s/deep/er/00", dir);
	CHECK(leftovers(sub) == 1, "temporary files were left");
	snprintf(sub, sizeof(sub), "%s/deep/er/00/112233.sym", dir);
	CHECK(!stat(sub, &st) && (st.st_mode & 0777) == 0600, "mode %o", st.st_mode);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command), "clean up");
	name_pool__free(pool);
	return failed;
}
