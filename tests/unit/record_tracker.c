/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracker's decisions, on side-band records made up here and a /proc of files: who is followed,
 * what image and thread a sample belongs to by its time, pids and tids used again, records older
 * than a scan, lost exits.
 */
#include <string.h>
#include <sys/stat.h>

#include "format/clock.h"
#include "record/process/process_tracker.h"
#include "check.h"
#include "record_fakes.h"

static char root[64];
static uint64_t t0; /* a time after every scan */

static void put(uint32_t pid, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%u", root, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%u/%s", root, pid, name);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
}

/* A process of files; code at 0x10000, in an inode of its own that cannot be opened, unless maps
 * say otherwise. */
static void fake_process(uint32_t pid, uint32_t ppid, const char *comm, const char *cgroup,
			 const char *maps)
{
	char text[512];

	snprintf(text, sizeof(text), "%u (%s) S %u 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 1 0 100 99 1\n",
		 pid, comm, ppid);
	put(pid, "stat", text);
	snprintf(text, sizeof(text),
		 "Name:\t%s\nTgid:\t%u\nPid:\t%u\nUid:\t0\t0\t0\t0\nNSpid:\t%u\t1\n", comm, pid,
		 pid, pid);
	put(pid, "status", text);
	snprintf(text, sizeof(text), "%s\n", comm);
	put(pid, "comm", text);
	snprintf(text, sizeof(text), "0::%s\n", cgroup);
	put(pid, "cgroup", text);
	put(pid, "cmdline", "prog --flag");
	snprintf(text, sizeof(text), "%s/%u/root", root, pid);
	if (symlink("../fs", text) && errno != EEXIST)
		exit(1);
	put(pid, "maps", maps ? maps : "10000-20000 r-xp 00000000 08:01 99    /prog\n");
}

static void fake_task(uint32_t pid, uint32_t tid)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%u/task", root, pid);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%u/task/%u", root, pid, tid);
	mkdir(path, 0755);
}

static void gone(uint32_t pid)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "rm -rf %s/%u", root, pid);
	if (system(cmd))
		exit(1);
}

static struct tracker *make(const struct target_spec *spec)
{
	struct tracker_opts o = {.target = *spec,
				 .writer = FAKE_WRITER,
				 .store = FAKE_STORE,
				 .nursery = fake_nursery,
				 .readers = fake_readers_new(),
				 .epoll_fd = -1,
				 .loss = fake_loss,
				 .proc_root = root};
	struct tracker *t = NULL;

	if (tracker__new(&t, &o) || scan_targets(t))
		return NULL;
	table_publish(t);
	t0 = clock_now_ns() + 1000;
	return t;
}

static void handle(struct tracker *t, struct sideband_record r)
{
	tracker_handle(t, &r);
	table_publish(t);
}

static void begin(struct tracker *t, uint32_t parent, uint32_t pid, uint32_t tid, uint64_t ts)
{
	handle(t, (struct sideband_record){.type = SIDEBAND_FORK,
					   .ts_ns = ts,
					   .pid = pid,
					   .tid = tid,
					   .ppid = parent,
					   .ptid = parent});
}

static void do_fork(struct tracker *t, uint32_t parent, uint32_t child, uint64_t ts)
{
	begin(t, parent, child, child, ts);
}

static void do_exec(struct tracker *t, uint32_t pid, const char *comm, uint64_t ts)
{
	handle(t, (struct sideband_record){.type = SIDEBAND_COMM,
					   .ts_ns = ts,
					   .pid = pid,
					   .tid = pid,
					   .exec = true,
					   .name = span_of(comm)});
}

static void do_exit(struct tracker *t, uint32_t pid, uint32_t tid, uint64_t ts)
{
	handle(t, (struct sideband_record){
			  .type = SIDEBAND_EXIT, .ts_ns = ts, .pid = pid, .tid = tid});
}

static void do_mmap(struct tracker *t, uint32_t pid, uint64_t start, uint64_t inode,
		    const char *path, uint64_t ts)
{
	handle(t, (struct sideband_record){.type = SIDEBAND_MMAP,
					   .ts_ns = ts,
					   .pid = pid,
					   .tid = pid,
					   .start = start,
					   .end = start + 0x10000,
					   .inode = inode,
					   .major = 8,
					   .minor = 1,
					   .name = span_of(path)});
}

static void end(struct tracker *t)
{
	tracker__finish(t);
	tracker__free(t);
	CHECK(!fake_count(0, "BAD", ""), "");
	if (failed)
		fake_dump(0);
	fake_reset();
	for (uint32_t pid = 0; pid < 1000; pid++)
		unwind_store__remove(FAKE_STORE, pid);
}

static uint32_t process_of(struct tracker *t, uint32_t pid, uint32_t tid, uint64_t ts)
{
	uint32_t id = tracker__thread(t, pid, tid, "x", ts);
	struct thread *th;

	for (size_t i = 0; (th = idmap_next(&t->threads, &i));)
		for (; th; th = th->older)
			if (th->id == id && th->process)
				return th->process->id;
	return 0;
}

static void test_inherit(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t;

	fake_process(100, 1, "server", "/a", NULL);
	fake_process(200, 1, "other", "/a", NULL);
	fake_process(102, 101, "server", "/a", NULL);
	t = make(&spec);
	CHECK(fake_range(100, 0x12345) && fake_range(100, 0x12345)->bias == 0x10000,
	      "offset 0 lies at the start");
	CHECK(!fake_proc[200], "");
	do_fork(t, 100, 101, t0);
	do_fork(t, 101, 102, t0 + 1);
	do_fork(t, 200, 201, t0 + 2);
	CHECK(fake_proc[101] && fake_proc[102] && !fake_proc[201], "");
	CHECK(fake_range(102, 0x12345), "a grandchild has the mappings");
	do_mmap(t, 102, 0x50000, 98, "/late.so", t0 + 3);
	CHECK(fake_range(102, 0x50001) && !fake_range(101, 0x50001), "mappings of its own");
	do_mmap(t, 200, 0x50000, 98, "/late.so", t0 + 3);
	CHECK(!fake_proc[200], "");
	do_exec(t, 101, "ls", t0 + 4);
	CHECK(fake_proc[101] && !fake_range(101, 0x12345), "after exec the old mappings are gone");
	CHECK(tracker__live_targets(t) == 3, "");
	CHECK(process_of(t, 101, 101, t0 + 3) != process_of(t, 101, 101, t0 + 4), "by time");
	CHECK(process_of(t, 100, 100, t0 + 9) == process_of(t, 100, 105, t0 + 9),
	      "threads of one process");
	end(t);
	gone(102);
}

static void test_no_inherit(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t = make(&spec);

	CHECK(fake_proc[100]->flags == PROC_TARGET, "");
	do_fork(t, 100, 101, t0);
	CHECK(!fake_proc[101], "");
	do_exec(t, 100, "again", t0 + 1);
	CHECK(fake_proc[100] && tracker__live_targets(t) == 1, "exec does not end a target");
	gone(100);
	do_exit(t, 100, 100, t0 + 2);
	for (int i = 0; i < 100 && tracker__live_targets(t); i++) {
		usleep(1000);
		tracker_check_dying(t, false);
	}
	CHECK(tracker__live_targets(t) == 0 && !fake_proc[100], "");
	do_exec(t, 100, "stranger", t0 + 5000000);
	CHECK(!fake_proc[100], "the number's next owner was not asked for");
	end(t);
	fake_process(100, 1, "server", "/a", NULL);
}

static void test_leader_exits_first(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t = make(&spec);

	put(100, "stat", "100 (server) Z 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 2 0 100 99 1\n");
	do_exit(t, 100, 100, t0 - 900);
	usleep(4000);
	tracker_check_dying(t, false);
	CHECK(tracker__live_targets(t) == 1, "another thread still runs");
	put(100, "stat", "100 (server) Z 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 1 0 100 99 1\n");
	do_exit(t, 100, 105, t0 - 800);
	usleep(4000);
	tracker_check_dying(t, false);
	CHECK(tracker__live_targets(t) == 0, "now all have");
	end(t);
	fake_process(100, 1, "server", "/a", NULL);
}

/* All its threads started in view: /proc, which still shows the process, is not asked. */
static void test_threads_in_view(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t = make(&spec);

	do_fork(t, 100, 101, t0);
	handle(t, (struct sideband_record){.type = SIDEBAND_FORK,
					   .ts_ns = t0 + 10,
					   .pid = 101,
					   .tid = 102,
					   .ppid = 101,
					   .ptid = 101});
	do_exit(t, 101, 101, t0 + 20);
	CHECK(tracker__live_targets(t) == 2, "a thread is left");
	do_exit(t, 101, 102, t0 + 30);
	CHECK(tracker__live_targets(t) == 1 && !fake_proc[101], "the last one has ended");
	do_fork(t, 100, 103, t0 + 40);
	do_exec(t, 103, "program", t0 + 50);
	do_exit(t, 103, 103, t0 + 60);
	CHECK(tracker__live_targets(t) == 1 && !fake_proc[103], "after an exec");
	end(t);
}

static void test_reuse(void)
{
	uint32_t pid = 100, first, second, thread;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t = make(&spec);

	/* A child's pid comes back although its exit was lost. */
	do_fork(t, 100, 101, t0);
	first = process_of(t, 101, 101, t0 + 10);
	do_fork(t, 100, 101, t0 + 100);
	second = process_of(t, 101, 101, t0 + 110);
	CHECK(first && second && first != second, "");
	CHECK(process_of(t, 101, 101, t0 + 50) == first, "a late sample");
	CHECK(tracker__live_targets(t) == 2, "%zu", tracker__live_targets(t));

	/* A tid comes back within one process. */
	thread = tracker__thread(t, 100, 120, "a", t0 + 200);
	CHECK(tracker__thread(t, 100, 120, "a", t0 + 201) == thread, "");
	do_exit(t, 100, 120, t0 + 210);
	CHECK(tracker__thread(t, 100, 120, "a", t0 + 211) == thread, "it runs on a little");
	handle(t, (struct sideband_record){.type = SIDEBAND_FORK,
					   .ts_ns = t0 + 220,
					   .pid = 100,
					   .ppid = 100,
					   .tid = 120,
					   .ptid = 100});
	CHECK(tracker__thread(t, 100, 120, "a", t0 + 230) != thread, "another thread now");
	CHECK(tracker__thread(t, 100, 120, "a", t0 + 205) == thread, "a late sample");

	/* Everything that ended is forgotten in the end. */
	table_sweep(t, t0 + 1000000);
	CHECK(process_of(t, 101, 101, t0 + 110) == second, "");
	CHECK(t->threads.cnt >= 2, "");
	end(t);
}

/* Records from before the scan are in what it read. */
static void test_old_records(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t = make(&spec);
	uint64_t before = table_live(t, 100)->known_ns - 1;

	do_mmap(t, 100, 0x18000, 77, "/gone.so", before);
	CHECK(fake_range(100, 0x18000)->start == 0x10000, "overlaid by an older record");
	do_exec(t, 100, "old", before);
	CHECK(fake_range(100, 0x18000), "");
	do_exit(t, 100, 100, before);
	do_fork(t, 1, 100, before);
	usleep(4000);
	tracker_check_dying(t, false);
	CHECK(tracker__live_targets(t) == 1, "");
	do_mmap(t, 100, 0x18000, 77, "/new.so", t0);
	CHECK(fake_range(100, 0x18000)->start == 0x18000, "");
	end(t);
}

static void test_comm(void)
{
	struct target_spec spec = {.comm = "serv*", .inherit = true};
	struct tracker *t = make(&spec);

	CHECK(fake_proc[100] && !fake_proc[200], "");
	handle(t, (struct sideband_record){.type = SIDEBAND_COMM,
					   .ts_ns = t0,
					   .pid = 200,
					   .tid = 201,
					   .name = span_of("service")});
	CHECK(!fake_proc[200], "a thread's name is not the process's");
	handle(t, (struct sideband_record){.type = SIDEBAND_COMM,
					   .ts_ns = t0,
					   .pid = 200,
					   .tid = 200,
					   .name = span_of("service")});
	CHECK(fake_proc[200] && fake_range(200, 0x12345), "renamed: its mappings are read");
	do_exec(t, 300, "server2", t0);
	CHECK(fake_proc[300], "a later starter");
	do_exec(t, 301, "client", t0);
	CHECK(!fake_proc[301], "");
	do_exec(t, 300, "other", t0 + 1);
	CHECK(fake_proc[300], "inheriting, it stays");
	end(t);
}

static size_t threads_known(struct tracker *t)
{
	struct thread *th;
	size_t n = 0;

	for (size_t i = 0; (th = idmap_next(&t->threads, &i));)
		for (; th; th = th->older)
			n++;
	return n;
}

/* Threads of a process that lives on, whose first sample is handled after their exit. */
static void test_late_threads(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t = make(&spec);

	for (uint32_t tid = 0; tid < 1000; tid++) {
		do_exit(t, 100, 1000 + tid, t0 + tid);
		CHECK(tracker__thread(t, 100, 1000 + tid, "x", t0 + tid), "");
	}
	fake_task(100, 1500);
	CHECK(tracker__thread(t, 100, 1500, "x", t0 + 2000), "");
	table_end_gone(t, t0 + 3000);
	table_sweep(t, t0 + 2999);
	CHECK(threads_known(t) == 1000, "not at once: %zu", threads_known(t));
	table_sweep(t, t0 + 3001);
	CHECK(threads_known(t) == 1, "that which lives: %zu", threads_known(t));
	end(t);
	gone(100);
	fake_process(100, 1, "server", "/a", NULL);
}

/* Libraries come and go at ever new addresses; /proc shows two at a time. */
static void test_unmapped(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t = make(&spec);
	struct process *p = table_live(t, 100);
	size_t most = 0;
	char maps[256];

	for (uint64_t i = 1; i <= 2000; i++) {
		uint64_t now = clock_now_ns();

		snprintf(maps, sizeof(maps),
			 "10000-20000 r-xp 0 08:01 99 /prog\n%llx-%llx r-xp 0 08:01 98 /late.so\n",
			 (unsigned long long)(i << 20), (unsigned long long)((i << 20) + 0x10000));
		put(100, "maps", maps);
		do_mmap(t, 100, i << 20, 98, "/late.so", now);
		scan_ended_maps(t);
		table_publish(t);
		CHECK(fake_range(100, i << 20) && fake_range(100, 0x10000), "%llu",
		      (unsigned long long)i);
		most = p->maps.cnt > most ? p->maps.cnt : most;
	}
	CHECK(most > 2 && most < 100, "%zu", most);
	CHECK(!fake_range(100, 1 << 20), "");
	end(t);
	gone(100);
	fake_process(100, 1, "server", "/a", NULL);
}

static void do_thread(struct tracker *t, uint32_t pid, uint32_t tid, uint64_t ts)
{
	begin(t, pid, pid, tid, ts);
}

/* So many mappings that /proc is asked which are left. */
static void read_again(struct tracker *t, uint32_t pid)
{
	uint64_t ts = clock_now_ns();

	for (uint64_t i = 1; i <= 100; i++)
		do_mmap(t, pid, i << 20, 98, "/late.so", ts);
	scan_ended_maps(t);
	table_publish(t);
}

/* Threads, programs and exits whose records still wait when the mappings are read again. */
static void test_read_again(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t = make(&spec);
	uint64_t queued;

	fake_process(101, 100, "child", "/a", NULL);
	do_fork(t, 100, 101, t0);
	usleep(10);
	queued = clock_now_ns();
	read_again(t, 101);
	do_thread(t, 101, 102, queued);
	do_mmap(t, 101, 0x700000000, 98, "/late.so", queued + 1);
	CHECK(!fake_range(101, 0x700000000), "a mapping that /proc did not show");
	do_exit(t, 101, 102, clock_now_ns());
	CHECK(tracker__live_targets(t) == 2 && fake_proc[101], "its leader lives");
	queued = clock_now_ns();
	read_again(t, 101);
	do_exec(t, 101, "other", queued);
	CHECK(!strcmp(table_live(t, 101)->identity.comm, "other") && !fake_range(101, 0x12345),
	      "%s", table_live(t, 101)->identity.comm);
	do_exit(t, 101, 101, queued + 1);
	CHECK(tracker__live_targets(t) == 1 && !fake_proc[101], "");

	/* /proc shows it no more */
	do_fork(t, 100, 101, clock_now_ns());
	queued = clock_now_ns();
	gone(101);
	read_again(t, 101);
	CHECK(fake_range(101, 1 << 20), "its mappings are kept");
	do_mmap(t, 101, 0x700000000, 98, "/late.so", queued);
	CHECK(fake_range(101, 0x700000000), "and followed");
	do_exit(t, 101, 101, queued + 1);
	CHECK(tracker__live_targets(t) == 1 && !fake_proc[101], "and its exit is seen");
	end(t);
}

/* Those that have ended without a record that says so; of the last, threads are left. */
static void test_ended_unseen(void)
{
	const uint32_t pids[] = {100, 110, 120, 130};
	struct target_spec spec = {.pids = pids, .pid_cnt = 4};
	struct tracker *t;

	for (int i = 1; i < 4; i++)
		fake_process(pids[i], 1, "server", "/a", NULL);
	t = make(&spec);
	gone(110);
	put(120, "stat", "120 (server) Z 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 1 0 100 99 1\n");
	put(130, "stat", "130 (server) Z 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 2 0 100 99 1\n");
	put(130, "maps", "");
	table_end_gone(t, clock_now_ns());
	CHECK(fake_proc[100] && !fake_proc[110] && !fake_proc[120] && fake_proc[130], "");
	CHECK(tracker__live_targets(t) == 2, "%zu", tracker__live_targets(t));
	scan_again(t);
	table_publish(t);
	CHECK(fake_range(130, 0x12345), "a dead leader shows no mappings");
	end(t);
	gone(120);
	gone(130);
}

/* After lost records /proc is read again: mappings, exits, children of children. */
static void test_lost(void)
{
	uint32_t pid = 100;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t = make(&spec);

	fake_process(110, 1, "gone", "/a", NULL);
	do_fork(t, 100, 110, t0);
	gone(110);
	put(100, "maps",
	    "10000-20000 r-xp 0 08:01 99 /prog\n70000-80000 r-xp 0 08:01 97 /new.so\n");
	fake_process(111, 100, "child", "/a", NULL);
	put(111, "stat", "111 (c) S 100 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 1 0 200 99 1\n");
	fake_process(109, 111, "grandchild", "/a", NULL);
	put(109, "stat", "109 (c) S 111 1 1 0 -1 0 1 2 3 4 5 6 7 8 9 10 1 0 300 99 1\n");
	scan_again(t);
	table_publish(t);
	CHECK(fake_range(100, 0x70001) && fake_range(100, 0x10001), "");
	CHECK(!fake_proc[110], "");
	CHECK(fake_proc[111] && fake_proc[109] && !fake_proc[200], "");
	CHECK(tracker__live_targets(t) == 3, "%zu", tracker__live_targets(t));
	end(t);
	gone(109);
	gone(111);
	fake_process(100, 1, "server", "/a", NULL);
}

/* What /proc says, with names that bite. */
static void test_identity(void)
{
	static const char *const env[] = {"APP", "APP_ENV"};
	uint32_t pid = 150;
	struct target_spec spec = {
		.pids = &pid, .pid_cnt = 1, .label_env = env, .label_env_cnt = 2};
	char path[128];
	struct tracker *t;
	FILE *f;

	fake_process(150, 1, "a) b",
		     "/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		     NULL);
	put(150, "comm", "a) b\n");
	snprintf(path, sizeof(path), "%s/150/environ", root);
	f = fopen(path, "w");
	fwrite("PATH=/bin\0APP_ENVX=no\0APP_ENV=prod=1\0SECRET=x\0", 1, 46, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/150/cmdline", root);
	f = fopen(path, "w");
	fwrite("prog\0-x\0\n\0\0\0", 1, 12, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/150/exe", root);
	if (symlink("/opt/my prog\n (deleted)", path))
		exit(1);
	snprintf(path, sizeof(path), "%s/150/root", root);
	unlink(path);
	if (symlink("/opt", path))
		exit(1);
	t = make(&spec);
	tracker__thread(t, 150, 150, "a) b", t0);
	CHECK(strstr(fake_find(0,
			       "process 1 pid=150 ppid=1 ns=1 comm=a) b exe=/my prog\n (deleted) "
			       "cmd=prog -x \n cgroup=/docker/0123",
			       ""),
		     "container=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "),
	      "%s", fake_find(0, "process 1", ""));
	CHECK(fake_count(0, "label ", "") == 1 &&
		      fake_count(0, "label process=1 APP_ENV=prod=1", "") == 1,
	      "");
	CHECK(!fake_count(0, "SECRET", ""), "");
	end(t);
	gone(150);
}

/* A record of a process in no table: it is a target if the kernel side took it for one, else it has
 * a row and nothing more. */
static void test_unknown(void)
{
	uint32_t pid = 170;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t;

	fake_process(170, 1, "asked", "/", NULL);
	fake_process(171, 170, "child", "/", NULL);
	fake_process(172, 1, "sender", "/", NULL);
	t = make(&spec);
	fake_bystander = 172;
	CHECK(tracker__thread(t, 171, 171, "child", t0) &&
		      tracker__thread(t, 172, 172, "sender", t0),
	      "");
	table_publish(t);
	CHECK(tracker__live_targets(t) == 2 && fake_proc[170] && fake_proc[171] && !fake_proc[172],
	      "%zu targets", tracker__live_targets(t));
	CHECK(fake_count(0, "process ", "pid=172") == 1, "");
	end(t);
	fake_bystander = 0;
	gone(170), gone(171), gone(172);
}

/* The file of a mapping has been replaced by another, by a FIFO, or is no ELF. */
static void test_files(void)
{
	uint32_t pid = 160;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	char maps[1024], path[256], self[4096] = "";
	struct stat st_text, st_elf;
	struct tracker *t;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		exit(1);
	fake_process(160, 1, "files", "/", "");
	snprintf(path, sizeof(path), "%s/160/root", root);
	unlink(path);
	mkdir(path, 0755);
	put(160, "root/text", "no ELF here\n");
	snprintf(path, sizeof(path), "%s/160/root/text", root);
	stat(path, &st_text);
	snprintf(path, sizeof(path), "%s/160/root/fifo", root);
	mkfifo(path, 0600);
	snprintf(path, sizeof(path), "%s/160/root/prog", root);
	if (link(self, path) && symlink(self, path))
		exit(1);
	stat(self, &st_elf);
	snprintf(maps, sizeof(maps),
		 "10000-20000 r-xp 0 08:01 %lu /text\n30000-40000 r-xp 0 08:01 5 /fifo\n"
		 "50000-60000 r-xp 0 08:01 12345 /text\n70000-80000 r-xp 0 08:01 %lu /prog\n"
		 "90000-a0000 r-xp 0 08:01 %lu /../../../../../../etc/passwd\n"
		 "ffffffffff600000-ffffffffff601000 --xp 0 00:00 0 [vsyscall]\n",
		 (unsigned long)st_text.st_ino, (unsigned long)st_elf.st_ino, 777777UL);
	put(160, "maps", maps);
	t = make(&spec);
	CHECK(t, "");
	CHECK(!fake_range(160, 0x10000) && fake_proc[160]->jit, "text is taken for generated code");
	CHECK(!fake_range(160, 0x30000), "a FIFO is not opened");
	CHECK(fake_range(160, 0x50000) && fake_range(160, 0x50000)->flags == RANGE_FP,
	      "not the file that was mapped");
	CHECK(!fake_range(160, 0xffffffffff600000), "");
	tracker__hit(t, fake_range(160, 0x50000)->binary, 0);
	CHECK(fake_count(0, "debuginfo ", "symbols=none why=the file was replaced") == 1, "");
	CHECK(fake_count(0, "loss binary: the file was replaced", "") == 1, "");
	end(t);
	gone(160);
}

/* A file of holes that claims a .eh_frame of 7 GiB. */
static void write_holes(const char *path)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	const uint64_t size = 8ULL << 30;
	Elf64_Ehdr eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			 .e_type = ET_DYN,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_phoff = sizeof(eh),
			 .e_shoff = size - 4096,
			 .e_ehsize = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 3,
			 .e_shstrndx = 2};
	Elf64_Phdr ph = {.p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_filesz = size,
			 .p_memsz = size,
			 .p_align = 4096};
	Elf64_Shdr sh[3] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC,
		 .sh_addr = 4096,
		 .sh_offset = 4096,
		 .sh_size = 7ULL << 30,
		 .sh_addralign = 8},
		{.sh_name = 11,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = size - 2048,
		 .sh_size = sizeof(names)},
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);

	if (pwrite(fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    pwrite(fd, &ph, sizeof(ph), sizeof(eh)) != sizeof(ph) ||
	    pwrite(fd, sh, sizeof(sh), size - 4096) != sizeof(sh) ||
	    pwrite(fd, names, sizeof(names), size - 2048) != sizeof(names) || ftruncate(fd, size))
		exit(1);
	close(fd);
}

/* Bytes that this process has read from files. */
static uint64_t bytes_read(void)
{
	uint64_t n = 0;
	FILE *f = fopen("/proc/self/io", "r");

	if (f && fscanf(f, "rchar: %lu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static void test_holes(void)
{
	uint32_t pid = 170;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	char maps[256], path[256];
	uint64_t before = bytes_read();
	unsigned tables = fake_tables;
	struct tracker *t;
	struct stat st;

	fake_process(170, 1, "holes", "/", "");
	snprintf(path, sizeof(path), "%s/fs/holes", root);
	write_holes(path);
	stat(path, &st);
	snprintf(maps, sizeof(maps), "10000-20000 r-xp 0 08:01 %lu /holes\n",
		 (unsigned long)st.st_ino);
	put(170, "maps", maps);
	t = make(&spec);
	CHECK(t && fake_range(170, 0x10000) && fake_range(170, 0x10000)->flags == RANGE_FP, "");
	CHECK(fake_tables == tables, "no table of 7 GiB");
	tracker__hit(t, fake_range(170, 0x10000)->binary, 0);
	CHECK(fake_count(0, "loss unwind table: implausibly large", "") == 1, "");
	CHECK(fake_count(0, "binary 1 id=sha1:", "size=8589934592") == 1, "");
	CHECK(bytes_read() - before < 1 << 30, "%.1f GB read", (bytes_read() - before) / 1e9);
	end(t);
	unlink(path);
	gone(170);
}

int main(void)
{
	char cmd[256];

	setvbuf(stdout, NULL, _IONBF, 0);
	message_init("tracker", -1);
	strcpy(root, "/tmp/tracker.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	snprintf(cmd, sizeof(cmd), "mkdir %s/fs && cd %s/fs && touch prog late.so gone.so new.so",
		 root, root);
	if (system(cmd) || nursery__new(&fake_nursery, root))
		return 1;
	test_inherit();
	test_no_inherit();
	test_leader_exits_first();
	test_threads_in_view();
	test_reuse();
	test_old_records();
	test_comm();
	test_late_threads();
	test_unmapped();
	test_read_again();
	test_ended_unseen();
	test_lost();
	test_identity();
	test_unknown();
	test_files();
	test_holes();
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	fake_readers_free();
	nursery__free(fake_nursery);
	fake_free();
	return system(cmd) || failed;
}
