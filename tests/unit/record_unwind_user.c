/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A child stops itself at a known place, with every function on the way having noted its return
 * address; the walk of its stack by the shared step code must give exactly these, in order, and
 * reach the thread's start. This is the code that runs in the kernel, its reads done through
 * process_vm_readv.
 */
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "format/records.h"
#include "record/unwind/unwind_user.h"
#include "unwind_load.h"

#define NO_FP __attribute__((noinline, noclone, optimize("omit-frame-pointer")))
#define WITH_FP __attribute__((noinline, noclone, optimize("no-omit-frame-pointer")))

/* Shared with the child: return addresses, innermost first once reversed. */
static struct {
	uint64_t ra[2048];
	uint32_t cnt;
	pid_t tid;
} * note;

static void enter(void *ra)
{
	note->ra[note->cnt++] = (uint64_t)(uintptr_t)ra;
}
#define ENTER() enter(__builtin_return_address(0))

static volatile int zero, sink; /* keep calls from being the last thing a function does */

/* Stops in a system call, as a blocked thread would be. Not noted: it is libc's. */
NO_FP static int stop(void)
{
	ENTER();
	note->tid = syscall(SYS_gettid);
	syscall(SYS_tgkill, getpid(), note->tid, SIGSTOP);
	return zero;
}

NO_FP static int deep(int n)
{
	ENTER();
	return n ? deep(n - 1) + 1 + zero : stop() + zero;
}

WITH_FP static int deep_fp(int n)
{
	ENTER();
	return n ? deep_fp(n - 1) + 1 + zero : stop() + zero;
}

/* CFA from rbp, the stack pointer anywhere. */
NO_FP static int with_alloca(int n)
{
	char *p = alloca(100 + n + zero);

	ENTER();
	memset(p, n, 100);
	return deep(n) + p[zero];
}

/* A realigned stack of unknown size: gcc saves the incoming stack pointer and says CFA = *(rbp -
 * 8). */
NO_FP static int realigned(int n)
{
	char big[64] __attribute__((aligned(64)));
	char *p = alloca(50 + n + zero);

	ENTER();
	memset(big, n, sizeof(big));
	memset(p, n, 50);
	return with_alloca(n) + big[zero] + p[zero];
}

static void on_signal(int sig)
{
	ENTER();
	sink = deep(3);
}

/* In a handler, on a stack of its own; the interrupted instruction is the first one after the
 * system call. */
NO_FP static int by_signal(int n)
{
	static char stack[65536];
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	stack_t ss = {.ss_sp = stack, .ss_size = sizeof(stack)};

	ENTER();
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	return zero + n;
}

static int compare(const void *a, const void *b)
{
	ENTER();
	sink = deep(2);
	return zero;
}

/* Through libc's code. */
NO_FP static int by_qsort(int n)
{
	int v[2] = {2, 1};

	ENTER();
	qsort(v, 2, sizeof(*v), compare);
	return v[zero] + n;
}

/* A call as the last instruction: its return address lies in the next function. */
__attribute__((noinline, noclone, noreturn)) NO_FP static void last(int n)
{
	ENTER();
	deep(n);
	abort();
}

NO_FP static int by_noreturn(int n)
{
	ENTER();
	last(n);
}

static int (*start)(int);
static int start_arg;

static void *thread_main(void *arg)
{
	ENTER();
	sink = start(start_arg);
	return NULL;
}

static const struct test {
	const char *name;
	int (*fn)(int);
	int arg;
	bool thread;
	enum stack_error error;
} tests[] = {
	{"no frame pointers", deep, 36, false, STACK_NONE},
	{"frame pointers", deep_fp, 36, false, STACK_NONE},
	{"alloca", with_alloca, 5, false, STACK_NONE},
	{"realigned", realigned, 5, false, STACK_NONE},
	{"signal handler on its own stack", by_signal, 0, false, STACK_NONE},
	{"called back by libc", by_qsort, 0, false, STACK_NONE},
	{"call as last instruction", by_noreturn, 2, false, STACK_NONE},
	{"thread", deep, 10, true, STACK_NONE},
	{"signal handler in a thread", by_signal, 0, true, STACK_NONE},
	{"600 deep", deep, 600, false, STACK_NONE},
	{"700 deep in a thread", deep, 700, true, STACK_NONE},
	{"deeper than the limit", deep, 1000, false, STACK_TOO_DEEP},
};

static void child(const struct test *t)
{
	pthread_t thread;

	start = t->fn;
	start_arg = t->arg;
	if (!t->thread) {
		start(start_arg);
		_exit(0);
	}
	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	_exit(0);
}

/* ---- the parent's side ---- */

static int seize_stopped(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return -1;
	if (ptrace(PTRACE_SEIZE, note->tid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, note->tid, NULL, NULL))
		return -1;
	return waitpid(note->tid, &status, __WALL) == note->tid ? 0 : -1;
}

static uint64_t address_of(const struct loaded *l, uint64_t frame)
{
	uint32_t binary = frame_binary(frame);

	return binary && binary <= l->cnt ? frame_address(frame) + l->ranges[binary - 1].bias : 0;
}

/* The noted return addresses must lie in the walk, outermost noted last, with nothing but other
 * code's frames between. */
static int check_frames(const struct test *t, const struct unwind_walk *w, const struct loaded *l)
{
	uint32_t at = 0, want = note->cnt;

	if (w->stack.error != t->error) {
		printf("%s: error %u after %u frames, last in %s\n", t->name, w->stack.error,
		       w->stack.frame_cnt,
		       frame_binary(w->frames[w->stack.frame_cnt - 1])
			       ? l->paths[frame_binary(w->frames[w->stack.frame_cnt - 1]) - 1]
			       : "nothing known");
		return 1;
	}
	for (uint32_t i = 0; i < w->stack.frame_cnt && want; i++) {
		uint64_t a = address_of(l, w->frames[i]), ra = note->ra[want - 1];

		/* the signal trampoline alone is no return address to look up less one */
		want -= a == ra - 1 || (a == ra && t->fn == by_signal);
	}
	if (t->error == STACK_TOO_DEEP) {
		at = w->stack.frame_cnt;
		if (at == WIRE_MAX_FRAMES && want < note->cnt - at + 10)
			return 0;
	}
	if (want) {
		printf("%s: %u of %u return addresses not met in %u frames\n", t->name, want,
		       note->cnt, w->stack.frame_cnt);
		return 1;
	}
	/* libc's system call and thread start, and the signal's frames, are all that may be more */
	if (w->stack.frame_cnt > note->cnt + 12) {
		printf("%s: %u frames for %u calls\n", t->name, w->stack.frame_cnt, note->cnt);
		return 1;
	}
	return 0;
}

static int run(const struct test *t)
{
	struct unwind_store *s;
	struct unwind_user *u;
	struct loaded l = {.cnt = 0};
	const struct unwind_walk *w;
	uint64_t words[UNWIND_PT_CNT];
	int failed = 1;
	pid_t pid;

	note->cnt = 0;
	pid = fork();
	if (!pid)
		child(t);
	if (seize_stopped(pid)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return 77;
	}
	if (!unwind_store__new(&s, NULL, 1 << 30) && !unwind_user__new(&u, s) &&
	    !load_process(s, &l, pid, 0) && !thread_registers(note->tid, words)) {
		w = unwind_user__thread(u, pid, words, read_process, &pid);
		failed = check_frames(t, w, &l);
		printf("%s: %u frames, %s\n", t->name, w->stack.frame_cnt,
		       failed ? "wrong" : "right");
		unwind_user__free(u);
		unwind_store__free(s);
	}
	load_free(&l);
	ptrace(PTRACE_DETACH, note->tid, NULL, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return failed;
}

int main(void)
{
	int failed = 0;

	note = mmap(NULL, sizeof(*note), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		int one = run(&tests[i]);

		if (one == 77) {
			printf("ptrace is not allowed here\n");
			return 77;
		}
		failed |= one;
	}
	return failed;
}
