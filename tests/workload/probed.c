/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of events for the probes open, block and runq. Each mode waits for a byte on stdin
 * before it starts, prints what it did, and waits for another byte before it exits.
 *
 *   probed opens N             N that succeed, N that fail with ENOENT, N with EISDIR
 *   probed names N             N opens, each with a different process name
 *   probed reads DEV N [named] direct reads of 16 KiB; with a third word each with a different name
 *   probed queue MS            three processes that compete for one CPU until each has used MS of
 *                              it, and a fourth one that sleeps and wakes up
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { READ_SZ = 16384, COMPETE = 3, NAPS = 300 };

static void await(void)
{
	char go;

	if (read(0, &go, 1) != 1)
		_exit(3);
}

static void rename_self(const char *prefix, int n)
{
	char name[16];

	snprintf(name, sizeof(name), "%s%d", prefix, n);
	prctl(PR_SET_NAME, name);
}

static int open_close(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int opens(int cnt)
{
	int here = 0, missing = 0, directory = 0;

	for (int i = 0; i < cnt; i++) {
		here += open_close("/proc/self/exe", O_RDONLY) == 0;
		missing += open_close("/missing/probed", O_WRONLY) == ENOENT;
		directory += open_close("/proc", O_WRONLY) == EISDIR;
	}
	printf("opens %d %d %d\n", here, missing, directory);
	return 0;
}

static int names(int cnt)
{
	int opened = 0;

	for (int i = 0; i < cnt; i++) {
		rename_self("n", i);
		opened += open_close("/dev/null", O_RDONLY) == 0;
	}
	printf("names %d\n", opened);
	return 0;
}

static int reads(const char *device, int cnt, int named)
{
	int fd = open(device, O_RDONLY | O_DIRECT), done = 0;
	void *buf;

	if (fd < 0 || posix_memalign(&buf, 4096, READ_SZ))
		return 2;
	for (int i = 0; i < cnt; i++) {
		if (named)
			rename_self("r", i);
		done += pread(fd, buf, READ_SZ, (off_t)i * READ_SZ) == READ_SZ;
	}
	printf("reads %d\n", done);
	close(fd);
	return 0;
}

static void compete(int i, int ms)
{
	struct timespec nap = {0, 300000}, used = {0};

	for (int n = 0; i == COMPETE && n < NAPS; n++)
		nanosleep(&nap, NULL);
	while (i < COMPETE && used.tv_sec * 1000 + used.tv_nsec / 1000000 < ms)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	_exit(0);
}

static int queue(int ms)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i <= COMPETE; i++)
		if (!fork())
			compete(i, ms);
	while (wait(NULL) > 0)
		;
	printf("queue %d\n", COMPETE + 1);
	return 0;
}

int main(int argc, char **argv)
{
	int rc = 2;

	if (argc < 3)
		return rc;
	await();
	if (!strcmp(argv[1], "opens"))
		rc = opens(atoi(argv[2]));
	else if (!strcmp(argv[1], "names"))
		rc = names(atoi(argv[2]));
	else if (!strcmp(argv[1], "queue"))
		rc = queue(atoi(argv[2]));
	else if (!strcmp(argv[1], "reads") && argc > 3)
		rc = reads(argv[2], atoi(argv[3]), argc > 4);
	fflush(stdout);
	await();
	return rc;
}
