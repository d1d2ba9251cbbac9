/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads that are expensive to record, repeated until SECONDS are over:
 *
 *   burden forks SECONDS      starts one program after the other
 *   burden threads SECONDS    2,000 threads that wake up and sleep
 *   burden switches SECONDS   pairs of threads exchange a byte: hundreds of thousands per second
 *   burden mappings SECONDS   1,000 executable mappings, some of which are constantly replaced
 *   burden opens SECONDS      opens and closes a file
 *   burden calls SECONDS      a system call that does nothing
 *   burden signals SECONDS    sends itself a signal that it handles
 *   burden binds SECONDS      binds a socket to a port
 *   burden connects SECONDS   connects to itself over TCP and resets the connection
 *   burden segments SECONDS   sends a byte over a TCP connection to itself
 *   burden reads SECONDS DEV  reads 4 KiB of the device, past the page cache
 *   burden handovers SECONDS  waits on a futex for another thread, which waits for it in turn
 *   burden preads SECONDS     reads a byte of this program's file, from the page cache
 *   burden faults SECONDS     touches new pages
 *   burden functions SECONDS  calls a function
 *
 * Prints the number of repetitions.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2000, PAIRS = 4, MAPPINGS = 1000, PAGE = 4096 };

extern char **environ;

static atomic_ulong count;
static double end_s;
static const char *device;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void forks(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid;

	for (; now() < end_s; count++)
		need(!posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) &&
			     waitpid(pid, NULL, 0) == pid,
		     "true");
}

static void start(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	need(!pthread_create(&t, &attr, fn, arg), "pthread_create");
	pthread_attr_destroy(&attr);
}

static void *rest(void *arg)
{
	unsigned us = 100000 + (uintptr_t)arg * 37 % 100000;

	for (; now() < end_s; count++)
		usleep(us);
	return NULL;
}

static void threads(void)
{
	for (uintptr_t i = 0; i < THREADS; i++)
		start(rest, (void *)i);
	while (now() < end_s)
		usleep(100000);
}

struct hand {
	int from, to;
};

static void *pass(void *arg)
{
	struct hand *h = arg;
	char c;

	while (now() < end_s && read(h->from, &c, 1) == 1 && write(h->to, &c, 1) == 1)
		count++;
	return NULL;
}

static void switches(void)
{
	static struct hand hands[PAIRS][2];

	for (int i = 0; i < PAIRS; i++) {
		int there[2], back[2];

		need(!pipe(there) && !pipe(back), "pipe");
		hands[i][0] = (struct hand){there[0], back[1]};
		hands[i][1] = (struct hand){back[0], there[1]};
		start(pass, &hands[i][0]);
		start(pass, &hands[i][1]);
		need(write(there[1], "", 1) == 1, "write");
	}
	while (now() < end_s)
		usleep(100000);
}

/* Maps pages of this program, with a gap of a page between mappings so that they do not merge. */
static void mappings(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char *at = mmap(NULL, 2 * MAPPINGS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(fd >= 0 && at != MAP_FAILED, "mmap");
	for (; now() < end_s; count++) {
		char *here = at + 2 * PAGE * (count % MAPPINGS);

		need(mmap(here, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd,
			  count / MAPPINGS % 2 ? PAGE : 0) == here,
		     "mmap");
		for (volatile int i = 0; i < 20000; i++)
			;
		if (count >= MAPPINGS)
			usleep(500);
	}
}

static void opens(void)
{
	for (; now() < end_s; count++) {
		int fd = open("/dev/null", O_RDONLY);

		need(fd >= 0 && !close(fd), "open");
	}
}

static void calls(void)
{
	for (; now() < end_s; count++)
		syscall(SYS_getppid);
}

static void on_signal(int signo)
{
	(void)signo;
}

static void signals(void)
{
	signal(SIGUSR1, on_signal);
	for (; now() < end_s; count++)
		need(!raise(SIGUSR1), "raise");
}

static void binds(void)
{
	for (; now() < end_s; count++) {
		struct sockaddr_in any = {.sin_family = AF_INET,
					  .sin_addr = {htonl(INADDR_LOOPBACK)}};
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		need(fd >= 0 && !bind(fd, (void *)&any, sizeof(any)) && !close(fd), "bind");
	}
}

static struct sockaddr_in here = {.sin_family = AF_INET};

static int tcp_listen(void)
{
	socklen_t len = sizeof(here);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(fd >= 0 && !bind(fd, (void *)&here, sizeof(here)) && !listen(fd, 8) &&
		     !getsockname(fd, (void *)&here, &len),
	     "listen");
	return fd;
}

static void tcp_connect(int listener, int ends[2])
{
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	need(ends[0] >= 0 && !connect(ends[0], (void *)&here, sizeof(here)), "connect");
	ends[1] = accept(listener, NULL, NULL);
	need(ends[1] >= 0, "accept");
}

static void connects(void)
{
	const struct linger reset = {1, 0}; /* no port is left in TIME-WAIT */
	int listener = tcp_listen(), ends[2];

	for (; now() < end_s; count++) {
		tcp_connect(listener, ends);
		need(!setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)),
		     "SO_LINGER");
		need(!close(ends[0]) && !close(ends[1]), "close");
	}
}

static void segments(void)
{
	int ends[2];
	char c = 0;

	tcp_connect(tcp_listen(), ends);
	for (; now() < end_s; count++)
		need(write(ends[0], &c, 1) == 1 && read(ends[1], &c, 1) == 1, "segment");
}

static void reads(void)
{
	int fd = open(device ? device : "", O_RDONLY | O_DIRECT);
	off_t sz = lseek(fd, 0, SEEK_END);
	void *page;

	need(fd >= 0 && sz >= PAGE && !posix_memalign(&page, PAGE, PAGE), "device");
	for (; now() < end_s; count++)
		need(pread(fd, page, PAGE, (off_t)(count * PAGE) % (sz / PAGE * PAGE)) == PAGE,
		     "read");
}

static void preads(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	char byte;

	need(fd >= 0, "open");
	for (; now() < end_s; count++)
		need(pread(fd, &byte, 1, 0) == 1, "pread");
}

static int turn; /* whose it is: a futex */

static void take_turns(int self)
{
	for (; now() < end_s; count += self) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != self && now() < end_s + 1)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !self, NULL, NULL, 0);
		__atomic_store_n(&turn, !self, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	__atomic_store_n(&turn, !self, __ATOMIC_RELEASE);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *other_turns(void *arg)
{
	take_turns(1);
	return arg;
}

static void handovers(void)
{
	pthread_t t;

	need(!pthread_create(&t, NULL, other_turns, NULL), "pthread_create");
	take_turns(0);
	pthread_join(t, NULL);
}

static void faults(void)
{
	enum { PAGES = 1024 };

	while (now() < end_s) {
		char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		need(p != MAP_FAILED, "mmap");
		madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
		for (int i = 0; i < PAGES; i++, count++)
			p[i * PAGE] = 1;
		need(!munmap(p, PAGES * PAGE), "munmap");
	}
}

__attribute__((noinline)) void burden_function(volatile unsigned long *n)
{
	if (*n != ~0UL)
		++*n;
}

static void functions(void)
{
	static volatile unsigned long n;

	while (now() < end_s)
		for (int i = 0; i < 64; i++)
			burden_function(&n);
	count = n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"forks", forks},	       {"threads", threads},	 {"switches", switches},
		     {"mappings", mappings},   {"opens", opens},	 {"calls", calls},
		     {"signals", signals},     {"binds", binds},	 {"reads", reads},
		     {"preads", preads},       {"handovers", handovers}, {"faults", faults},
		     {"functions", functions}, {"connects", connects},	 {"segments", segments}};

	if (argc < 3)
		return 2;
	end_s = now() + atof(argv[2]);
	device = argv[3];
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		modes[i].run();
		printf("%lu\n", (unsigned long)count);
		return 0;
	}
	return 2;
}
