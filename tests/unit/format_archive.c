/* SPDX-License-Identifier: BSD-2-Clause */
/* Archives written and read back whole: rows, members, header, end; other tools agree; many
 * threads. */
#include "format_archive.h"
#include "heap.h"

#include <archive.h>
#include <archive_entry.h>
#include <json-c/json.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

enum { FLUSHES = 3, ROWS = 40 };

/* Makes the same rows again and compares. */
static int compare(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct rec_info *info = rec_info(kind);
	uint64_t row[32];

	CHECK(cnt == ROWS, "%s: %zu rows", info->name, cnt);
	for (size_t i = 0; i < cnt; i++) {
		random_row(info, row, i);
		CHECK(same_row(info, row, (const char *)rows + i * info->sz), "%s row %zu",
		      info->name, i);
	}
	return 0;
}

static void test_round_trip(const char *path)
{
	struct obz_reader *r;
	const struct obz_member *m;
	size_t cnt, at = 0, streams = 0, debugs = 0;
	struct obz_damage d;
	struct json_object *end;

	CHECK(!obz_reader__open(&r, path), "%s", obz_reader__error(r));
	CHECK(strstr(obz_reader__header(r), "\"host\":\"box\"") &&
	      strstr(obz_reader__header(r), "\"major\":1"));
	end = json_tokener_parse(obz_reader__end(r));
	CHECK(json_object_get_boolean(json_object_object_get(end, "complete")));
	CHECK(json_object_get_int(json_object_object_get(json_object_object_get(end, "records"),
							 "sample")) == FLUSHES * ROWS);
	json_object_put(end);
	m = obz_reader__members(r, &cnt);
	while (rec_stream(streams))
		streams++;
	CHECK(cnt == 3 + 2 + FLUSHES * streams, "%zu members", cnt);
	/* kinds were put in the order of records.def, which is that of the streams and within them
	 */
	random_seed(42);
	for (size_t f = 0; f < FLUSHES; f++)
		for (size_t s = 0; s < streams; s++) {
			while (m[at].type != OBZ_CHUNK)
				at++;
			CHECK(!strcmp(m[at].stream, rec_stream(s)) && m[at].seq == f, "%s %zu",
			      m[at].stream, at);
			CHECK(!obz_reader__decode(r, &m[at++], compare, NULL));
		}
	for (size_t i = 0; i < cnt; i++) {
		char name[104], got[2000];
		int fd;

		CHECK(!obz_reader__check(r, &m[i]), "%s", obz_member_name(&m[i], name));
		if (m[i].type != OBZ_DEBUG)
			continue;
		CHECK(!strcmp(m[i].name, debug_names[debugs]));
		fd = obz_reader__extract(r, &m[i], 1 << 20);
		CHECK(fd >= 0 && lseek(fd, 0, SEEK_END) == (off_t)(1000 + 500 * debugs));
		CHECK(pread(fd, got, 1000, 0) == 1000 && !memcmp(got, random_text, 1000));
		close(fd);
		debugs++;
	}
	d = obz_reader__damage(r);
	CHECK(!obz_damage_any(&d));
	obz_reader__close(r);
}

/* libarchive's own reader sees the same members at the same places. */
static void test_libarchive(const char *path)
{
	struct archive *a = archive_read_new();
	struct archive_entry *e;
	struct obz_reader *r;
	const struct obz_member *m;
	size_t cnt, i = 0;

	CHECK(!obz_reader__open(&r, path));
	m = obz_reader__members(r, &cnt);
	archive_read_support_format_tar(a);
	CHECK(archive_read_open_filename(a, path, 512) == ARCHIVE_OK);
	for (; archive_read_next_header(a, &e) == ARCHIVE_OK; i++) {
		char name[104];

		CHECK(i < cnt && !strcmp(archive_entry_pathname(e), obz_member_name(&m[i], name)));
		CHECK((uint64_t)archive_entry_size(e) == m[i].sz);
		CHECK((uint64_t)archive_read_header_position(a) + 512 == m[i].offset);
	}
	CHECK(i == cnt && archive_errno(a) == 0, "%zu of %zu: %s", i, cnt, archive_error_string(a));
	archive_read_free(a);
	obz_reader__close(r);
}

/* ---- payload ---- */

enum { CALLS = 1000, CALL_SZ = 400 };

/* Each call another one, or one of few by turns. */
static void fill_call(char *data, uint64_t i, unsigned different)
{
	memset(data, 'x', CALL_SZ);
	i %= different;
	memcpy(data + CALL_SZ / 2, &i, sizeof(i));
}

static int compare_calls(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct rec_payload *r = rows;

	CHECK(kind == REC_payload && cnt == CALLS);
	for (size_t i = 0; i < cnt; i++) {
		char data[CALL_SZ];

		fill_call(data, i, *(unsigned *)arg);
		CHECK(r[i].position == i && r[i].data.len == CALL_SZ &&
			      !memcmp(r[i].data.p, data, CALL_SZ),
		      "call %zu", i);
	}
	return 0;
}

/* How large the chunk is before compression; the caller's buffer is overwritten with each call. */
static size_t put_calls(unsigned different)
{
	int fd = memfd_create("payload", 0), copy = dup(fd);
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	const struct obz_member *m;
	struct obz_chunk_info info;
	struct obz_writer *w;
	struct obz_reader *r;
	char path[64], data[CALL_SZ];
	size_t cnt;

	CHECK(!obz_writer__new(&w, fd, &opts));
	for (uint64_t i = 0; i < CALLS; i++) {
		struct rec_payload row = {.position = i, .data = {data, CALL_SZ}};

		fill_call(data, i, different);
		CHECK(!obz_writer__put(w, REC_payload, &row));
	}
	CHECK(!obz_writer__close(w, END_JSON));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	CHECK(!obz_reader__open(&r, path));
	m = obz_reader__members(r, &cnt);
	CHECK(cnt == 4 && m[2].type == OBZ_CHUNK);
	CHECK(!obz_reader__chunk_info(r, &m[2], &info));
	CHECK(!obz_reader__decode(r, &m[2], compare_calls, &different));
	obz_reader__close(r);
	close(copy);
	return info.raw_sz;
}

static void test_payload(void)
{
	size_t sz;

	CHECK((sz = put_calls(3)) < 16 * CALLS, "%zu bytes of calls that come back", sz);
	CHECK((sz = put_calls(CALLS)) > CALLS * CALL_SZ, "%zu bytes of others", sz);
	/* Some of which come back, but too few. */
	CHECK((sz = put_calls(CALLS * 2 / 3)) > CALLS * CALL_SZ, "%zu bytes of some", sz);
}

static void shell(const char *what, const char *path)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), what, path, path);
	CHECK(!system(cmd), "%s", cmd);
}

/* ---- threads ---- */

struct worker {
	struct obz_writer *w;
	unsigned id;
	pthread_t thread;
};

static void *put_many(void *arg)
{
	struct worker *k = arg;
	char name[96];
	int data = memfd_create("data", 0);

	CHECK(write(data, random_text, 60000) == 60000);
	for (unsigned i = 0; i < 20000; i++) {
		struct rec_sample s = {.thread = k->id, .ts_ns = i, .count = 1};

		CHECK(!obz_writer__put(k->w, REC_sample, &s));
		if (i % 500 == k->id * 7)
			CHECK(!obz_writer__flush(k->w));
		if (i % 700 == k->id * 7)
			CHECK(!obz_writer__trim(k->w));
		if (i % 2000 == 0) {
			snprintf(name, sizeof(name), ".build-id/%02x/%08x.debug.zst", k->id, i);
			CHECK(!obz_writer__add(k->w, name, data, 60000));
			CHECK(obz_writer__add(k->w, name, data, 60000) == -EEXIST);
		}
	}
	close(data);
	return NULL;
}

static int sum_threads(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	uint64_t *next = arg;
	const struct rec_sample *s = rows;

	for (size_t i = 0; i < cnt; i++)
		CHECK(s[i].ts_ns == next[s[i].thread]++); /* each thread's rows in its order */
	return 0;
}

static void *serve(void *w)
{
	obz_writer__serve(w);
	return NULL;
}

/* `served`: another thread encodes and writes. */
static void test_threads(bool served)
{
	int fd = memfd_create("threads", 0), copy = dup(fd);
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	struct worker k[4];
	pthread_t server;
	struct obz_writer *w;
	struct obz_reader *r;
	const struct obz_member *m;
	struct obz_damage d;
	uint64_t next[4] = {0};
	char path[32];
	size_t cnt, debugs = 0;

	CHECK(!obz_writer__new(&w, fd, &opts));
	if (served)
		CHECK(!pthread_create(&server, NULL, serve, w));
	for (unsigned i = 0; i < 4; i++) {
		k[i] = (struct worker){w, i, 0};
		pthread_create(&k[i].thread, NULL, put_many, &k[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		pthread_join(k[i].thread, NULL);
	if (served) {
		obz_writer__dismiss(w);
		pthread_join(server, NULL);
	}
	CHECK(!obz_writer__sync(w));
	CHECK(!obz_writer__close(w, END_JSON));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	CHECK(!obz_reader__open(&r, path));
	m = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		debugs += m[i].type == OBZ_DEBUG;
		if (m[i].type == OBZ_CHUNK)
			CHECK(!obz_reader__decode(r, &m[i], sum_threads, next));
		else
			CHECK(!obz_reader__check(r, &m[i]));
	}
	for (unsigned i = 0; i < 4; i++)
		CHECK(next[i] == 20000);
	CHECK(debugs == 40, "%zu", debugs);
	d = obz_reader__damage(r);
	CHECK(!obz_damage_any(&d));
	obz_reader__close(r);
	close(copy);
}

/* What is put goes to the file by the serving thread alone, and no put of a short burst waits for
 * it. */
static void test_served(void)
{
	int fd = memfd_create("served", 0), copy = dup(fd);
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	struct rec_thread t = {.id = 7};
	uint64_t before, flushed;
	struct reading got;
	struct obz_writer *w;
	pthread_t server;

	CHECK(!obz_writer__new(&w, fd, &opts));
	CHECK(!pthread_create(&server, NULL, serve, w));
	before = obz_writer__bytes(w);
	CHECK(!obz_writer__put(w, REC_thread, &t) && !obz_writer__flush(w));
	for (int i = 0; i < 10000 && obz_writer__bytes(w) == before; i++)
		usleep(1000);
	flushed = obz_writer__bytes(w);
	CHECK(flushed > before, "%llu bytes", (unsigned long long)flushed);
	obz_writer__dismiss(w);
	pthread_join(server, NULL);
	CHECK(!obz_writer__put(w, REC_thread, &t) && !obz_writer__flush(w));
	CHECK(obz_writer__bytes(w) > flushed); /* by this thread again */
	CHECK(!obz_writer__close(w, END_JSON));
	got = archive_read(copy);
	CHECK(!got.err && got.end && got.rows == 2 && !obz_damage_any(&got.damage));
	close(copy);
}

/* ---- memory ---- */

/* Rows of all kinds for a chunk of a mebibyte of each stream; no two stacks share a frame. */
static void put_burst(struct obz_writer *w)
{
	static uint64_t frames[100];

	for (size_t i = 0; i < 20000; i++) {
		struct rec_sample s = {.ts_ns = i, .value = random_u64()};
		struct rec_connection c = {.id = i, .cookie = random_u64()};
		struct rec_payload p = {.connection = i, .data = {random_text, 200}};

		CHECK(!obz_writer__put(w, REC_sample, &s));
		CHECK(!obz_writer__put(w, REC_connection, &c));
		CHECK(!obz_writer__put(w, REC_payload, &p));
	}
	for (size_t i = 0; i < 1000; i++) {
		struct rec_stack s = {.id = i, .frames = {frames, 100}};

		for (size_t f = 0; f < 100; f++)
			frames[f] = random_u64();
		CHECK(!obz_writer__put(w, REC_stack, &s));
	}
}

/* What a burst left is given back; nothing is lost by it. */
static void test_trim(void)
{
	int fd = memfd_create("trim", 0), copy = dup(fd);
	struct obz_writer_opts opts = {.header_json = HEADER_JSON};
	struct rec_thread t = {.id = 7, .comm = {"seven", 5}};
	size_t small, large, after;
	struct obz_writer *w;
	struct reading got;

	CHECK(!obz_writer__new(&w, fd, &opts));
	CHECK(!obz_writer__put(w, REC_thread, &t) && !obz_writer__flush(w));
	small = heap_in_use();
	put_burst(w);
	CHECK(!obz_writer__flush(w));
	large = heap_in_use();
	CHECK(!obz_writer__put(w, REC_thread, &t));
	CHECK(!obz_writer__trim(w));
	after = heap_in_use();
	printf("a writer's memory: %zu bytes more after a burst, %zd once trimmed\n", large - small,
	       (ssize_t)(after - small));
	/* zstd's context stays: some hundred KiB */
	CHECK(large > small + (8 << 20) && after < small + (1 << 20), "%zu, %zu, %zu", small, large,
	      after);
	CHECK(!obz_writer__put(w, REC_thread, &t));
	put_burst(w);
	CHECK(!obz_writer__close(w, END_JSON));
	got = archive_read(copy);
	CHECK(!got.err && got.end && !obz_damage_any(&got.damage));
	CHECK(got.good_chunks == got.chunks && got.samples == 40000);
	CHECK(got.rows == 3 + 2 * (3 * 20000 + 1000), "%llu", (unsigned long long)got.rows);
	close(copy);
}

/* ---- kill -9 at any moment: at most the chunk under way is lost ---- */

static void test_kill(void)
{
	for (int round = 0; round < 12; round++) {
		int fd = memfd_create("kill", 0), told[2];
		struct obz_writer_opts opts = {.header_json = HEADER_JSON};
		uint64_t flushed = 0, seen;
		struct reading got;
		pid_t pid;

		CHECK(!pipe(told));
		pid = fork();
		if (pid == 0) {
			struct obz_writer *w;

			if (obz_writer__new(&w, fd, &opts))
				_exit(1);
			for (uint64_t i = 1;; i++) {
				struct rec_sample s = {.ts_ns = i};

				obz_writer__put(w, REC_sample, &s);
				if (i % 50 == 0 &&
				    (obz_writer__flush(w) || write(told[1], &i, sizeof(i)) < 0))
					_exit(1);
			}
		}
		usleep(3000 + round * 1700);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(told[1]);
		while (read(told[0], &seen, sizeof(seen)) == sizeof(seen))
			flushed = seen;
		close(told[0]);
		got = archive_read(fd);
		/* nothing may have been written yet; what was flushed is there */
		CHECK(flushed == 0 || (!got.err && got.header && !got.end && got.rows >= flushed),
		      "%llu of %llu rows: %s", (unsigned long long)got.rows,
		      (unsigned long long)flushed, got.error);
		CHECK(got.damage.bad_chunks == 0 && got.damage.lost_chunks == 0 &&
		      got.damage.refused == 0);
		close(fd);
	}
}

/* ---- as a tool for the other tests: `make FILE` writes an archive, `dump FILE` its rows as JSON
 * lines ---- */

static void dump_field(const struct rec_field *f, const void *field)
{
	printf(",\"%s\":", f->name);
	if (f->type == REC_T_u32)
		printf("%u", *(const uint32_t *)field);
	else if (f->type == REC_T_u64)
		printf("%llu", (unsigned long long)*(const uint64_t *)field);
	else if (f->type == REC_T_str) {
		const struct span *s = field;

		putchar('"');
		for (size_t i = 0; i < s->len; i++)
			printf("%02x", (unsigned char)s->p[i]);
		putchar('"');
	} else {
		const struct u64_span *l = field;

		for (size_t i = 0; i < l->len; i++)
			printf("%c%llu", i ? ',' : '[', (unsigned long long)l->v[i]);
		printf("%s", l->len ? "]" : "[]");
	}
}

static int dump_rows(void *arg, enum rec_kind kind, const void *rows, size_t cnt)
{
	const struct rec_info *info = rec_info(kind);

	for (size_t i = 0; i < cnt; i++) {
		printf("{\"record\":\"%s\"", info->name);
		for (unsigned f = 0; f < info->field_cnt; f++)
			dump_field(&info->fields[f],
				   (const char *)rows + i * info->sz + info->fields[f].offset);
		printf("}\n");
	}
	return 0;
}

static int dump(const char *path)
{
	struct obz_reader *r;
	const struct obz_member *m;
	size_t cnt;

	if (obz_reader__open(&r, path))
		return 1;
	m = obz_reader__members(r, &cnt);
	for (size_t i = 0; i < cnt; i++)
		if (m[i].type == OBZ_CHUNK && obz_reader__decode(r, &m[i], dump_rows, NULL))
			return 1;
	obz_reader__close(r);
	return 0;
}

static int tool(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "make"))
		return archive_write(open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600), 42, FLUSHES,
				     ROWS, END_JSON);
	if (argc == 3 && !strcmp(argv[1], "dump"))
		return dump(argv[2]);
	return 2;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/format_archive.XXXXXX", path[64];
	int fd;

	if (argc > 1)
		return tool(argc, argv);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/a.obz", dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(!archive_write(fd, 42, FLUSHES, ROWS, END_JSON));
	test_round_trip(path);
	test_libarchive(path);
	shell("tar tf %s | grep -qx ev/profile/000002.zst && tar xOf %s obz.json | grep -q "
	      "'\"host\":\"box\"'",
	      path);
	shell("bsdtar tf %s >/dev/null && bsdtar xOf %s ev/profile/000001.zst | zstd -dq | grep -q "
	      ".",
	      path);
	shell("cd $(dirname %s) && tar xf %s && zstd -qt ev/*/*.zst .build-id/*/*.zst", path);
	shell("test $(stat -c %%s %s) -eq $(($(stat -c %%s %s) / 512 * 512))", path);
	test_payload();
	test_threads(false);
	test_threads(true);
	test_served();
	test_trim();
	test_kill();
	shell("rm -r $(dirname %s)", path);
	return failed;
}
