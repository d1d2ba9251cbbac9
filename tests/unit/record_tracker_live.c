/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracker on real processes: a worker (this program again) forks, execs, maps and unmaps
 * libraries, starts threads and exits on command, and after each step what the tracker published is
 * compared with /proc/PID/maps.
 */
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "format/clock.h"
#include "record/binary/binary_registry.h"
#include "record/process/process_tracker.h"
#include "record/host/procfs.h"
#include "check.h"
#include "record_fakes.h"

static char dir[64], self_exe[4096], lib[128];
static int epoll_fd;
static unsigned tested_cgroups;
static bool keep_files = true;

/* ---- the worker: one command a line on stdin, one answer a line on stdout ---- */

static void *idle(void *arg)
{
	pause();
	return NULL;
}

static int worker(void)
{
	char line[4200], *arg;
	void *handle = NULL;
	pthread_t th;

	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%d\n", getpid());
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		arg = strchr(line, ' ');
		if (arg)
			*arg++ = 0;
		if (!strcmp(line, "dlopen")) {
			handle = dlopen(arg, RTLD_NOW);
			printf("%p\n", handle);
		} else if (!strcmp(line, "dlclose")) {
			printf("%d\n", dlclose(handle));
		} else if (!strcmp(line, "thread")) {
			pthread_create(&th, NULL, idle, NULL);
			printf("%d\n", gettid());
		} else if (!strcmp(line, "fork")) {
			pid_t pid = fork();

			if (!pid) {
				pause();
				_exit(0);
			}
			printf("%d\n", pid);
		} else if (!strcmp(line, "jit")) {
			char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char path[64];
			FILE *f;

			snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
			f = fopen(path, "w");
			fprintf(f, "%lx 100 old name\n%lx 40 fn one\n%lx 40 fn two\n", (long)p,
				(long)p, (long)p + 64);
			fclose(f);
			printf("%p\n", p);
		} else if (!strcmp(line, "exec")) {
			execl(arg, arg, "worker", NULL);
		} else if (!strcmp(line, "name")) {
			prctl(PR_SET_NAME, arg);
			printf("ok\n");
		} else if (!strcmp(line, "exit")) {
			return 0;
		}
	}
	return 0;
}

struct worker {
	pid_t pid;
	FILE *to, *from;
};

static long answer(struct worker *w)
{
	char line[64] = "-1";

	if (!fgets(line, sizeof(line), w->from))
		return -1;
	return strtol(line, NULL, 0);
}

static struct worker start(const char *exe, int clone_flags)
{
	struct worker w;
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(1);
	w.pid = syscall(SYS_clone, SIGCHLD | clone_flags, NULL, NULL, NULL, NULL);
	if (!w.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		if (clone_flags & CLONE_NEWNS) {
			/* The program may itself lie below /tmp. */
			int fd = open(exe, O_RDONLY | O_CLOEXEC);

			if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			    mount("none", "/tmp", "tmpfs", 0, NULL))
				_exit(77);
			fexecve(fd, (char *[]){(char *)exe, "worker", NULL}, environ);
		}
		execl(exe, exe, "worker", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	w.to = fdopen(in[1], "w");
	w.from = fdopen(out[0], "r");
	setvbuf(w.to, NULL, _IONBF, 0);
	answer(&w);
	return w;
}

static long tell(struct worker *w, const char *fmt, const char *arg)
{
	fprintf(w->to, fmt, arg);
	return answer(w);
}

static void stop(struct worker *w)
{
	fclose(w->to);
	fclose(w->from);
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
}

/* ---- the tracker ---- */

static struct tracker *track(const struct target_spec *spec, int *err)
{
	struct tracker_opts o = {.target = *spec,
				 .writer = FAKE_WRITER,
				 .store = FAKE_STORE,
				 .debuginfo = FAKE_DEBUGINFO,
				 .nursery = fake_nursery,
				 .readers = fake_readers_new(),
				 .epoll_fd = epoll_fd,
				 .loss = fake_loss};
	struct tracker *t = NULL;

	*err = tracker__new(&t, &o);
	if (!*err && !keep_files)
		t->binaries->fds_max = 0;
	if (!*err)
		*err = tracker__start(t);
	if (*err == -EPERM || *err == -EOPNOTSUPP) {
		printf("no privilege for perf events\n");
		exit(77);
	}
	if (*err) {
		tracker__free(t);
		t = NULL;
	}
	return t;
}

/* As the session does: on a record or every 10 ms. */
static void follow(struct tracker *t, int ms)
{
	uint64_t end = clock_now_ns() + ms * 1000000ULL;

	do {
		struct epoll_event ev;

		epoll_wait(epoll_fd, &ev, 1, 10);
		tracker__drain(t);
	} while (clock_now_ns() < end);
}

/* Until it holds, however late others come to it; a minute is a failure on any machine. */
#define FOLLOW_UNTIL(t, cond)                                                                      \
	do {                                                                                       \
		uint64_t end_ns = clock_now_ns() + 60000000000;                                    \
                                                                                                   \
		while (!(cond) && clock_now_ns() < end_ns)                                         \
			follow(t, 10);                                                             \
	} while (0)

static bool readable(int fd)
{
	return poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) == 1;
}

struct compare {
	struct tracker *t;
	pid_t pid;
	unsigned maps, missing;
};

static int compare_map(void *ctx, const struct maps_line *l)
{
	struct compare *c = ctx;
	const struct range *first, *last;

	if (!l->exec || (!l->inode && strncmp(l->path.p, "[vdso]", 6)))
		return 0;
	c->maps++;
	first = fake_range(c->pid, l->start);
	last = fake_range(c->pid, l->end - 1);
	if (!first || first != last || !(first->flags & RANGE_TABLE) || !first->binary) {
		printf("pid %d: %.*s at %llx is not published\n", c->pid, (int)l->path.len,
		       l->path.p, (unsigned long long)l->start);
		c->missing++;
	}
	return 0;
}

/* Every mapped file's code is published. Returns how many mappings there are. */
static unsigned same_as_proc(pid_t pid)
{
	struct compare c = {.pid = pid};
	int proc = procfs_open(NULL);

	procfs_each_map(proc, pid, compare_map, &c);
	close(proc);
	CHECK(!c.missing && c.maps, "pid %d: %u of %u mappings are missing", pid, c.missing,
	      c.maps);
	return c.maps;
}

static void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	char buf[65536];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			exit(1);
	close(in);
	close(out);
}

static void end(struct tracker *t)
{
	tracker__finish(t);
	tracker__free(t);
	CHECK(!fake_count(0, "BAD", ""), "%s", fake_find(0, "BAD", ""));
	CHECK(!fake_count(0, "loss side-band", ""), "%s", fake_find(0, "loss side-band", ""));
	if (failed)
		fake_dump(0);
	fake_reset();
}

/* ---- the tests ---- */

static void test_life(void)
{
	struct worker w = start(self_exe, 0);
	uint32_t pid = w.pid, p1, p2;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	uint64_t base;
	unsigned before;
	char text[4200];
	long child;
	int err;
	struct tracker *t = track(&spec, &err);

	before = same_as_proc(pid);
	CHECK(fake_proc[pid]->flags == (PROC_TARGET | PROC_INHERIT), "");
	CHECK(fake_proc[getpid()] && fake_proc[getpid()]->flags == PROC_IGNORE, "");
	CHECK(tracker__live_targets(t) == 1, "");
	p1 = tracker__thread(t, pid, pid, "worker", clock_now_ns());
	snprintf(text, sizeof(text), " exe=%s", self_exe);
	CHECK(fake_count(0, "process 1 pid=", text) == 1, "");

	base = tell(&w, "dlopen %s\n", lib);
	follow(t, 20);
	CHECK(same_as_proc(pid) == before + 1, "");
	CHECK(base != (uint64_t)-1 && base, "");
	tell(&w, "dlclose\n", NULL);
	tell(&w, "thread\n", NULL);
	tell(&w, "name renamed\n", NULL);
	follow(t, 20);
	same_as_proc(pid);
	CHECK(tracker__thread(t, pid, pid, "renamed", clock_now_ns()) == p1,
	      "a new name is no new thread");
	CHECK(fake_count(0, "thread 1 ", "comm=renamed") == 1, "");

	child = tell(&w, "fork\n", NULL);
	follow(t, 20);
	same_as_proc(child);
	CHECK(tracker__live_targets(t) == 2, "%zu", tracker__live_targets(t));
	tracker__thread(t, child, child, "renamed", clock_now_ns());
	snprintf(text, sizeof(text), "pid=%ld ppid=%d", child, (int)pid);
	CHECK(fake_count(0, "process 2 ", text) == 1, "");
	kill(child, SIGKILL);
	FOLLOW_UNTIL(t, tracker__live_targets(t) == 1);
	CHECK(tracker__live_targets(t) == 1, "a zombie has ended, waited for or not: %zu",
	      tracker__live_targets(t));

	base = clock_now_ns();
	p1 = fake_lines;
	tell(&w, "exec %s\n", self_exe);
	follow(t, 50);
	same_as_proc(pid);
	p2 = tracker__thread(t, pid, pid, "x", clock_now_ns());
	CHECK(tracker__thread(t, pid, pid, "renamed", base - 1) != p2,
	      "a sample before the exec is of the old image");
	CHECK(fake_count(p1, "exit 1 ", "") == 1, "");
	CHECK(fake_count(p1, "process 3 ", self_exe) == 1, "");
	fputs("exit\n", w.to);
	FOLLOW_UNTIL(t, !tracker__live_targets(t));
	CHECK(tracker__live_targets(t) == 0, "%zu", tracker__live_targets(t));
	CHECK(fake_count(p1, "exit 3 ", "") == 1, "");
	CHECK(!fake_proc[pid], "");
	stop(&w);
	end(t);
}

/* From the first instruction, as -- COMMAND is recorded: the target waits before its exec. */
static void test_command(void)
{
	int go[2], there[2], err;
	uint32_t pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t;
	char c;

	if (pipe2(go, O_CLOEXEC) || pipe2(there, O_CLOEXEC))
		exit(1);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1 && dup2(go[0], 0) == 0 && dup2(there[1], 1) == 1)
			execl("/bin/sh", "sh", "-c", "echo; read end; sleep 0.05; exit 3", NULL);
		_exit(1);
	}
	close(there[1]);
	t = track(&spec, &err);
	if (write(go[1], "x", 1) != 1)
		exit(1);
	FOLLOW_UNTIL(t, readable(there[0]));
	follow(t, 20);
	same_as_proc(pid);
	tracker__thread(t, pid, pid, "sh", clock_now_ns());
	CHECK(strstr(fake_find(0, "process ", "comm=sh "), "cmd=sh -c echo"), "%s",
	      fake_find(0, "process ", ""));
	close(go[1]); /* what it reads ends, and it with that */
	waitpid(pid, NULL, 0);
	FOLLOW_UNTIL(t, !tracker__live_targets(t));
	CHECK(tracker__live_targets(t) == 0, "%zu", tracker__live_targets(t));
	close(go[0]);
	close(there[0]);
	end(t);
}

/* Hits: binaries and mappings are written once, those never hit are not. */
static void test_hits(void)
{
	struct worker w = start(self_exe, 0);
	uint32_t pid = w.pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	const struct range *r;
	uint64_t frame;
	int err;
	struct tracker *t = track(&spec, &err);

	r = &fake_proc[pid]->range[0];
	tracker__thread(t, pid, pid, "worker", clock_now_ns());
	tracker__hit(t, r->binary, r->start - r->bias);
	tracker__hit(t, r->binary, r->start - r->bias);
	frame = tracker__frame(t, pid, r->start + 16);
	CHECK(frame_binary(frame) == r->binary && frame_address(frame) == r->start + 16 - r->bias,
	      "");
	CHECK(tracker__frame(t, pid, 4096) == 4096, "an address in no mapping");
	tracker__finish(t);
	CHECK(fake_count(0, "binary ", "") == 1, "");
	CHECK(fake_count(0, "want ", "elf=1 root=1") == 1, "");
	CHECK(fake_count(0, "mapping process=1", "") == 1, "");
	tracker__reanchor(t);
	CHECK(fake_count(0, "binary ", "") == 2 && fake_count(0, "mapping ", "") == 2 &&
		      fake_count(0, "process 1 ", "") == 2 && fake_count(0, "thread 1 ", "") == 2,
	      "everything written once more");
	stop(&w);
	end(t);
}

/* The program and a library are deleted, the library then replaced by a FIFO and by another file.
 */
static void test_deleted(void)
{
	char exe[128], so[128];
	struct worker w;
	uint32_t pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t;
	unsigned tables = fake_tables;
	int err;

	snprintf(exe, sizeof(exe), "%s/a program\nwith newline", dir);
	snprintf(so, sizeof(so), "%s/lib (deleted)", dir);
	copy_file(self_exe, exe);
	copy_file(lib, so);
	w = start(exe, 0);
	pid = w.pid;
	CHECK(tell(&w, "dlopen %s\n", so) > 0, "");
	unlink(exe);
	unlink(so);
	mkfifo(so, 0600);
	mkfifo(exe, 0600);
	t = track(&spec, &err);
	if (access("/proc/self/map_files", X_OK)) {
		printf("no access to map_files\n");
		exit(77);
	}
	same_as_proc(pid);
	CHECK(fake_tables > tables, "");
	for (uint32_t id = 1; id < 20; id++)
		tracker__hit(t, id, 0);
	CHECK(fake_count(0, "want ", "a program\nwith newline id=") == 1, "");
	CHECK(fake_count(0, "want ", "/lib (deleted) id=") == 1 ||
		      fake_count(0, "want", "/lib id=") == 1,
	      "");
	CHECK(!fake_count(0, "debuginfo ", ""), "all readable");
	unlink(so);
	unlink(exe);
	stop(&w);
	end(t);
}

/* Beyond the bound of descriptors files are opened again when they are hit, as long as the process
 * lives. */
static void test_reopen(void)
{
	struct worker w = start(self_exe, 0);
	uint32_t pid = w.pid, cnt;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t;
	int err;

	keep_files = false;
	t = track(&spec, &err);
	keep_files = true;
	cnt = binaries__loaded(t->binaries);
	CHECK(t->binaries->fds == 0 && cnt > 3, "%u", cnt);
	for (uint32_t id = 1; id < cnt; id++)
		tracker__hit(t, id, 0);
	CHECK(fake_count(0, "want ", "elf=1") == cnt - 1, "");
	CHECK(t->binaries->fds == 0, "");
	stop(&w);
	tracker__hit(t, cnt, 0);
	CHECK(fake_count(0, "debuginfo ", "why=the file was removed before it was read") >= 1, "");
	end(t);
}

/* A program in a memfd, a library of memory that is no ELF file. */
static void test_memfd(void)
{
	int fd = memfd_create("program", MFD_CLOEXEC), in = open(self_exe, O_RDONLY | O_CLOEXEC);
	char buf[65536], path[64];
	ssize_t n;
	struct worker w;
	uint32_t pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1};
	struct tracker *t;
	int err;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(fd, buf, n) != n)
			exit(1);
	close(in);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	w = start(path, 0);
	pid = w.pid;
	t = track(&spec, &err);
	same_as_proc(pid);
	for (uint32_t id = 1; id < 20; id++)
		tracker__hit(t, id, 0);
	CHECK(fake_count(0, "want ", "path=/memfd:program id=") == 1, "");
	close(fd);
	stop(&w);
	end(t);
}

/* Names of generated code, from the map file of another mount and pid namespace. */
static void test_perfmap(void)
{
	struct worker w = start(self_exe, CLONE_NEWPID | CLONE_NEWNS);
	uint32_t pid = w.pid, jit, process;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	struct tracker *t;
	uint64_t code;
	char text[64];
	int err;

	t = track(&spec, &err);
	CHECK(fake_proc[pid]->jit == 0, "");
	code = tell(&w, "jit\n", NULL);
	follow(t, 20);
	jit = fake_proc[pid]->jit;
	CHECK(jit, "memory with generated code was not noticed");
	CHECK(frame_binary(tracker__frame(t, pid, code + 20)) == jit, "");
	process = tracker__thread(t, pid, pid, "worker", clock_now_ns());
	CHECK(process == 1 && fake_count(0, "process 1 ", " ns=1 ") == 1,
	      "pid in its own namespace");
	tracker__hit(t, jit, code + 20);
	tracker__hit(t, jit, code + 30);
	tracker__hit(t, jit, code + 70);
	tracker__hit(t, jit, code + 4000);
	tracker__finish(t);
	snprintf(text, sizeof(text), "symbol binary=%u %llx+40 fn one", jit,
		 (unsigned long long)code);
	CHECK(fake_count(0, text, "") == 1, "");
	CHECK(fake_count(0, "symbol ", "fn two") == 1 && fake_count(0, "symbol ", "") == 2, "");
	snprintf(text, sizeof(text), "path=[jit %u]", pid);
	CHECK(fake_count(0, "binary ", text) == 1, "");
	stop(&w);
	end(t);
}

/* Those that have the name now, those that get it, and nobody else; children of them left out. */
static void test_comm(void)
{
	struct worker a = start(self_exe, 0), b = start(self_exe, 0), c;
	struct target_spec spec = {.comm = "tracked-*"};
	struct tracker *t;
	char path[128];
	long child;
	int err;

	tell(&a, "name tracked-a\n", NULL);
	t = track(&spec, &err);
	CHECK(fake_proc[a.pid] && !fake_proc[b.pid] && tracker__live_targets(t) == 1, "");
	tell(&b, "name tracked-b\n", NULL);
	snprintf(path, sizeof(path), "%s/tracked-c", dir);
	copy_file(self_exe, path);
	c = start(path, 0);
	follow(t, 20);
	CHECK(fake_proc[b.pid] && fake_proc[c.pid] && tracker__live_targets(t) == 3, "%zu",
	      tracker__live_targets(t));
	same_as_proc(b.pid);
	same_as_proc(c.pid);
	child = tell(&c, "fork\n", NULL);
	tell(&a, "exec %s\n", self_exe);
	follow(t, 20);
	CHECK(fake_proc[child], "a child has the name as well");
	CHECK(!fake_proc[a.pid], "without inheritance another name is no target any more");
	kill(child, SIGKILL);
	unlink(path);
	stop(&a);
	stop(&b);
	stop(&c);
	end(t);
}

static void test_errors(void)
{
	struct worker w = start(self_exe, 0);
	uint32_t gone = 0x3ffffe, self = getpid();
	struct target_spec spec = {.pids = &gone, .pid_cnt = 1};
	long tid;
	int err;

	track(&spec, &err);
	CHECK(err == -ESRCH, "%d", err);
	spec.pids = &self;
	track(&spec, &err);
	CHECK(err == -EINVAL, "%d", err);
	spec = (struct target_spec){.cgroup = "/no/such/group"};
	track(&spec, &err);
	CHECK(err == -ENOENT, "%d", err);
	tell(&w, "thread\n", NULL);
	tid = w.pid + 1;
	if (!syscall(SYS_tgkill, w.pid, tid, 0)) {
		gone = tid;
		spec = (struct target_spec){.pids = &gone, .pid_cnt = 1};
		track(&spec, &err);
		CHECK(err == -ESRCH, "a thread is no process: %d", err);
	}
	stop(&w);
}

/* The whole system: everything that runs is published, each file once; and it is quick. */
static void test_all(void)
{
	struct target_spec spec = {.all = true, .inherit = true};
	unsigned tables = fake_tables;
	uint64_t begin = clock_now_ns();
	struct tracker *t;
	int err;

	t = track(&spec, &err);
	printf("whole system: %zu processes, %u binaries, %.1f ms\n", tracker__live_targets(t),
	       fake_tables - tables, (clock_now_ns() - begin) / 1e6);
	CHECK(tracker__live_targets(t) > 1, "");
	tracker__thread(t, 0, 0, "swapper/0", clock_now_ns());
	CHECK(fake_count(0, "process 1 pid=0 ", "comm=swapper/0") == 1, "");
	end(t);
}

/* Hundreds of processes that live for a millisecond, moved between CPUs: none is left over, none
 * unknown. */
static void test_storm(void)
{
	int go[2], err;
	uint32_t pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	unsigned tables;
	struct tracker *t;
	char c;

	if (pipe2(go, O_CLOEXEC))
		exit(1);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1)
			execl("/bin/sh", "sh", "-c",
			      "i=0; while [ $i -lt 150 ]; do /bin/true $i & /bin/echo $i; "
			      "i=$((i+1)); done "
			      ">/dev/null; wait",
			      NULL);
		_exit(1);
	}
	t = track(&spec, &err);
	tables = fake_tables;
	if (write(go[1], "x", 1) != 1)
		exit(1);
	while (waitpid(pid, NULL, WNOHANG) == 0)
		follow(t, 1);
	FOLLOW_UNTIL(t, !tracker__live_targets(t));
	CHECK(tracker__live_targets(t) == 0, "%zu", tracker__live_targets(t));
	CHECK(fake_tables - tables <= 4, "tables are built once: %u", fake_tables - tables);
	close(go[0]);
	close(go[1]);
	end(t);
}

/* Where nobody waits for its news, a host that forks all the time wakes a few times in 100 ms. */
static void test_lazy(void)
{
	struct target_spec spec = {.pids = (uint32_t[]){getppid()}, .pid_cnt = 1};
	uint64_t begin = clock_now_ns(), drained = begin, windows;
	unsigned wakes = 0, forks = 0;
	struct tracker *t;
	int err;

	t = track(&spec, &err);
	while (forks < 400) {
		struct epoll_event ev;
		bool woken;
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		forks += pid > 0 && waitpid(pid, NULL, 0) == pid;
		woken = epoll_wait(epoll_fd, &ev, 1, 0) == 1;
		wakes += woken;
		if (woken || clock_now_ns() - drained > 100000000) {
			tracker__drain(t);
			drained = clock_now_ns();
		}
	}
	windows = (clock_now_ns() - begin) / 100000000 + 2;
	/* Each window may have, beside its own six, one that was on its way when they were used up.
	 */
	CHECK(wakes <= windows * 8, "%u wake-ups in %llu windows", wakes,
	      (unsigned long long)windows);
	end(t);
}

/* A cgroup of some hierarchy: who is in it, in one below it, and who comes later. */
static void test_cgroup(void)
{
	static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
					     "/sys/fs/cgroup/pids"};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
		struct worker a = start(self_exe, 0), b = start(self_exe, 0);
		char group[128], below[160], procs[192], name[64];
		struct target_spec spec = {.cgroup = i == 2 ? group : name};
		struct tracker *t;
		FILE *f;
		int err;

		snprintf(name, sizeof(name), "/obrec-test-%d", getpid());
		snprintf(group, sizeof(group), "%s%s", mounts[i], name);
		snprintf(below, sizeof(below), "%s/below", group);
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", mounts[i]);
		if (access(procs, W_OK))
			goto next;
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", below);
		if (mkdir(group, 0755) || mkdir(below, 0755) || !(f = fopen(procs, "w"))) {
			rmdir(below);
			rmdir(group);
			goto next;
		}
		fprintf(f, "%d", a.pid);
		fclose(f);
		t = track(&spec, &err);
		CHECK(t && fake_proc[a.pid] && !fake_proc[b.pid], "%s", group);
		snprintf(procs, sizeof(procs), "%s/cgroup.procs", group);
		f = fopen(procs, "w");
		fprintf(f, "%d", b.pid);
		fclose(f);
		FOLLOW_UNTIL(t, fake_proc[b.pid]);
		CHECK(fake_proc[b.pid], "%s: moved there", group);
		same_as_proc(b.pid);
		CHECK(tracker__live_targets(t) == 2, "%s: %zu", group, tracker__live_targets(t));
		tested_cgroups++;
		end(t);
	next:
		stop(&a);
		stop(&b);
		rmdir(below);
		rmdir(group);
	}
}

/* How long after a fork the child has its ranges, from user space's side. */
static void test_latency(void)
{
	struct worker w = start(self_exe, 0);
	uint32_t pid = w.pid;
	struct target_spec spec = {.pids = &pid, .pid_cnt = 1, .inherit = true};
	uint64_t best = UINT64_MAX;
	struct tracker *t;
	int err;

	t = track(&spec, &err);
	for (int i = 0; i < 20; i++) {
		long child = tell(&w, "fork\n", NULL);
		uint64_t begin = clock_now_ns(), took;

		while (!fake_proc[child] && clock_now_ns() - begin < 1000000000)
			tracker__drain(t);
		took = clock_now_ns() - begin;
		CHECK(fake_proc[child], "child %ld was not followed", child);
		if (took < best)
			best = took;
		kill(child, SIGKILL);
		follow(t, 1);
	}
	printf("forked child: %.1f us from drain to published (best of 20)\n", best / 1e3);
	CHECK(best < 1000000, "%.1f us", best / 1e3);
	stop(&w);
	end(t);
}

int main(int argc, char **argv)
{
	Dl_info info;

	if (argc > 1 && !strcmp(argv[1], "worker"))
		return worker();
	message_init("tracker", 0);
	if (geteuid()) {
		printf("needs root\n");
		return 77;
	}
	signal(SIGPIPE, SIG_IGN);
	snprintf(dir, sizeof(dir), "/var/tmp/tracker.XXXXXX");
	if (!mkdtemp(dir) || readlink("/proc/self/exe", self_exe, sizeof(self_exe) - 1) < 0 ||
	    !dladdr((void *)elf_version, &info))
		return 1;
	/* A library that the worker does not have yet. */
	snprintf(lib, sizeof(lib), "%s/libown.so", dir);
	copy_file(info.dli_fname, lib);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (nursery__new(&fake_nursery, NULL))
		return 1;
	test_life();
	test_command();
	test_hits();
	test_deleted();
	test_reopen();
	test_memfd();
	test_perfmap();
	test_comm();
	test_cgroup();
	test_storm();
	test_lazy();
	test_errors();
	test_all();
	test_latency();
	printf("cgroups in %u hierarchies\n", tested_cgroups);
	unlink(lib);
	rmdir(dir);
	fake_readers_free();
	nursery__free(fake_nursery);
	fake_free();
	return failed;
}
