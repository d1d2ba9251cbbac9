/* SPDX-License-Identifier: BSD-2-Clause */
/* Parcels that arrive whole or not at all; readers that answer, stand still, die and are stopped.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "format/clock.h"
#include "record/process/read_process.h"
#include "record/reader/readers.h"
#include "check.h"

/* ---- parcels ---- */

static void test_parcel(size_t body, size_t tail)
{
	char *text = malloc(body + 1);
	uint64_t *items = malloc(tail * sizeof(*items) + 1);
	const uint64_t *got;
	struct parcel out, in;
	struct span s;
	int pair[2];

	memset(text, 'x', body);
	for (size_t i = 0; i < tail; i++)
		items[i] = i * 7;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(1);
	parcel_init(&out, 5);
	out.rc = -7;
	parcel_put_span(&out, (struct span){text, body});
	parcel_put_u64(&out, 42);
	parcel_put_tail(&out, items, tail * sizeof(*items));
	parcel_put_fd(&out, 1, open("/dev/null", O_RDONLY | O_CLOEXEC));
	CHECK(!parcel_send(&out, pair[0]), "%zu", body);
	CHECK(!parcel_receive(&in, pair[1], 0), "%zu", body);
	s = parcel_get_span(&in);
	CHECK(in.kind == 5 && in.rc == -7 && s.len == body && !memcmp(s.p, text, body), "");
	CHECK(parcel_get_u64(&in) == 42, "");
	got = parcel_get_tail(&in, tail, sizeof(*got));
	CHECK(!in.bad && got && (!tail || !memcmp(got, items, tail * sizeof(*items))), "");
	CHECK(in.fd[0] < 0 && in.fd[1] >= 0 && in.fd[2] < 0, "");
	/* Past the end. */
	CHECK(!parcel_get_u64(&in) && in.bad, "");
	CHECK(!parcel_get_span(&in).len && !parcel_get_tail(&in, 1, 8), "");
	parcel_fini(&in);
	parcel_fini(&out);
	close(pair[0]);
	close(pair[1]);
	free(text);
	free(items);
}

/* Lengths that lie. */
static void test_lies(void)
{
	static const uint64_t lies[] = {1, 8, 1ULL << 32, UINT64_MAX, UINT64_MAX - 7};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct parcel m;

		parcel_init(&m, 0);
		parcel_put_u64(&m, lies[i]);
		CHECK(!parcel_get_span(&m).len && m.bad, "%zu", i);
		m.bad = false;
		m.at = 0;
		CHECK(!parcel_get_tail(&m, lies[i], 16) && m.bad, "%zu", i);
		parcel_fini(&m);
	}
}

/* What is no parcel of ours; a body whose file can still be changed. */
static void test_strange(void)
{
	static const char junk[] = "no parcel";
	struct parcel m;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		exit(1);
	if (send(pair[0], junk, sizeof(junk), 0) < 0)
		exit(1);
	CHECK(parcel_receive(&m, pair[1], 0) == -EBADMSG, "");
	CHECK(parcel_receive(&m, pair[1], MSG_DONTWAIT) == -EAGAIN, "");
	close(pair[0]);
	CHECK(parcel_receive(&m, pair[1], 0) == -EPIPE, "");
	close(pair[1]);
}

/* ---- readers ---- */

static struct nursery *nursery;

/* The only one, once those of earlier tests have exited. 0: there is none, or they do not exit. */
static pid_t the_reader(void)
{
	uint64_t end = clock_now_ns() + 60000000000ULL;
	char path[64];
	int pid, cnt, other;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", nursery__pid(nursery),
		 nursery__pid(nursery));
	do {
		FILE *f = fopen(path, "r");

		cnt = f ? fscanf(f, "%d %d", &pid, &other) : 0;
		if (f)
			fclose(f);
	} while (cnt == 2 && clock_now_ns() < end && !usleep(1000));
	return cnt == 1 ? pid : 0;
}

static struct reading_request *ask(struct readers *p, uint32_t pid)
{
	struct parcel m;

	read_process_ask(&m, pid, NULL, 0);
	return readers__ask(p, &m, pid, 0);
}

/* Its name as a reader sees it; rc of the answer. */
static int comm_of(struct readers *p, uint32_t pid, char comm[16])
{
	struct process is = {.tgid = pid};
	struct reading_request *r = ask(p, pid);
	int rc = -1;

	if (r && readers__await(p, r)) {
		rc = r->m.rc;
		read_process_take(&r->m, &is);
		memcpy(comm, is.identity.comm, 16);
	}
	readers__done(r);
	free(is.identity.exe);
	free(is.identity.cmdline);
	free(is.identity.cgroup);
	return rc;
}

static int late_rc;
static unsigned late_cnt;

static void on_late(void *ctx, struct reading_request *r)
{
	late_rc = r->m.rc;
	late_cnt++;
}

static void await_late(struct readers *p, unsigned cnt)
{
	uint64_t end = clock_now_ns() + 60000000000ULL;

	while (late_cnt < cnt && clock_now_ns() < end) {
		readers__deliver(p);
		usleep(1000);
	}
	CHECK(late_cnt == cnt, "%u of %u late answers", late_cnt, cnt);
}

static struct readers *patient(void)
{
	struct readers *p;

	if (readers__new(&p, nursery))
		exit(1);
	readers__set_mood(p, READERS_PATIENT);
	return p;
}

static void test_answers(void)
{
	struct readers *p = patient();
	char comm[16];

	CHECK(!comm_of(p, getpid(), comm) && !strcmp(comm, "record_readers"), "%s", comm);
	CHECK(comm_of(p, 4194303, comm) == -ENOENT, "");
	CHECK(!readers__given_up(p), "");
	readers__free(p);
}

/* One that has exited keeps the container and cgroup of its parent; one that lives has its own. */
static void test_exited(void)
{
	struct readers *p = patient();
	struct process child = {.tgid = fork()};
	struct identity *id = &child.identity;
	siginfo_t info;

	if (!child.tgid)
		_exit(0);
	CHECK(!waitid(P_PID, child.tgid, &info, WEXITED | WNOWAIT), "");
	for (int alive = 0; alive < 2; alive++) {
		struct reading_request *r = ask(p, alive ? (uint32_t)getpid() : child.tgid);
		bool kept;

		free(id->cgroup);
		id->cgroup = strdup("/docker/0123");
		strcpy(id->container_id, "0123");
		CHECK(r && readers__await(p, r) && !r->m.rc, "");
		read_process_take(&r->m, &child);
		kept = !strcmp(id->container_id, "0123") && !strcmp(id->cgroup, "/docker/0123");
		CHECK(kept == !alive, "%s, %s", id->cgroup, id->container_id);
		readers__done(r);
	}
	waitpid(child.tgid, NULL, 0);
	free(id->exe);
	free(id->cmdline);
	free(id->cgroup);
	readers__free(p);
}

static void count(void *cnt)
{
	++*(unsigned *)cnt;
}

/* Blocked, as by a file system that does not answer: it is given up, who it was about is left
 * alone, and others have another reader. */
static void test_blocked(void)
{
	struct readers *p = patient(), *hasty;
	struct reading_request *r;
	unsigned rounds = 0;
	char comm[16];
	pid_t stopped;

	readers__free(p);
	if (readers__new(&hasty, nursery))
		exit(1);
	readers__set_mood(hasty, READERS_STOPPING);
	p = hasty;
	r = ask(p, 1); /* starts one */
	readers__settle(p, count, &rounds);
	CHECK(r && readers__await(p, r), "it had time");
	readers__done(r);
	stopped = the_reader();
	CHECK(stopped > 0 && !kill(stopped, SIGSTOP), "no reader");
	r = ask(p, getpid());
	rounds = 0;
	readers__settle(p, count, &rounds);
	CHECK(rounds > 1, "nothing else was done while waiting: %u", rounds);
	CHECK(!readers__await(p, r), "a stopped one answers");
	readers__later(r, on_late, NULL);
	await_late(p, 1);
	CHECK(late_rc == -ETIMEDOUT && readers__given_up(p) == 1, "rc %d", late_rc);
	readers__set_mood(p, READERS_PATIENT);
	CHECK(comm_of(p, getpid(), comm) == -ETIMEDOUT, "asked about it again");
	CHECK(!comm_of(p, getppid(), comm) && comm[0], "others are asked about");
	readers__free(p);
}

static void test_died(void)
{
	struct readers *p = patient();
	char comm[16];
	pid_t reader;
	int rc;

	CHECK(!comm_of(p, getpid(), comm), "");
	reader = the_reader();
	CHECK(reader > 0 && !kill(reader, SIGKILL), "no reader");
	rc = comm_of(p, getppid(), comm);
	CHECK(rc == -EIO, "%d", rc);
	CHECK(!comm_of(p, getpid(), comm), "another reader");
	readers__free(p);
}

static void test_stopped(void)
{
	struct readers *p = patient();
	char comm[16];
	pid_t reader;

	CHECK(!comm_of(p, getpid(), comm), "");
	reader = the_reader();
	CHECK(reader > 0 && !kill(reader, SIGSTOP), "no reader");
	for (int i = 0; i < 50; i++)
		readers__later(ask(p, getpid()), on_late, NULL);
	late_cnt = 0;
	readers__stop(p);
	CHECK(late_cnt == 50 && late_rc == -ETIMEDOUT, "%u, rc %d", late_cnt, late_rc);
	CHECK(comm_of(p, getpid(), comm) == -ECANCELED, "");
	readers__free(p);
}

int main(void)
{
	if (nursery__new(&nursery, NULL))
		return 1;
	test_parcel(0, 0);
	test_parcel(100, 3);
	test_parcel(40000, 0);
	test_parcel(10, 100000);
	test_lies();
	test_strange();
	test_answers();
	test_exited();
	test_blocked();
	test_died();
	test_stopped();
	nursery__free(nursery);
	return failed;
}
