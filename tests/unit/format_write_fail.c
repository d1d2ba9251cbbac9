/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes that fail: a full device, a file size limit at every member, a full tmpfs, a closed pipe,
 * the archive's own bound. What was written stays a valid archive, later calls fail, rows that were
 * lost are counted, the end is written where there is room for it.
 */
#include "format/writer.h"
#include "format_archive.h"

#include <json-c/json.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct obz_writer_opts plain = {.header_json = HEADER_JSON};

enum { WEIGHT = 3 }; /* samples that a row stands for */

/* Rows that do not compress to nothing; a chunk of each is some KiB. */
static int put_rows(struct obz_writer *w, uint64_t from, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct rec_sample s = {
			.ts_ns = from + i, .thread = i % 7, .value = random_u64(), .count = WEIGHT};
		int e = obz_writer__put(w, REC_sample, &s);

		err = err ? err : e;
	}
	return err;
}

/* How many samples the end says were not written. */
static uint64_t lost_samples(int fd)
{
	struct obz_reader *r;
	struct json_object *end, *losses;
	uint64_t lost = 0;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!obz_reader__open(&r, path) && obz_reader__end(r)) {
		end = json_tokener_parse(obz_reader__end(r));
		losses = json_object_object_get(end, "losses");
		for (size_t i = 0; i < json_object_array_length(losses); i++) {
			struct json_object *o = json_object_array_get_idx(losses, i);

			if (!strcmp(json_object_get_string(json_object_object_get(o, "cause")),
				    "sample: not written"))
				lost = json_object_get_uint64(json_object_object_get(o, "count"));
		}
		json_object_put(end);
	}
	obz_reader__close(r);
	return lost;
}

static struct obz_written told; /* by the writer, of what it wrote */
static int debug_fd;
static bool served; /* another thread encodes and writes */

static void *serve(void *w)
{
	obz_writer__serve(w);
	return NULL;
}

/* Writes until an error, then closes. put: how many samples were tried. */
static int write_until_error(int fd, const struct obz_writer_opts *opts, size_t flushes,
			     uint64_t *put, bool *ended)
{
	struct obz_writer *w;
	int err = obz_writer__new(&w, fd, opts);
	pthread_t server;

	*put = 0;
	*ended = false;
	if (err) {
		close(fd);
		return err;
	}
	if (served)
		CHECK(!pthread_create(&server, NULL, serve, w));
	for (size_t i = 0; i < flushes && !err; i++) {
		struct rec_thread t = {.id = i + 1};

		err = put_rows(w, i * 1000, 300);
		*put += 300;
		if (!err)
			err = obz_writer__put(w, REC_thread, &t);
		if (!err)
			err = obz_writer__flush(w);
		if (!err && i == 1)
			obz_writer__add(w, debug_names[0], debug_fd,
					9000); /* may fail: rows go on */
	}
	if (served) {
		obz_writer__dismiss(w);
		pthread_join(server, NULL);
		err = err ? err : obz_writer__flush(w);
	}
	if (err) {
		CHECK(*obz_writer__error(w));
		/* the error is sticky for rows of the stream */
		CHECK(put_rows(w, 0, 1));
		*put += 1;
	}
	*ended = !obz_writer__close_to(w, END_JSON, &told);
	CHECK(*ended == !*told.error && told.end_json);
	free(told.end_json);
	return err;
}

/* What is in the file is whole to the last member, and rows are either there or counted as lost. */
static void check_rest(int fd, uint64_t put, bool ended, const char *what, uint64_t limit)
{
	struct reading got = archive_read(fd);
	uint64_t samples = 0, lost = lost_samples(fd);

	if (got.err) {
		CHECK(!ended && got.err == -EBADMSG, "%s %llu: %d %s", what,
		      (unsigned long long)limit, got.err, got.error);
		return;
	}
	CHECK(got.end == ended, "%s %llu: end %d", what, (unsigned long long)limit, got.end);
	CHECK(got.good_chunks == got.chunks && !got.damage.lost_chunks &&
		      !got.damage.skipped_bytes && !got.damage.refused,
	      "%s %llu: %zu of %zu chunks good, %llu bytes skipped", what,
	      (unsigned long long)limit, got.good_chunks, got.chunks,
	      (unsigned long long)got.damage.skipped_bytes);
	samples = got.samples * WEIGHT;
	CHECK(!ended || samples + lost == put * WEIGHT,
	      "%s %llu: %llu samples, %llu lost, %llu put", what, (unsigned long long)limit,
	      (unsigned long long)samples, (unsigned long long)lost,
	      (unsigned long long)put * WEIGHT);
	if (!put) /* not even a header: nothing was told */
		return;
	CHECK(told.samples == samples, "%s %llu: %llu samples, %llu told", what,
	      (unsigned long long)limit, (unsigned long long)samples,
	      (unsigned long long)told.samples);
	CHECK(told.bytes == (uint64_t)lseek(fd, 0, SEEK_END), "%s %llu: %llu bytes told", what,
	      (unsigned long long)limit, (unsigned long long)told.bytes);
}

static void test_dev_full(void)
{
	struct obz_writer *w;
	int fd = open("/dev/full", O_WRONLY);

	if (fd < 0)
		return;
	CHECK(obz_writer__new(&w, fd, &plain) == -ENOSPC);
	close(fd);
}

/* RLIMIT_FSIZE is the kernel's own knife: SIGXFSZ and short writes at any byte. */
static void test_file_limit(void)
{
	for (uint64_t limit = 100; limit < 40000; limit += 511) {
		int fd = memfd_create("limit", 0);
		struct rlimit was, now;
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			failed = 0;
			uint64_t put;
			bool ended;
			int mine = dup(fd), err;

			getrlimit(RLIMIT_FSIZE, &was);
			now = (struct rlimit){limit, was.rlim_max};
			setrlimit(RLIMIT_FSIZE, &now);
			err = write_until_error(mine, &plain, 8, &put, &ended);
			setrlimit(RLIMIT_FSIZE, &was);
			CHECK(!err || err == -EFBIG, "limit %llu: %d", (unsigned long long)limit,
			      err);
			CHECK(ended || !put, "limit %llu: no room was left for the end",
			      (unsigned long long)limit);
			check_rest(fd, put, ended, "file size", limit);
			fflush(stdout);
			_exit(failed);
		}
		waitpid(pid, &status, 0);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "limit %llu: status %x",
		      (unsigned long long)limit, status);
		close(fd);
	}
}

/* A small file system that fills up; freed blocks may take the end. Needs a mount namespace. */
static void test_tmpfs(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		uint64_t put;
		bool ended;
		int fd, err;

		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount("tmpfs", "/mnt", "tmpfs", 0, "size=64k")) {
			printf("no tmpfs may be mounted here: not tested\n");
			fflush(stdout);
			_exit(0);
		}
		fd = open("/mnt/full.obz", O_RDWR | O_CREAT, 0600);
		err = write_until_error(dup(fd), &plain, 100, &put, &ended);
		CHECK(err == -ENOSPC, "%d", err);
		CHECK(ended, "no room was found for the end");
		check_rest(fd, put, ended, "tmpfs", 65536);
		fflush(stdout);
		_exit(failed);
	}
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The reader goes away after some bytes: EPIPE, no signal. */
static void test_pipe(void)
{
	for (size_t keep = 0; keep < 60000; keep += 7001) {
		char *sunk = malloc(keep + 1);
		int p[2], scratch = memfd_create("scratch", 0);
		uint64_t put = 0;
		bool ended = true;
		size_t got = 0;
		pid_t pid;

		CHECK(!pipe(p));
		fcntl(p[1], F_SETPIPE_SZ, 4096);
		pid = fork();
		if (pid == 0) {
			failed = 0;
			int err;

			close(p[0]);
			err = write_until_error(p[1], &plain, 40, &put, &ended);
			_exit(err == -EPIPE && !ended ? 0 : 1);
		}
		close(p[1]);
		while (got < keep) {
			ssize_t n = read(p[0], sunk + got, keep - got);

			if (n <= 0)
				break;
			got += n;
		}
		close(p[0]);
		int status;
		waitpid(pid, &status, 0);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "after %zu bytes: status %x", keep,
		      status);
		if (got > 10000) {
			struct reading r = archive_read_bytes(scratch, (uint8_t *)sunk, got);

			CHECK(!r.err && r.header && r.damage.cut && r.good_chunks == r.chunks);
		}
		free(sunk);
		close(scratch);
	}
}

/* Rows until so much waits that no more should come; the reader has not read a byte. */
static struct obz_writer *stall(int fd, pthread_t *server, uint64_t *put)
{
	struct obz_writer *w;

	CHECK(!obz_writer__new(&w, fd, &plain));
	CHECK(!pthread_create(server, NULL, serve, w));
	while (!w->served)
		sched_yield();
	for (*put = 0; !obz_writer__behind(w) && *put < 20000000; *put += 1000)
		CHECK(!put_rows(w, *put, 1000)); /* and returns */
	CHECK(obz_writer__behind(w));
	CHECK(!obz_writer__flush(w));
	obz_writer__hurry(w);
	CHECK(!obz_writer__behind(w));
	return w;
}

/* The reader of a pipe stands still: rows do not wait for it, and in the end nobody does. */
static void test_stalled_reader(void)
{
	struct obz_writer *w;
	pthread_t server;
	uint64_t put;
	int p[2];

	CHECK(!pipe(p));
	w = stall(p[1], &server, &put);
	obz_writer__dismiss(w);
	pthread_join(server, NULL);
	CHECK(obz_writer__finish(w) == -ETIMEDOUT);
	CHECK(obz_writer__close_to(w, END_JSON, &told) == -ETIMEDOUT);
	CHECK(strstr(told.error, "did not read"), "%s", told.error);
	CHECK(told.end_json && strstr(told.end_json, "sample: not written"));
	CHECK(!told.samples, "%llu", (unsigned long long)told.samples);
	free(told.end_json);
	close(p[0]);
}

struct slow {
	int from, to;
};

static void *read_slowly(void *arg)
{
	struct slow *s = arg;
	char piece[PIPE_BUF];
	ssize_t n;

	while ((n = read(s->from, piece, sizeof(piece))) > 0) {
		CHECK(write(s->to, piece, n) == n);
		sched_yield();
	}
	return NULL;
}

/* It goes on in the end: all is written, however long that takes. */
static void test_slow_reader(void)
{
	struct slow s = {.to = memfd_create("slow", 0)};
	pthread_t server, reader;
	struct obz_writer *w;
	struct reading got;
	uint64_t put;
	int p[2];

	CHECK(!pipe(p) && !fcntl(p[1], F_SETFL, O_NONBLOCK));
	s.from = p[0];
	w = stall(p[1], &server, &put);
	CHECK(!pthread_create(&reader, NULL, read_slowly, &s));
	obz_writer__dismiss(w);
	pthread_join(server, NULL);
	CHECK(!obz_writer__finish(w));
	CHECK(!obz_writer__close_to(w, END_JSON, &told));
	free(told.end_json);
	pthread_join(reader, NULL);
	got = archive_read(s.to);
	CHECK(!got.err && got.end && !obz_damage_any(&got.damage) && got.samples == put,
	      "%llu of %llu rows", (unsigned long long)got.samples, (unsigned long long)put);
	close(s.to);
	close(p[0]);
}

/* --max-size: never passed, and the end and late identity rows still find room. */
static void test_max_size(void)
{
	static const uint64_t limits[] = {64 << 10,  80 << 10, 100 << 10, 200 << 10,
					  400 << 10, 1 << 20,  3 << 20};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		struct obz_writer_opts opts = {.header_json = HEADER_JSON, .max_sz = limits[i]};
		int fd = memfd_create("max", 0), copy = dup(fd), err = 0;
		struct obz_writer *w;
		uint64_t put = 0;
		struct reading got;

		CHECK(!obz_writer__new(&w, fd, &opts));
		while (!err) {
			err = put_rows(w, put, 100);
			put += 100;
			if (!err && put % 20000 == 0)
				err = obz_writer__flush(w);
		}
		CHECK(err == OBZ_MAX_SIZE && strstr(obz_writer__error(w), "size limit"), "%d %s",
		      err, obz_writer__error(w));
		for (uint32_t n = 0; n < 300; n++) {
			struct rec_thread t = {
				.id = n, .tid = random_u64(), .comm = {random_text + n, 15}};

			CHECK(!obz_writer__put(w, REC_thread, &t), "limit %llu: identity row %u",
			      (unsigned long long)limits[i], n);
		}
		CHECK(!obz_writer__close_to(w, END_JSON, &told));
		free(told.end_json);
		got = archive_read(copy);
		CHECK(!got.err && got.end && !obz_damage_any(&got.damage));
		CHECK(got.samples && told.samples == got.samples * WEIGHT,
		      "limit %llu: %llu samples, %llu told", (unsigned long long)limits[i],
		      (unsigned long long)got.samples * WEIGHT, (unsigned long long)told.samples);
		CHECK((uint64_t)lseek(copy, 0, SEEK_END) <= limits[i], "%lld of %llu",
		      (long long)lseek(copy, 0, SEEK_END), (unsigned long long)limits[i]);
		CHECK(told.samples + lost_samples(copy) == put * WEIGHT &&
			      got.rows >= got.samples + 300,
		      "%llu + %llu of %llu", (unsigned long long)got.samples,
		      (unsigned long long)lost_samples(copy), (unsigned long long)put);
		close(copy);
	}
}

/* Records no chunk can hold, kinds that are none, names that are not ours. */
static void test_misuse(void)
{
	int fd = memfd_create("misuse", 0), data = memfd_create("data", 0);
	char *big = calloc(1, 200000);
	uint64_t *list = calloc(90000, 8);
	struct rec_stack stack = {.frames = {list, 90000}};
	struct rec_label label = {.key = {big, 200000}};
	struct obz_writer *w;
	struct obz_writer_opts opts = plain;

	opts.header_json = "not JSON";
	CHECK(obz_writer__new(&w, fd, &opts) == -EINVAL);
	CHECK(!obz_writer__new(&w, fd, &plain));
	CHECK(obz_writer__put(w, REC_stack, &stack) == -E2BIG);
	CHECK(!obz_writer__put(w, REC_label, &label)); /* cut at 65535 */
	CHECK(obz_writer__put(w, 62, &label) == -EINVAL &&
	      obz_writer__put(w, 1000, &label) == -EINVAL);
	CHECK(obz_writer__add(w, "../etc/passwd", data, 0) == -EINVAL);
	CHECK(obz_writer__add(w, "ev/profile/000000.zst", data, 0) == -EINVAL);
	CHECK(obz_writer__add(w, debug_names[0], data, 100) == -EIO); /* shorter than said */
	CHECK(!obz_writer__add(w, debug_names[0], data, 0));
	CHECK(!obz_writer__close(w, END_JSON));
	close(data);
	free(big);
	free(list);
}

int main(void)
{
	random_seed(3);
	setvbuf(stdout, NULL, _IOLBF, 0); /* before forks */
	debug_fd = memfd_create("data", 0);
	CHECK(write(debug_fd, random_text, 9000) == 9000);
	test_dev_full();
	for (int i = 0; i < 2; i++) {
		served = i;
		test_file_limit();
		test_tmpfs();
		test_pipe();
		test_max_size();
	}
	test_stalled_reader();
	test_slow_reader();
	test_misuse();
	return failed;
}
