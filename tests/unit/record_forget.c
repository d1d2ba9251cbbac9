/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thousands of distinct binaries, one after the other: what obrec keeps does not grow with their
 * number, what is forgotten and comes back is the same binary, what is mapped is never forgotten.
 */
#include <elf.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "format/clock.h"
#include "record/binary/binary_registry.h"
#include "check.h"
#include "record_fakes.h"

#define SEC 1000000000ULL
enum { FILE_SZ = 4096, HIT_EVERY = 10, SWEEP_EVERY = 20, BOUND = 128 + SWEEP_EVERY * 4 };

static char dir[64];
static uint64_t test_ns; /* runs ahead of the real one, which files are stamped by */

/* A program of nothing but headers; id 0: without a build-id. */
static void make(const char *path, uint32_t id)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[2];
		Elf64_Nhdr note;
		char name[4];
		uint32_t id[5];
	} f = {
		.eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
		       .e_type = ET_DYN,
		       .e_machine = EM_X86_64,
		       .e_version = EV_CURRENT,
		       .e_phoff = sizeof(Elf64_Ehdr),
		       .e_ehsize = sizeof(Elf64_Ehdr),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = id ? 2 : 1},
		.ph = {{.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_filesz = FILE_SZ,
			.p_memsz = FILE_SZ,
			.p_align = 4096},
		       {.p_type = PT_NOTE,
			.p_offset = sizeof(f.eh) + sizeof(f.ph),
			.p_filesz = sizeof(f.note) + sizeof(f.name) + sizeof(f.id),
			.p_align = 4}},
		.note = {4, sizeof(f.id), NT_GNU_BUILD_ID},
		.name = "GNU",
		.id = {id, 1, 2, 3, 4},
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, &f, sizeof(f)) != sizeof(f) || ftruncate(fd, FILE_SZ))
		exit(1);
	close(fd);
}

/* The same headers, notes and size, and other code. */
static void make_other(const char *path, uint32_t id, char code)
{
	int fd;

	make(path, id);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || pwrite(fd, &code, 1, FILE_SZ - 1) != 1)
		exit(1);
	close(fd);
}

/* What the tracker does with a new mapping of it, which ends at once. */
static struct binary *map_once(struct binaries *b, const char *path, uint64_t generation)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;
	struct binary *bin = NULL;
	struct mapped m = {.pid = getpid(),
			   .path = span_of(path),
			   .generation = generation, /* inode numbers come again at once */
			   .generation_known = true};
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st))
		exit(1);
	p = mmap(NULL, FILE_SZ, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	m.start = (uintptr_t)p;
	m.end = m.start + FILE_SZ;
	m.inode = st.st_ino;
	m.major = major(st.st_dev);
	m.minor = minor(st.st_dev);
	rc = binaries__resolve(b, &m, &bin);
	CHECK(rc == 1 && bin, "%s: %d", path, rc);
	munmap(p, FILE_SZ);
	close(fd);
	if (!bin)
		exit(1);
	return bin;
}

static void sweep(struct binaries *b, struct binary *in_use)
{
	test_ns += 4 * SEC;
	if (!binaries__crowded(b, test_ns))
		return;
	binaries__sweep_begin(b);
	if (in_use)
		binaries__in_use(b, in_use);
	binaries__sweep_end(b, test_ns);
}

static void run(struct binaries *b, uint32_t first, uint32_t cnt, struct binary *in_use)
{
	char path[96];

	for (uint32_t i = first; i < first + cnt; i++) {
		struct binary *bin;

		snprintf(path, sizeof(path), "%s/p%u", dir, i);
		make(path, i);
		bin = map_once(b, path, i);
		if (i % HIT_EVERY == 0)
			binaries__hit(b, bin);
		unlink(path);
		if (i % SWEEP_EVERY == 0)
			sweep(b, in_use);
		CHECK(b->live <= BOUND && b->fds <= BOUND && b->files.cnt <= BOUND,
		      "%u binaries, %lu descriptors, %zu files", b->live, (unsigned long)b->fds,
		      b->files.cnt);
	}
	fake_reset();
}

/* Files whose end is awaited: which are told of, and that each end is, once. */
static unsigned awaited, ended;

static bool on_file(void *ctx, const struct file_facts *facts, int fd, const struct stat *st,
		    const char *path)
{
	bool odd = st->st_size % 2;

	awaited += odd;
	return odd;
}

static void on_file_gone(void *ctx, const struct stat *st)
{
	CHECK(st->st_size % 2, "nobody waits for that");
	ended++;
}

static size_t heap(void)
{
	return mallinfo2().uordblks;
}

/* Drops all that is not kept. */
static void settle(struct binaries *b, struct binary *in_use)
{
	for (int i = 0; i < 3; i++)
		sweep(b, in_use);
}

/* Bytes for each binary that was hit: its number, and its key in a table that doubles. */
static void test_bound(struct binaries *b, struct binary *in_use)
{
	enum { N = 2000, PER_HIT = 128 };
	uint64_t loaded = b->loaded;
	size_t after_n, after_4n;

	run(b, 1, N, in_use);
	settle(b, in_use);
	after_n = heap();
	run(b, N + 1, 3 * N, in_use);
	settle(b, in_use);
	after_4n = heap();
	printf("%d binaries: %zu bytes, %d: %zu bytes\n", N, after_n, 4 * N, after_4n);
	CHECK(after_4n < after_n + 3 * N / HIT_EVERY * PER_HIT, "%zu bytes more",
	      after_4n - after_n);
	CHECK(b->cnt < BOUND + 4 * N / HIT_EVERY, "%u numbers", b->cnt);
	CHECK(b->loaded == loaded + 4 * N && fake_dropped == b->loaded - b->live,
	      "%u of %lu dropped", fake_dropped, (unsigned long)b->loaded);
}

/* Nobody maps it as long as its table is on its way: a reader takes as long as it takes. */
static void test_loading(struct binaries *b, struct binary *in_use)
{
	char path[96], build_id[IMAGE_ID_CAP];
	struct binary *bin;
	uint32_t id;

	snprintf(path, sizeof(path), "%s/late", dir);
	make(path, 990000);
	bin = map_once(b, path, 990000);
	strcpy(build_id, bin->image.build_id);
	unlink(path);
	id = bin->id;
	bin->loading = true;
	run(b, 991000, 2 * BOUND, in_use);
	CHECK(binaries__get(b, id) == bin, "forgotten while its table was awaited");
	if (binaries__get(b, id) != bin)
		return;
	bin->loading = false;
	run(b, 992000, 2 * BOUND, in_use);
	/* Another one may have its number by now, and its address. */
	bin = binaries__get(b, id);
	CHECK(!bin || strcmp(bin->image.build_id, build_id), "kept for ever");
}

static void forget_all(struct binaries *b, uint32_t from, struct binary *in_use)
{
	run(b, from, 2 * BOUND, in_use);
	settle(b, in_use);
}

static void test_back(struct binaries *b, struct binary *in_use, uint32_t build_id)
{
	struct binary *bin;
	char path[96];
	uint32_t id;

	snprintf(path, sizeof(path), "%s/back", dir);
	make(path, build_id);
	bin = map_once(b, path, build_id);
	id = bin->id;
	binaries__hit(b, bin);
	forget_all(b, 10000 + build_id, in_use);
	CHECK(!binaries__get(b, id), "it is forgotten");
	bin = map_once(b, path, build_id);
	CHECK(bin->id == id && bin->hit, "%u, was %u", bin->id, id);
	CHECK(bin->fd < 0 && !binaries__hit(b, bin) && !fake_lines, "nothing is asked for again");
	forget_all(b, 20000 + build_id, in_use);
	CHECK(!binaries__get(b, id), "and once more");
	unlink(path);
	make(path, build_id + 1);
	CHECK(map_once(b, path, build_id + 1)->id != id, "another content is another binary");
	unlink(path);
}

static struct binary *map_content(struct binaries *b, const char *name, uint32_t id, char code,
				  uint32_t generation)
{
	struct binary *bin;
	char path[96];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	make_other(path, id, code);
	bin = map_once(b, path, generation);
	unlink(path);
	return bin;
}

/* Two contents of one build-id are two binaries, whichever comes first, is hit or forgotten; each
 * content under several inodes is one. */
static void test_two_contents(struct binaries *b, struct binary *in_use)
{
	enum { ID = 0x55555555, GEN = 200000 };
	uint32_t one_id, two_id, three_id, loaded;
	struct binary *one, *two, *three;
	char record[192];

	one = map_content(b, "one", ID, 1, GEN);
	two = map_content(b, "two", ID, 2, GEN + 1);
	three = map_content(b, "three", ID, 3, GEN + 2);
	CHECK(one != two && two != three && one != three, "contents are told apart");
	loaded = b->loaded;
	CHECK(map_content(b, "two again", ID, 2, GEN + 3) == two, "");
	CHECK(map_content(b, "one again", ID, 1, GEN + 4) == one, "");
	CHECK(map_content(b, "three again", ID, 3, GEN + 5) == three, "");
	CHECK(b->loaded == loaded, "%lu", (unsigned long)b->loaded);
	binaries__hit(b, one);
	binaries__hit(b, two);
	CHECK(!strcmp(one->image.build_id, "5555555501000000020000000300000004000000"), "%s",
	      one->image.build_id);
	CHECK(!strncmp(two->image.build_id, "sha1:", 5), "%s", two->image.build_id);
	snprintf(record, sizeof(record), "binary %u id=%s ", two->id, two->image.build_id);
	CHECK(fake_count(0, record, "") == 1, "no record: %s", record);
	snprintf(record, sizeof(record), "want %u path=%s id=%s ", two->id, two->path,
		 two->image.build_id);
	CHECK(fake_count(0, record, "") == 1, "nothing asked for: %s", record);
	CHECK(b->shared_ids == 1, "%lu", (unsigned long)b->shared_ids);
	one_id = one->id;
	two_id = two->id;
	fake_reset();
	forget_all(b, 50000, in_use);
	CHECK(!binaries__get(b, one_id) && !binaries__get(b, two_id), "they are forgotten");
	three = map_content(b, "three later", ID, 3, GEN + 6);
	three_id = three->id;
	CHECK(!three->hit && three_id != one_id && three_id != two_id, "%u", three_id);
	two = map_content(b, "two later", ID, 2, GEN + 7);
	CHECK(two->id == two_id && two->hit && !strncmp(two->image.build_id, "sha1:", 5),
	      "%u, was %u: %s", two->id, two_id, two->image.build_id);
	one = map_content(b, "one later", ID, 1, GEN + 8);
	CHECK(one->id == one_id && one->hit && !strncmp(one->image.build_id, "5555", 4),
	      "%u, was %u: %s", one->id, one_id, one->image.build_id);
	binaries__hit(b, three);
	CHECK(!strncmp(three->image.build_id, "sha1:", 5) &&
		      strcmp(three->image.build_id, two->image.build_id),
	      "%s", three->image.build_id);
	fake_reset();
}

/* The same bytes of another user are not taken for it: that user may change them at any time. */
static void test_owner(struct binaries *b)
{
	struct binary *one, *other;
	char path[96];

	if (geteuid())
		return;
	snprintf(path, sizeof(path), "%s/owned", dir);
	make(path, 0x44444444);
	one = map_once(b, path, 300000);
	unlink(path);
	make(path, 0x44444444);
	if (chown(path, 65534, -1))
		exit(1);
	other = map_once(b, path, 300001);
	unlink(path);
	CHECK(one != other, "one binary of two owners");
}

/* Ever new files of one build, which somebody maps all the time, and one without a build-id. */
static void test_copies(struct binaries *b, struct binary *in_use)
{
	enum { COPIES = 1000 };
	struct binary *nameless, *bin;
	size_t files = b->files.cnt;
	char path[96];

	snprintf(path, sizeof(path), "%s/nameless", dir);
	make(path, 0);
	nameless = map_once(b, path, 99999);
	binaries__hit(b, nameless); /* which gives it a name, not a build-id */
	for (uint32_t i = 0; i < COPIES; i++) {
		snprintf(path, sizeof(path), "%s/copy%u", dir, i);
		make(path, 0x77777777);
		CHECK(map_once(b, path, 100000 + i) == in_use, "%u", i);
	}
	CHECK(b->files.cnt >= files + COPIES, "%zu", b->files.cnt);
	test_ns = clock_now_ns();
	sweep(b, in_use);
	CHECK(b->files.cnt >= COPIES, "not at once: %zu", b->files.cnt);
	for (int i = 0; i < 20; i++) {
		binaries__less_in_use(b); /* so that it looks */
		sweep(b, in_use);
	}
	CHECK(b->files.cnt < 100, "%zu files", b->files.cnt);
	for (uint32_t i = 0; i < COPIES; i++) {
		snprintf(path, sizeof(path), "%s/copy%u", dir, i);
		bin = i % 100 ? in_use : map_once(b, path, 100000 + i);
		CHECK(bin == in_use, "it is the same");
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/nameless", dir);
	CHECK(map_once(b, path, 99999) == nameless, "found by its file");
	unlink(path);
	fake_reset();
}

/* Ever new files somebody waits for the end of; one is mapped all the time, another is rewritten.
 */
static void test_ends(struct binaries *b)
{
	enum { N = 500 };
	struct binary *stays = NULL;
	char path[96], kept[96];

	snprintf(kept, sizeof(kept), "%s/kept", dir);
	for (uint32_t i = 0; i < N; i++) {
		snprintf(path, sizeof(path), "%s/end%u", dir, i);
		make(i ? path : kept, 0x60000 + i);
		if (truncate(i ? path : kept, FILE_SZ + 1))
			exit(1);
		if (i) {
			map_once(b, path, 5000 + i);
			unlink(path);
		} else {
			stays = map_once(b, kept, 5000);
		}
		if (i % SWEEP_EVERY == 0)
			sweep(b, stays);
	}
	CHECK(awaited == N, "%u", awaited);
	CHECK(ended > N - BOUND && ended < N, "%u of %d", ended, N);
	for (int i = 0; i < 20; i++) {
		binaries__less_in_use(b);
		sweep(b, stays);
	}
	CHECK(map_once(b, kept, 5000) == stays && awaited == N, "it was not forgotten");
	ended = 0;
	make(kept, 0x50000);
	if (truncate(kept, FILE_SZ + 1))
		exit(1);
	CHECK(map_once(b, kept, 5001) != stays && awaited == N + 1 && ended == 1, "%u %u", awaited,
	      ended);
	unlink(kept);
	fake_reset();
}

/* Ever new processes with generated code of their own, each sampled, for days: files still have
 * numbers, and so has that code. */
static void test_jit(struct binaries *b, struct binary *in_use)
{
	uint32_t before = b->cnt, shared;
	struct binary *bin;

	for (uint32_t pid = 1; pid <= 2 * BINARY_ID_MAX; pid++) {
		bin = binaries__jit(b, pid);
		if (!bin)
			break;
		binaries__hit(b, bin);
		if (pid % 1000 == 0)
			sweep(b, in_use);
		fake_reset();
	}
	CHECK(bin && b->cnt < before + BINARY_ID_MAX / 2 + 1000, "%u numbers", b->cnt);
	if (!bin)
		return;
	shared = bin->id;
	CHECK(binaries__jit(b, 1) == bin && !bin->jit && bin->range_flags == RANGE_JIT, "");
	for (int i = 0; i < 4; i++)
		sweep(b, in_use);
	forget_all(b, 40000, in_use);
	CHECK(binaries__get(b, shared) == bin, "it stays");
}

int main(void)
{
	struct binaries_opts opts = {
		.writer = FAKE_WRITER,
		.store = FAKE_STORE,
		.debuginfo = FAKE_DEBUGINFO,
		.file = on_file,
		.file_gone = on_file_gone,
	};
	struct binary *in_use;
	struct binaries *b;
	char path[96];
	uint32_t id;

	test_ns = clock_now_ns();
	strcpy(dir, "/tmp/forget.XXXXXX");
	if (!mkdtemp(dir) || nursery__new(&fake_nursery, NULL))
		return 1;
	opts.readers = fake_readers_new();
	if (binaries__new(&b, &opts))
		return 1;
	snprintf(path, sizeof(path), "%s/stays", dir);
	make(path, 0x77777777);
	in_use = map_once(b, path, 77);
	id = in_use->id;
	test_copies(b, in_use);
	test_bound(b, in_use);
	test_loading(b, in_use);
	test_back(b, in_use, 5000);
	test_back(b, in_use, 0);
	test_two_contents(b, in_use);
	test_owner(b);
	test_jit(b, in_use);
	CHECK(binaries__get(b, id) == in_use && map_once(b, path, 77) == in_use, "it is mapped");
	unlink(path);
	test_ends(b);
	binaries__free(b);
	fake_readers_free();
	nursery__free(fake_nursery);
	rmdir(dir);
	return failed;
}
