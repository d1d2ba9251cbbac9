/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Target processes that try to block or slow down a recorder. Each prints "ready PID" when it has
 * reached its state, and runs until it is killed.
 *
 *   hostile [-n COUNT] [-r ROOT] MODE ARG...
 *
 * -n: COUNT such processes, with FILE.1 to FILE.COUNT. -r: chroot to ROOT.
 *
 *   map FILE       runs code of FILE at 4096, as written by badelf
 *   dlopen FILE    runs work() of the shared object
 *   spin           runs its own code, locked into memory: for executing from a stuckfs
 *   args FILE      maps FILE over its arguments and environment; since 4.17 the kernel then shows
 *                  none (commit 7f7ccc2ccc2e), before that reading them read FILE
 *   lock FILE      a thread waits for a page of FILE while holding mmap_lock, another one waits to
 *                  write: readers of cmdline, environ, map_files, memory, and of maps before 6.17,
 *                  wait behind them. For a stuckfs that does not read (now,read)
 *   asleep FILE    a thread sleeps whose stack is a page of FILE that was never read
 *   shared FILE LIB
 *                  executes LIB, too; on SIGUSR1 it does as `lock` and prints "locked". Then the
 *                  kernel attaches no uprobe to LIB and detaches none, and while it tries to, no
 *                  process of the host can fork
 *   perfmap KIND   runs anonymous memory, with a /tmp/perf-PID.map. KIND: none; hole (1 TiB); ends
 *                  (a line before and one after the hole); grow (forever); churn (its size goes
 *                  up and down); lines (10 million); link (to /dev/zero); fifo
 *   maps COUNT DIR maps COUNT parts of files whose names contain newlines and escapes, and
 *                  constantly replaces them
 *   title          2 MiB of arguments and environment
 *   execs FILE     constantly forks and executes FILE, five at once
 *
 * Manual use, as root:
 *
 *   mkdir -p /tmp/r/tmp; build/workload/hostile -r /tmp/r perfmap hole &
 *   build/obrec -d 3s -p $! -o /tmp/a.obz
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"
#include "spin.h"

enum { PAGE = 4096, SLOTS = 65536, SLOT_SZ = 64, REGION_SZ = SLOTS * SLOT_SZ };
#define HOLE (1LL << 40)

static unsigned count = 1, number = 1;

static void say_ready(void)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "ready %d\n", getpid());

	NEED(write(1, line, n) == n);
}

static const char *file_of(char **arg)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s.%u", arg[0], number);
	return count == 1 ? arg[0] : path;
}

/* Sleeps so that many processes together use less than a tenth of a CPU. */
static void rest(void)
{
	usleep(count == 1 ? 4000 : 8000 * count);
}

static void run(void (*work)(void))
{
	for (;;) {
		work();
		rest();
	}
}

static void *map_file(const char *file, size_t len, int prot, int flags, void *at)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *p;

	NEED(fd >= 0);
	p = mmap(at, len, prot, MAP_PRIVATE | flags, fd, 0);
	NEED(p != MAP_FAILED);
	close(fd);
	return p;
}

static void do_map(char **arg)
{
	char *p = map_file(file_of(arg), 2 * PAGE, PROT_READ | PROT_EXEC, MAP_POPULATE, NULL);

	say_ready();
	run((void (*)(void))(p + PAGE));
}

/* Locks the program into memory, so that no page is read again when the file no longer can be. */
static void stay(void)
{
	NEED(!mlockall(MCL_CURRENT));
	say_ready();
}

static void do_dlopen(char **arg)
{
	void *lib = dlopen(file_of(arg), RTLD_NOW);
	void (*work)(void) = lib ? (void (*)(void))dlsym(lib, "work") : NULL;

	NEED(work);
	stay();
	run(work);
}

static void own_work(void)
{
	for (volatile int i = 0; i < 300000; i++)
		;
}

static void do_spin(char **arg)
{
	stay();
	run(own_work);
}

/* ---- memory that cannot be read ---- */

static void start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	NEED(!pthread_create(&thread, NULL, fn, arg));
}

struct cover {
	const char *file;
	char *from;
	size_t len;
};

static void *cover_arguments(void *p)
{
	const struct cover *c = p;

	map_file(c->file, c->len, PROT_READ, MAP_FIXED, c->from);
	say_ready();
	run(own_work);
	return NULL;
}

/* The covered pages may contain the main thread's own frames, so it never returns from pause(). */
static void do_args(char **arg)
{
	extern char **environ;
	static struct cover c;
	uintptr_t from = (uintptr_t)arg[-1] / PAGE * PAGE, to = from + PAGE;

	for (char **e = environ; *e; e++)
		to = (uintptr_t)*e + strlen(*e);
	c = (struct cover){strdup(file_of(arg)), (void *)from,
			   (to - from + PAGE - 1) / PAGE * PAGE};
	/* Continue further down the stack: the frames up to here may share a page with the covered
	 * memory. */
	((volatile char *)alloca(4 * PAGE))[0] = 0;
	start_thread(cover_arguments, &c);
	for (;;)
		pause();
}

/*
 * Reads the page through /proc/self/mem: unlike a fault by touching the page, this keeps the lock.
 */
static void *hold_read_lock(void *page)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char c;

	NEED(fd >= 0);
	return pread(fd, &c, 1, (off_t)(uintptr_t)page) == 1 ? page : NULL;
}

static pid_t writer;
static volatile bool holder_is_there; /* creating a thread takes the lock, too */

static void *want_write_lock(void *arg)
{
	__atomic_store_n(&writer, gettid(), __ATOMIC_RELEASE);
	while (!holder_is_there)
		usleep(1000);
	for (;;)
		munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), PAGE);
	return arg;
}

/* Whether the writer does nothing but wait for the lock, during a tenth of a second. */
static bool writer_waits(void)
{
	char path[64], buf[512], *p;
	int fd, waits = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", writer);
	for (int i = 0; i < 100; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		buf[fd < 0 ? 0 : read(fd, buf, sizeof(buf) - 1)] = 0;
		close(fd);
		p = strrchr(buf, ')');
		waits += p && p[2] == 'D';
		usleep(1000);
	}
	return waits == 100;
}

/* Before `lock`: afterwards no thread may allocate memory. */
static char *prepare_lock(const char *file)
{
	char *page;

	NEED(!mlockall(MCL_CURRENT));
	page = map_file(file, PAGE, PROT_READ, 0, NULL);
	start_thread(want_write_lock, NULL);
	while (!__atomic_load_n(&writer, __ATOMIC_ACQUIRE))
		usleep(1000);
	return page;
}

static void lock(char *page)
{
	start_thread(hold_read_lock, page);
	holder_is_there = true;
	while (!writer_waits())
		;
}

static void do_lock(char **arg)
{
	lock(prepare_lock(file_of(arg)));
	say_ready();
	run(own_work);
}

/* The kernel does not use the stack of a thread that sleeps in a system call. */
static void *sleep_on(void *stack)
{
	char *top = (char *)stack + PAGE / 2;

	pthread_setname_np(pthread_self(), "asleep");
#if defined(__x86_64__)
	__asm__ volatile("mov %0, %%rsp\n1: mov %1, %%eax\nsyscall\njmp 1b"
			 :
			 : "r"(top), "i"(SYS_pause)
			 : "memory", "rax", "rcx", "r11");
#elif defined(__aarch64__)
	__asm__ volatile("mov sp, %0\n1: mov x8, %1\nmov x0, xzr\nmov x1, xzr\nmov x2, xzr\n"
			 "mov x3, xzr\nsvc 0\nb 1b"
			 :
			 : "r"(top), "i"(SYS_ppoll)
			 : "memory", "x0", "x1", "x2", "x3", "x8");
#endif
	return NULL;
}

static void do_asleep(char **arg)
{
	start_thread(sleep_on, map_file(file_of(arg), PAGE, PROT_READ | PROT_WRITE, 0, NULL));
	say_ready();
	run(own_work);
}

static void do_shared(char **arg)
{
	char *page = prepare_lock(file_of(arg));
	struct stat st;
	sigset_t set;
	int sig;

	NEED(!stat(arg[1], &st));
	map_file(arg[1], st.st_size, PROT_READ | PROT_EXEC, 0, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	say_ready();
	sigwait(&set, &sig);
	lock(page);
	NEED(write(1, "locked\n", 7) == 7);
	run(own_work);
}

static void do_title(char **arg)
{
	enum { SIZE = 120 << 10, ARGS = 12, VARS = 4 };
	struct rlimit stack = {64 << 20, RLIM_INFINITY};
	char *args[ARGS + 4] = {"hostile", "title", "again"}, *vars[VARS + 1] = {0}, *big;

	if (arg[0]) {
		say_ready();
		run(own_work);
	}
	big = malloc(SIZE + 1);
	NEED(big);
	memset(big, 'x', SIZE);
	big[SIZE] = 0;
	memcpy(big, "X=\n\033[1m\\012", 10);
	for (int i = 0; i < ARGS; i++)
		args[3 + i] = big;
	for (int i = 0; i < VARS; i++)
		vars[i] = big;
	setrlimit(RLIMIT_STACK, &stack);
	execve("/proc/self/exe", args, vars);
	NEED(!"execve");
}

/* ---- perf-PID.map ---- */

static char *region;

static void write_at(int fd, off_t at, const char *name, unsigned from_slot, unsigned slots)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "\n%lx %x %s\n", (long)(region + from_slot * SLOT_SZ),
			 slots * SLOT_SZ, name);

	NEED(pwrite(fd, line, n, at) == n);
}

/* Lines of equal length, so that many can be written at once. */
static void write_lines(int fd, unsigned lines)
{
	enum { PIECE = 10000 };
	char *buf = malloc(PIECE * 32);
	size_t n;

	NEED(buf);
	for (unsigned i = 0; i < lines; i += PIECE) {
		n = 0;
		for (unsigned j = 0; j < PIECE; j++)
			n += sprintf(buf + n, "%x 10 f%u\n", 0x10000 + (i + j) * 16, i + j);
		NEED(write(fd, buf, n) == (ssize_t)n);
	}
	free(buf);
}

/* Calls slots spread over the whole region: the factor is odd, so that each slot is reached. */
static void call_slots(unsigned calls)
{
	static unsigned slot;

	for (unsigned i = 0; i < calls; i++)
		((void (*)(void))(region + slot++ * 40503u % SLOTS * SLOT_SZ))();
	rest();
}

static void grow(int fd)
{
	for (unsigned i = 0;; i++) {
		if (i < 2000)
			write_lines(fd, 10000);
		call_slots(4);
	}
}

static void churn(int fd)
{
	for (unsigned i = 0;; i++) {
		NEED(!ftruncate(fd, i % 2 ? HOLE : HOLE / 2));
		call_slots(4);
	}
}

static void do_perfmap(char **arg)
{
	const char *kind = arg[0];
	char path[64];
	int fd = -1;

	region = mmap(NULL, REGION_SZ, PROT_READ | PROT_WRITE | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	NEED(region != MAP_FAILED);
	for (unsigned i = 0; i < SLOTS; i++)
		memcpy(region + i * SLOT_SZ, spin_code, sizeof(spin_code));
	__builtin___clear_cache(region, region + REGION_SZ);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (!strcmp(kind, "link"))
		NEED(!symlink("/dev/zero", path));
	else if (!strcmp(kind, "fifo"))
		NEED(!mkfifo(path, 0600));
	else if (strcmp(kind, "none")) {
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0644);
		NEED(fd >= 0);
		if (!strcmp(kind, "ends"))
			write_at(fd, 0, "before_the_hole", 0, SLOTS / 2);
		if (!strcmp(kind, "lines"))
			write_lines(fd, 10000000);
		else if (strcmp(kind, "grow"))
			NEED(!ftruncate(fd, HOLE));
		if (!strcmp(kind, "ends"))
			write_at(fd, HOLE, "behind_the_hole", SLOTS / 2, SLOTS / 2);
	}
	say_ready();
	if (!strcmp(kind, "grow"))
		grow(fd);
	if (!strcmp(kind, "churn"))
		churn(fd);
	for (;;)
		call_slots(4);
}

/* ---- mappings and programs ---- */

static void do_maps(char **arg)
{
	enum { FILES = 4, PIECES = 16384 };
	static const char *const names[FILES] = {"a\nb 00400000-00401000 r-xp 0 00:00 1 ",
						 "\\012 (deleted)", "\033[2J\n\n\n", " x"};
	long want = atol(arg[0]), have = 0;
	char **at = calloc(want, sizeof(*at)), path[512];
	int fd[FILES];

	NEED(at);
	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", arg[1], names[i]);
		fd[i] = open(path, O_RDWR | O_CREAT | O_TRUNC, 0755);
		NEED(fd[i] >= 0 && !ftruncate(fd[i], (off_t)PIECES * 2 * PAGE));
	}
	for (unsigned long i = 0;; i++) {
		off_t piece = i * 7919 % PIECES * 2 *
			      PAGE; /* never adjacent, so that they do not merge */
		char *m = mmap(at[i % want], PAGE, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | (at[i % want] ? MAP_FIXED : 0), fd[i % FILES], piece);

		if (m != MAP_FAILED) /* vm.max_map_count */
			at[i % want] = m;
		if (++have == want)
			say_ready();
		if (have > want && have % 256 == 0)
			rest();
	}
}

static void do_execs(char **arg)
{
	say_ready();
	for (unsigned long i = 0;; i++) {
		pid_t p = fork();

		NEED(p >= 0);
		if (!p) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl(file_of(arg), arg[0], "none", (char *)NULL);
			_exit(1);
		}
		if (i >= 5)
			waitpid(-1, NULL, 0);
		own_work();
	}
}

/* ---- a life ---- */

static const struct {
	const char *name;
	void (*run)(char **arg);
	int args;
} modes[] = {
	{"map", do_map, 1},	    {"dlopen", do_dlopen, 1}, {"spin", do_spin, 0},
	{"args", do_args, 1},	    {"lock", do_lock, 1},     {"shared", do_shared, 2},
	{"perfmap", do_perfmap, 1}, {"maps", do_maps, 2},     {"title", do_title, 0},
	{"execs", do_execs, 1},	    {"asleep", do_asleep, 1},
};

/* Forks a process for each but the last. */
static void multiply(void)
{
	pid_t parent = getpid();

	for (; number < count; number++) {
		pid_t p = fork();

		NEED(p >= 0);
		if (p)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			exit(1);
		return;
	}
}

int main(int argc, char **argv)
{
	int opt;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while ((opt = getopt(argc, argv, "+n:r:")) != -1) {
		if (opt == 'n')
			count = atoi(optarg);
		else if (opt != 'r' || chroot(optarg) || chdir("/"))
			return 2;
	}
	for (size_t i = 0; optind < argc && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, argv[optind]) && argc - optind - 1 >= modes[i].args) {
			multiply();
			modes[i].run(argv + optind + 1);
		}
	return 2;
}
