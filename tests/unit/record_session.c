/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording of a program of known behaviour, with what the session wrote caught in memory: sample
 * counts, blocked time against the scheduler's own account, processes forked while recorded, losses
 * of a ring that is too small.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "format/archive.h"
#include "format/clock.h"
#include "format/text.h"
#include "record/reader/reader_process.h"
#include "record/probe/probe.h"
#include "record/session/session.h"
#include "check.h"

/* ---- a writer that keeps samples and losses ---- */

struct obz_writer {
	struct rec_sample *samples;
	size_t sample_cnt;
	size_t stacks, stack_frames;
	uint64_t losses;
};
static struct obz_writer writer;

int obz_writer__put(struct obz_writer *w, enum rec_kind kind, const void *rec)
{
	if (kind == REC_sample) {
		if (!(w->sample_cnt & (w->sample_cnt - 1))) /* a power of two: full */
			w->samples = realloc(w->samples, (w->sample_cnt ? 2 * w->sample_cnt : 1) *
								 sizeof(*w->samples));
		w->samples[w->sample_cnt++] = *(const struct rec_sample *)rec;
	} else if (kind == REC_stack) {
		w->stacks++;
		w->stack_frames += ((const struct rec_stack *)rec)->frames.len;
	} else if (kind == REC_loss) {
		w->losses += ((const struct rec_loss *)rec)->count;
	}
	return 0;
}
int obz_writer__flush(struct obz_writer *w)
{
	return 0;
}
bool obz_writer__behind(struct obz_writer *w)
{
	return false;
}
void obz_writer__hurry(struct obz_writer *w)
{
}
int obz_writer__refuses(struct obz_writer *w)
{
	return 0;
}
int obz_writer__sync(struct obz_writer *w)
{
	return 0;
}
/* All is kept at once: there is nothing to do. */
static _Atomic bool dismissed;
void obz_writer__serve(struct obz_writer *w)
{
	while (!dismissed)
		usleep(1000);
	dismissed = false;
}
void obz_writer__dismiss(struct obz_writer *w)
{
	dismissed = true;
}
int obz_writer__trim(struct obz_writer *w)
{
	return 0;
}
int obz_writer__add(struct obz_writer *w, const char *name, int fd, uint64_t sz)
{
	return 0;
}
int obz_writer__add_compressed(struct obz_writer *w, const char *name, int fd, uint64_t sz)
{
	return 0;
}
const char *obz_writer__error(const struct obz_writer *w)
{
	return "";
}

/* ---- the program ---- */

static uint64_t now(clockid_t c)
{
	struct timespec ts;

	clock_gettime(c, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static volatile uint64_t *recording; /* shared: begun */
static volatile uint64_t *forked;    /* shared: the forker's children have all ended */
static volatile uint64_t *slept_ns;  /* shared: what nap() took in all, as its caller saw it */

#define SLEEP_NS 70000000

static void nap(uint64_t ns)
{
	struct timespec ts = {ns / 1000000000, ns % 1000000000};
	uint64_t t0 = now(CLOCK_MONOTONIC);

	nanosleep(&ts, NULL);
	*slept_ns += now(CLOCK_MONOTONIC) - t0;
}

static void spinner(void)
{
	for (;;)
		burn(1000000);
}

/* Many short waits: 200 us each, with a little work between. */
static void dozer(void)
{
	for (;;) {
		nap(200000);
		burn(20000);
	}
}

/* A few long ones. */
static void sleeper(void)
{
	for (;;) {
		nap(SLEEP_NS);
		burn(1000000);
	}
}

static void hanger(void)
{
	for (;;)
		poll(NULL, 0, -1);
}

static void forker(void)
{
	while (!*recording)
		usleep(1000);
	for (int i = 0; i < 3; i++) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			burn(200000000);
			_exit(0);
		}
		wait(NULL);
	}
	*forked = 1;
	hanger();
}

static pid_t start(void (*what)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		what();
		_exit(0);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- recording ---- */

static volatile sig_atomic_t stop;

/* By the scheduler's account: on a CPU, and waiting for one. */
struct account {
	uint64_t run_ns, ready_ns;
};

struct result {
	char *end_json;
	struct session_status status;
	enum stop_reason reason;
	uint64_t wall_ns;
	struct account account; /* of the target's first thread, over the recording */
	uint64_t slept_ns;	/* by its own */
	uint64_t start_ns;	/* that the start took */
};

static struct account account(pid_t pid)
{
	struct account a = {0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%lu %lu", &a.run_ns, &a.ready_ns) != 2)
		a = (struct account){0};
	if (f)
		fclose(f);
	return a;
}

/* Keeps the rings from being emptied in time. */
static void dawdle(void *ctx, const struct session_status *st)
{
	usleep(150000);
}

/* However long they take on a busy machine. */
static void until_forked(void *ctx, const struct session_status *st)
{
	stop |= *forked;
}

static struct nursery *nursery;

static int record(pid_t pid, struct record_opts o, struct result *r,
		  void (*tick)(void *ctx, const struct session_status *st))
{
	uint32_t target = pid;
	struct account after;
	struct session *s;
	int err;

	free(writer.samples);
	writer = (struct obz_writer){0};
	stop = 0;
	o.target.pids = &target;
	o.target.pid_cnt = 1;
	o.target.inherit = true;
	err = session__new(&s, &o, &writer, nursery);
	if (err)
		return err;
	r->start_ns = clock_now_ns();
	err = session__start(s);
	r->start_ns = clock_now_ns() - r->start_ns;
	*recording = 1;
	r->account = account(pid);
	r->slept_ns = *slept_ns;
	r->reason = session__run(s, &stop, tick, NULL);
	session__finish(s, &stop, NULL, NULL);
	after = account(pid);
	r->account.run_ns = after.run_ns - r->account.run_ns;
	r->account.ready_ns = after.ready_ns - r->account.ready_ns;
	r->slept_ns = *slept_ns - r->slept_ns;
	r->status = session__status(s);
	r->end_json = session__end_json(s, r->reason);
	/* What was recorded, without the time that finishing took. */
	r->wall_ns = strtoull(strstr(r->end_json, "\"duration_ns\"") + strlen("\"duration_ns\":"),
			      NULL, 10);
	if (getenv("SHOW"))
		printf("%s\n", r->end_json);
	session__free(s);
	*recording = 0;
	return err;
}

static uint64_t sum(unsigned kind, uint32_t tid, uint64_t *cnt)
{
	uint64_t v = 0;

	*cnt = 0;
	for (size_t i = 0; i < writer.sample_cnt; i++) {
		if (writer.samples[i].kind != kind)
			continue;
		v += writer.samples[i].value;
		*cnt += writer.samples[i].count;
	}
	return v;
}

#define CPU 1
#define OFFCPU 2

extern const struct probe probe_cpu_entry, probe_offcpu_entry;

enum { FREQ = 499 };

static struct record_opts base = {
	.duration_ns = 2000000000,
	.stats = true,
	.debuginfo = {.mode = DEBUGINFO_NONE},
};

static void test_cpu(void)
{
	struct record_opts o = base;
	pid_t pid = start(spinner);
	uint64_t cnt, run, v;
	struct result r = {0};
	double chance;

	o.probes = CPU;
	if (record(pid, o, &r, NULL)) {
		CHECK(0, "cpu: not recorded");
		return;
	}
	run = r.account.run_ns;
	v = sum(SAMPLE_cpu, 0, &cnt);
	printf("cpu: %lu samples, %.3f s of %.3f s run, %lu stacks\n", cnt, v / 1e9, run / 1e9,
	       writer.stacks);
	CHECK(r.reason == STOP_DURATION);
	/* a thread that gets little of a busy machine is there by chance when it is looked at */
	chance = 3e9 / FREQ * sqrt((double)cnt) * (1 - (double)run / r.wall_ns);
	CHECK(v + chance > run * 0.85 && v < run * 1.05 + chance, "%.3f of %.3f s", v / 1e9,
	      run / 1e9);
	CHECK(r.status.lost == 0, "%lu lost", r.status.lost);
	free(r.end_json);
	end(pid);
}

/*
 * Blocked time lies between wall time less the time on a CPU or waiting for one (after a
 * preemption, which is no block, or a wake-up, which is part of one) and what the program saw
 * itself. For waits of microseconds these two differ: the scheduler counts the way out of the idle
 * state as run time of who was woken up (14 us a wait in a virtual machine), the program also sees
 * the system call's own work.
 */
/* `missed_ns`: waits that a kernel may not show: about once in 25 runs beside other load, 6.18
 * calls no tracepoint for a switch. */
static void test_offcpu(const char *name, void (*what)(void), uint64_t period_ns, bool naps,
			uint64_t missed_ns)
{
	struct record_opts o = base;
	pid_t pid = start(what);
	uint64_t cnt, v, low, high;
	struct result r = {0};

	usleep(20000);
	o.probes = OFFCPU;
	probe_option_give(&o, &probe_offcpu_entry, "period", period_ns);
	if (record(pid, o, &r, NULL)) {
		CHECK(0, "%s: not recorded", name);
		return;
	}
	high = r.wall_ns - r.account.run_ns;
	/* a wait for a CPU that began before is counted whole when it ends; of a wait that ends
	 * before the start has found who sleeps, nobody knows */
	low = r.account.ready_ns + r.start_ns;
	low += missed_ns;
	low = high > low ? high - low : 0;
	high = naps ? r.slept_ns : high;
	v = sum(SAMPLE_offcpu, 0, &cnt);
	printf("%s: %lu samples, %.4f s blocked, expected %.4f to %.4f s, %lu lost\n", name, cnt,
	       v / 1e9, low / 1e9, high / 1e9, r.status.lost);
	CHECK(v > low * 0.99 && v < high * 1.01, "%s", name);
	/* The last wait may end between the stop and the look at its stack. */
	CHECK(r.status.stacks_complete + 1 >= r.status.stacks, "%s: %lu of %lu: %s", name,
	      r.status.stacks_complete, r.status.stacks, strstr(r.end_json, "\"stacks\""));
	free(r.end_json);
	end(pid);
}

static void test_fork(void)
{
	struct record_opts o = base;
	pid_t pid = start(forker);
	uint64_t cnt, v;
	struct result r = {0};

	o.probes = CPU;
	o.duration_ns = 60000000000;
	if (record(pid, o, &r, until_forked)) {
		CHECK(0, "fork: not recorded");
		return;
	}
	v = sum(SAMPLE_cpu, 0, &cnt);
	printf("fork: %lu samples, %.3f s of 0.6 s\n", cnt, v / 1e9);
	CHECK(v > 0.54e9 && v < 0.7e9);
	free(r.end_json);
	end(pid);
}

static void test_tiny_ring(void)
{
	struct record_opts o = base;
	pid_t pid = start(dozer);
	uint64_t cnt;
	struct result r = {0};

	o.probes = OFFCPU;
	o.ring_sz = 4096;
	probe_option_give(&o, &probe_offcpu_entry, "period", 0);
	if (record(pid, o, &r, dawdle)) {
		CHECK(0, "tiny ring: not recorded");
		return;
	}
	sum(SAMPLE_offcpu, 0, &cnt);
	printf("tiny ring: %lu samples, %lu lost\n", cnt, r.status.lost);
	CHECK(cnt > 50);
	CHECK(r.status.lost > 100);
	CHECK(r.status.lost == writer.losses);
	CHECK(strstr(r.end_json, "ring buffer full") != NULL);
	free(r.end_json);
	end(pid);
}

static void test_target_exit(void)
{
	struct record_opts o = base;
	pid_t pid = start(spinner);
	struct result r = {0};

	o.probes = CPU;
	o.duration_ns = 20000000000;
	if (!fork()) {
		while (!*recording)
			usleep(1000);
		usleep(300000);
		kill(pid, SIGKILL);
		_exit(0);
	}
	signal(SIGCHLD, SIG_IGN);
	record(pid, o, &r, NULL);
	signal(SIGCHLD, SIG_DFL);
	CHECK(r.reason == STOP_TARGET_EXIT, "%d", r.reason);
	CHECK(r.wall_ns < 2000000000);
	free(r.end_json);
}

int main(int argc, char **argv)
{
	probe_option_give(&base, &probe_cpu_entry, "freq", FREQ);
	message_init("record_session", getenv("SHOW") ? 1 : -1);
	if (geteuid()) {
		printf("needs root\n");
		return 77;
	}
	recording = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	slept_ns = recording + 1;
	forked = recording + 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (nursery__new(&nursery, NULL))
		return 1;
	test_cpu();
	test_offcpu("short waits", dozer, 10000000, true, 0);
	test_offcpu("every short wait", dozer, 0, true, 0);
	test_offcpu("long waits", sleeper, 10000000, false, 2 * SLEEP_NS);
	test_offcpu("asleep all the time", hanger, 10000000, false, 0);
	test_fork();
	test_tiny_ring();
	test_target_exit();
	nursery__free(nursery);
	free(writer.samples);
	return failed;
}
