/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child is stepped instruction by instruction through library code - prologues, epilogues, jump
 * tables, lazy binding, a signal's delivery and return - and its stack is walked at each: it must
 * reach the thread's start, through the function that began the stepping. What a sampling profiler
 * meets now and then is met here everywhere.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "format/records.h"
#include "record/unwind/unwind_user.h"
#include "unwind_load.h"

#define STEPS_MAX 20000

static uint64_t *mark; /* shared: the return address of the function under test */
static volatile int zero;
static volatile double sink;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void sort(void)
{
	int v[12] = {5, 3, 9, 1, 7, 2, 8, 6, 4, 0, 11, 10};

	qsort(v, 12, sizeof(*v), compare);
	sink = v[zero];
}

static void print(void)
{
	char text[128];

	sink = snprintf(text, sizeof(text), "%s %d %.3f %#lx", "text", 42 + zero, 3.25, 77UL);
}

/* Functions that nothing has called before: each goes through the dynamic linker's resolver, where
 * binding is lazy. */
static void bind(void)
{
	sink = ffsll(zero + 8) + strverscmp("a", "b") + (int)strtoimax("12", NULL, 10);
}

static void handler(int sig)
{
	sink = sig;
}

static void interrupt(void)
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
}

/* The vDSO. */
static void ask_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sink = ts.tv_nsec;
}

static void copy(void)
{
	static char a[5000], b[5000];

	memset(a, zero, sizeof(a));
	memcpy(b, a, 4000 + zero);
	memmove(b + 1, b, 3000 + zero);
	sink = strlen(b) + memcmp(a, b, 2000 + zero);
}

static void allocate(void)
{
	void *p = malloc(100000 + zero), *q;

	q = realloc(p, 300000 + zero);
	free(q ? q : p);
}

static const struct test {
	const char *name;
	void (*fn)(void);
} tests[] = {{"sort", sort},	 {"print", print}, {"lazy binding", bind}, {"signal", interrupt},
	     {"time", ask_time}, {"copy", copy},   {"allocate", allocate}};

__attribute__((noinline, noclone)) static void child(const struct test *t)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	mark[1] = (uint64_t)(uintptr_t)__builtin_return_address(0);
	raise(SIGSTOP);
	t->fn();
	mark[0] = 1;
	raise(SIGSTOP);
	_exit(0);
}

static uint64_t address_of(const struct loaded *l, uint64_t frame)
{
	uint32_t binary = frame_binary(frame);

	return binary && binary <= l->cnt ? frame_address(frame) + l->ranges[binary - 1].bias : 0;
}

static bool passes(const struct loaded *l, const struct unwind_walk *w, uint64_t ra)
{
	for (uint32_t i = 0; i < w->stack.frame_cnt; i++)
		if (address_of(l, w->frames[i]) == ra - 1)
			return true;
	return false;
}

struct tally {
	unsigned steps, broken;
};

static int step_all(pid_t pid, struct unwind_user *u, const struct loaded *l, struct tally *n)
{
	uint64_t words[UNWIND_PT_CNT];
	const struct unwind_walk *w;
	int status, sig = 0;

	while (n->steps < STEPS_MAX && !mark[0]) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, sig) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			return -1;
		sig = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0
										 : WSTOPSIG(status);
		if (thread_registers(pid, words))
			return -1;
		w = unwind_user__thread(u, pid, words, read_process, &pid);
		n->steps++;
		if (w && w->stack.error == STACK_NONE && passes(l, w, mark[1]))
			continue;
		if (n->broken++ < 5) {
			uint64_t frame = w->frames[w->stack.frame_cnt ? w->stack.frame_cnt - 1 : 0];

			printf("  step %u: error %u, %u frames, the last at %s+%#lx; leaf %#lx\n",
			       n->steps, w->stack.error, w->stack.frame_cnt,
			       frame_binary(frame) ? l->paths[frame_binary(frame) - 1] : "?",
			       (unsigned long)frame_address(frame),
			       (unsigned long)frame_address(w->frames[0]));
		}
	}
	return 0;
}

static int run(const struct test *t)
{
	struct unwind_store *s = NULL;
	struct unwind_user *u = NULL;
	struct loaded l = {.cnt = 0};
	struct tally n = {0, 0};
	int status, failed = 1;
	pid_t pid;

	mark[0] = 0;
	pid = fork();
	if (!pid)
		child(t);
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status) &&
	    !unwind_store__new(&s, NULL, 1 << 30) && !unwind_user__new(&u, s) &&
	    !load_process(s, &l, pid, 0))
		failed = step_all(pid, u, &l, &n) || n.broken || n.steps < 100;
	printf("%s: %u steps, %u broken\n", t->name, n.steps, n.broken);
	unwind_user__free(u);
	unwind_store__free(s);
	load_free(&l);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	pid_t pid;

	setvbuf(stdout, NULL, _IOLBF, 0);
	mark = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid = fork();
	if (!pid)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? 1 : 0);
	waitpid(pid, &failed, 0);
	if (failed) {
		printf("ptrace is not allowed here\n");
		return 77;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
		if (argc < 2 || !strcmp(argv[1], tests[i].name))
			failed |= run(&tests[i]);
	return failed;
}
