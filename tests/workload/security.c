/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of events for the probes exec, ... Each mode waits for a byte on stdin before it
 * starts, and prints its pid and what it did.
 *
 *   security exec N    N programs run that exit with 3, N calls that fail with ENOENT, N with
 *                      EACCES; and one each of: arguments of 40 KB, run and not found; run by a
 *                      thread; run by a descriptor; not found at a path that is not in memory;
 *                      killed; crashed; threads that use CPU time and memory
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *self; /* path of this program */

static void await(void)
{
	char go;

	if (read(0, &go, 1) != 1)
		_exit(3);
}

/* Runs fn(arg) in a child process called `name`. Returns its status as of wait(2), or -1. */
static int run(const char *name, void (*fn)(void *arg), void *arg, struct rusage *usage)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		prctl(PR_SET_NAME, name);
		fn(arg);
		_exit(errno);
	}
	return pid < 0 || wait4(pid, &status, 0, usage) != pid ? -1 : status;
}

/* ---- exec ---- */

enum { LONG_ARGS = 400, LONG_ARG = 100, BURN_MS = 150, TOUCH_SZ = 50 << 20 };

static void exec_known(void *path)
{
	char *args[] = {"known", "exit", "3", "--password", "hidden", "--user=visible", NULL};

	execv(path, args);
}

static void exec_long(void *path)
{
	char arg[LONG_ARG + 1], *args[LONG_ARGS + 4] = {"long", "exit", "0"};

	memset(arg, 'x', LONG_ARG);
	arg[LONG_ARG] = 0;
	for (int i = 3; i < LONG_ARGS + 3; i++)
		args[i] = arg;
	execv(path, args);
}

static void *exec_in_thread(void *path)
{
	char *args[] = {"threaded", "exit", "0", NULL};

	execv(path, args);
	return NULL;
}

static void exec_by_thread(void *path)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_in_thread, path);
	pthread_join(t, NULL);
}

static void exec_by_fd(void *path)
{
	char *args[] = {"described", "exit", "0", NULL}, *env[] = {NULL};
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	syscall(SYS_execveat, fd, "", args, env, AT_EMPTY_PATH);
}

/* The path is in a page of a file that was not touched yet: only the kernel pages it in. */
static void exec_paged_out(void *dir)
{
	char *args[] = {"paged out", NULL}, *path, name[512];
	int fd;

	snprintf(name, sizeof(name), "%s/page", (char *)dir);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, "/missing/paged-out", 19) != 19)
		return;
	path = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	execv(path, args);
	unlink(name);
}

static void be_killed(void *nothing)
{
	kill(getpid(), SIGKILL);
}

static void crash(void *nothing)
{
	struct rlimit none = {0};

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void *burn(void *nothing)
{
	struct timespec used = {0};

	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < BURN_MS)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return NULL;
}

/* The first thread ends before the other one, whose exit(2) is that of the process. */
static void *burn_and_exit(void *nothing)
{
	burn(NULL);
	exit(7);
}

static void burn_twice(void *nothing)
{
	char *memory =
		mmap(NULL, TOUCH_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t t;

	memset(memory, 1, TOUCH_SZ);
	munmap(memory, TOUCH_SZ);
	burn(NULL);
	pthread_create(&t, NULL, burn_and_exit, NULL);
	syscall(SYS_exit, 0); /* of this thread; pthread_exit() needs another library */
}

static int do_exec(int cnt, char *dir)
{
	int run_cnt = 0, missing = 0, denied = 0;
	struct rusage used = {0};

	for (int i = 0; i < cnt; i++) {
		run_cnt += run("before", exec_known, self, NULL) == 3 << 8;
		missing += run("missing", exec_known, "/missing/known", NULL) == ENOENT << 8;
		denied += run("denied", exec_known, "/etc/passwd", NULL) == EACCES << 8;
	}
	printf("exec %d %d %d\n", run_cnt, missing, denied);
	printf("once %d %d %d %d %d %d %d\n", run("before", exec_long, self, NULL),
	       run("missing", exec_long, "/missing/long", NULL) >> 8,
	       run("before", exec_by_thread, self, NULL), run("before", exec_by_fd, self, NULL),
	       run("paged", exec_paged_out, dir, NULL) >> 8, run("killed", be_killed, NULL, NULL),
	       run("crashed", crash, NULL, NULL));
	printf("burnt %d", run("burner", burn_twice, NULL, &used));
	printf(" %ld %ld\n",
	       (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec +
		       used.ru_stime.tv_usec,
	       used.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int cnt, char *dir);
	} modes[] = {
		{"exec", do_exec},
	};

	if (argc > 2 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	setlinebuf(stdout);
	self = realpath("/proc/self/exe", NULL);
	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		await();
		printf("pid %d\n", getpid());
		return modes[i].run(atoi(argv[2]), argc > 3 ? argv[3] : ".");
	}
	return 2;
}
