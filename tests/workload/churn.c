/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host with constant activity. A round consists of KINDS:
 *
 *   p  a process starts and ends                c  a connection with a request and a response
 *   t  a thread computes for a moment           l  a library is loaded at a new address, unloaded
 *   j  a process runs generated code without symbols
 *
 *   churn SECONDS ROUNDS_PER_SECOND KINDS [LIBRARY...]   prints the number of rounds each second
 *   churn 0 0 - [LIBRARY...]                             reads "KINDS ROUNDS" from stdin; prints
 *                                                        "ran" after each
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char **libraries;
static unsigned library_cnt;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Serves one request per connection. */
static void *serve(void *arg)
{
	int listener = *(int *)arg;
	char buf[256];

	for (;;) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (read(fd, buf, sizeof(buf)) > 0 && write(fd, "+OK\r\n", 5) < 0)
			perror("write");
		close(fd);
	}
	return NULL;
}

static struct sockaddr_in start_server(void)
{
	static int listener;
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	pthread_t thread;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (void *)&at, sizeof(at)) || listen(listener, 64) ||
	    getsockname(listener, (void *)&at, &len))
		fail("listen");
	if (pthread_create(&thread, NULL, serve, &listener))
		fail("pthread_create");
	return at;
}

static void talk(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char buf[16];

	if (fd < 0 || connect(fd, (void *)to, sizeof(*to)) ||
	    write(fd, "*1\r\n$4\r\nPING\r\n", 14) != 14 || read(fd, buf, sizeof(buf)) < 0)
		fail("connect");
	close(fd);
}

static void run_process(void)
{
	char *argv[] = {"true", NULL};
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) || waitpid(pid, NULL, 0) != pid)
		fail("true");
}

static void *work(void *arg)
{
	for (volatile int i = 0; i < 300000; i++)
		;
	return arg;
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		fail("pthread_create");
}

/* Loads the library at an address that repeats only after thousands of rounds: below a hole of
 * varying, odd size, so that the address is not aligned to a huge page. */
static void run_library(uint64_t round)
{
	size_t room = (1 + round % 8192) << 22 | 4096;
	void *above = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *library = dlopen(libraries[round % library_cnt], RTLD_NOW | RTLD_LOCAL);

	if (library)
		dlclose(library);
	if (above != MAP_FAILED)
		munmap(above, room);
}

/* Counts down from its argument. */
static const unsigned char countdown[] = {
#if defined(__x86_64__)
	0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3, /* dec rdi; jnz; ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54,
	0xc0, 0x03, 0x5f, 0xd6, /* subs x0, x0, 1; b.ne; ret */
#endif
};

static void run_generated(void)
{
	pid_t pid = fork();
	void *code;

	if (pid < 0)
		fail("fork");
	if (pid) {
		waitpid(pid, NULL, 0);
		return;
	}
	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (code == MAP_FAILED)
		_exit(1);
	memcpy(code, countdown, sizeof(countdown));
	__builtin___clear_cache(code, (char *)code + sizeof(countdown));
	((void (*)(uint64_t))code)(20000000);
	_exit(0);
}

static void run_round(const char *kinds, const struct sockaddr_in *server, uint64_t round)
{
	for (; *kinds; kinds++) {
		switch (*kinds) {
		case 'p':
			run_process();
			break;
		case 'c':
			talk(server);
			break;
		case 't':
			run_thread();
			break;
		case 'l':
			if (library_cnt)
				run_library(round);
			break;
		case 'j':
			run_generated();
			break;
		}
	}
}

static void run_asked(const struct sockaddr_in *server)
{
	uint64_t cnt, round = 0;
	char kinds[16];

	while (scanf("%15s %lu", kinds, &cnt) == 2) {
		while (cnt--)
			run_round(kinds, server, round++);
		printf("ran\n");
	}
}

static void run_timed(const struct sockaddr_in *server, uint64_t seconds, uint64_t rate,
		      const char *kinds)
{
	uint64_t next = now_ns(), end = next + seconds * 1000000000, told = next, rounds = 0, now;

	while ((now = now_ns()) < end) {
		run_round(kinds, server, rounds++);
		if (now >= told) {
			printf("%lu\n", rounds);
			told += 1000000000;
		}
		next += 1000000000 / rate;
		if (next > now)
			usleep((next - now) / 1000);
		else
			next = now;
	}
	printf("%lu\n", rounds);
}

int main(int argc, char **argv)
{
	struct sockaddr_in server;

	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	libraries = argv + 4;
	library_cnt = argc - 4;
	server = start_server();
	if (atoi(argv[1]))
		run_timed(&server, atoi(argv[1]), atoi(argv[2]), argv[3]);
	else
		run_asked(&server);
	return 0;
}
