/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frame for frame equal to gdb's backtrace of the same stopped threads: a program of our own that
 * waits in several ways, and python3. With process ids as arguments: those processes, stopped for
 * the time being.
 */
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "format/records.h"
#include "record/unwind/unwind_user.h"
#include "unwind_load.h"

/* Inlined calls and tail calls are gdb's own additions: they have no return address on the stack.
 */
static const char gdb_script[] = "import gdb\n"
				 "gdb.execute('set backtrace past-main on')\n"
				 "for t in gdb.selected_inferior().threads():\n"
				 "    t.switch(); f = gdb.newest_frame(); o = []\n"
				 "    while f is not None:\n"
				 "        if f.type() not in (gdb.INLINE_FRAME, "
				 "gdb.TAILCALL_FRAME): o.append('%x' % f.pc())\n"
				 "        f = f.older()\n"
				 "    print('T %d %s' % (t.ptid[1], ' '.join(o)))\n";

struct line {
	int tid;
	char text[16384];
};
static struct line ours[256];

/* "pc pc pc", the return addresses whole, as gdb prints them. */
static void print(struct line *to, const struct unwind_walk *w, const struct loaded *l)
{
	bool exact = true;
	char *p = to->text;

	*p = 0;
	for (unsigned i = 0; i < w->stack.frame_cnt && p < to->text + sizeof(to->text) - 32; i++) {
		uint32_t b = frame_binary(w->frames[i]);
		uint64_t a = frame_address(w->frames[i]) +
			     (b && b <= l->cnt ? l->ranges[b - 1].bias : 0);

		p += sprintf(p, "%s%lx", i ? " " : "", (unsigned long)(exact ? a : a + 1));
		exact = false;
	}
}

static int walk_threads(pid_t pid, struct unwind_user *u, const struct loaded *l)
{
	uint64_t words[UNWIND_PT_CNT];
	const struct unwind_walk *w;
	struct dirent *e;
	char path[64];
	int cnt = 0, status;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)) && cnt < 256) {
		pid_t tid = atoi(e->d_name);

		if (!tid || ptrace(PTRACE_SEIZE, tid, NULL, NULL))
			continue;
		if (!ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) &&
		    waitpid(tid, &status, __WALL) == tid && !thread_registers(tid, words)) {
			w = unwind_user__thread(u, pid, words, read_process, &pid);
			ours[cnt].tid = tid;
			print(&ours[cnt++], w, l);
		}
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
	}
	if (d)
		closedir(d);
	return cnt;
}

static int compare_with_gdb(pid_t pid, const char *name, const char *script, int cnt)
{
	static char text[16384], command[512];
	int compared = 0, differ = 0, tid;
	FILE *gdb;

	snprintf(command, sizeof(command), "gdb -q -batch -nx -p %d -x %s 2>/dev/null", pid,
		 script);
	gdb = popen(command, "re");
	while (gdb && fgets(text, sizeof(text), gdb)) {
		char *frames = text + 2;

		if (strncmp(text, "T ", 2))
			continue;
		tid = strtol(frames, &frames, 10);
		text[strcspn(text, "\n")] = 0;
		for (int i = 0; i < cnt; i++) {
			if (ours[i].tid != tid)
				continue;
			compared++;
			if (!strcmp(ours[i].text, frames + 1))
				continue;
			differ++;
			printf("%s, thread %d:\n  ours %s\n  gdb  %s\n", name, tid, ours[i].text,
			       frames + 1);
		}
	}
	if (gdb)
		pclose(gdb);
	printf("%s: %d threads compared, %d differ\n", name, compared, differ);
	return !compared || differ;
}

static int check(pid_t pid, const char *name, const char *script)
{
	struct unwind_store *s = NULL;
	struct unwind_user *u = NULL;
	struct loaded l = {.cnt = 0};
	int failed = 1;

	kill(pid, SIGSTOP);
	usleep(100000);
	if (!unwind_store__new(&s, NULL, 1 << 30) && !unwind_user__new(&u, s) &&
	    !load_process(s, &l, pid, 0))
		failed = compare_with_gdb(pid, name, script, walk_threads(pid, u, &l));
	kill(pid, SIGCONT);
	unwind_user__free(u);
	unwind_store__free(s);
	load_free(&l);
	return failed;
}

/* ---- a program that waits in several ways ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static int sleepy(const void *a, const void *b)
{
	sleep(1000);
	return a < b;
}

static void *waiter(void *how)
{
	int v[2] = {0}, fds[2];
	char c;

	switch ((int)(intptr_t)how) {
	case 0:
		pthread_mutex_lock(&mutex);
		pthread_cond_wait(&cond, &mutex);
		break;
	case 1:
		qsort(v, 2, sizeof(*v), sleepy);
		break;
	case 2:
		if (!pipe(fds))
			return read(fds[0], &c, 1) ? how : NULL;
		break;
	case 3:
		poll(NULL, 0, 1000000);
		break;
	case 4:
		for (volatile unsigned i = 0;; i++)
			;
	}
	return how;
}

static pid_t start_own(void)
{
	pid_t pid = fork();
	pthread_t t;

	if (pid)
		return pid;
	for (intptr_t i = 0; i < 5; i++)
		pthread_create(&t, NULL, waiter, (void *)i);
	for (;;)
		pause();
}

static pid_t start_python(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	execlp("python3", "python3", "-c",
	       "import json\ndef f(n): return json.dumps(list(range(n))) if n < 3 else f(n - 1) + "
	       "f(n - 2)\nwhile True: f(12)",
	       NULL);
	_exit(0);
}

int main(int argc, char **argv)
{
	char script[] = "/tmp/unwind-gdb.XXXXXX.py";
	pid_t own, python;
	int failed = 0, fd;

	if (system("command -v gdb >/dev/null 2>&1")) {
		printf("gdb is not installed\n");
		return 77;
	}
	fd = mkstemps(script, 3);
	if (fd < 0 || write(fd, gdb_script, strlen(gdb_script)) < 0)
		return 1;
	close(fd);
	for (int i = 1; i < argc; i++)
		failed |= check(atoi(argv[i]), argv[i], script);
	if (argc < 2) {
		own = start_own();
		python = start_python();
		usleep(500000);
		failed = check(own, "own", script);
		if (kill(python, 0) == 0 && waitpid(python, NULL, WNOHANG) == 0)
			for (int i = 0; i < 3; i++)
				failed |= check(python, "python3", script);
		kill(own, SIGKILL);
		kill(python, SIGKILL);
		while (wait(NULL) > 0)
			;
	}
	unlink(script);
	return failed;
}
