/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host that never rests, at a given pace: each round starts a process, opens and closes a
 * connection, starts a thread, loads and unloads a library.
 *
 *   churn SECONDS ROUNDS_PER_SECOND [LIBRARY...]
 *
 * Prints the number of rounds at the end.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

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

/* Answers one request a connection. */
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

static void *burn(void *arg)
{
	for (volatile int i = 0; i < 20000; i++)
		;
	return arg;
}

static void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, burn, NULL) || pthread_join(thread, NULL))
		fail("pthread_create");
}

int main(int argc, char **argv)
{
	uint64_t end, next, period, rounds = 0;
	struct sockaddr_in server;

	if (argc < 3)
		return 2;
	next = now_ns();
	end = next + strtoull(argv[1], NULL, 10) * 1000000000ULL;
	period = 1000000000ULL / strtoull(argv[2], NULL, 10);
	server = start_server();
	for (; now_ns() < end; rounds++) {
		uint64_t now = now_ns();

		run_process();
		talk(&server);
		run_thread();
		if (argc > 3) {
			void *library = dlopen(argv[3 + rounds % (argc - 3)], RTLD_NOW | RTLD_LOCAL);

			if (library)
				dlclose(library);
		}
		next += period;
		if (next > now)
			usleep((next - now) / 1000);
		else
			next = now;
	}
	printf("%llu\n", (unsigned long long)rounds);
	return 0;
}
