/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A FUSE filesystem that stops responding, in its own mount namespace, so that it ends with this
 * program.
 *
 *   stuckfs DIR FILE WHAT -- COMMAND [ARG...]
 *
 * Below DIR every name is a file with the content of FILE. COMMAND runs at the same time, and is
 * killed when stuckfs ends. On SIGUSR1 it prints "stopped" and from then on does not respond to
 * requests of kind WHAT: processes waiting for one cannot be killed until stuckfs ends (SIGTERM,
 * SIGKILL). WHAT: all, getattr, open, read, flush, lookup; with prefix "now," (now,all): stopped
 * from the start.
 *
 * Manual use, as root; `kill $d` unblocks obrec:
 *
 *   build/workload/badelf plain /tmp/f; mkdir /tmp/mnt
 *   build/workload/stuckfs /tmp/mnt /tmp/f all -- build/workload/hostile map /tmp/mnt/x & d=$!
 *   sleep 1; kill -USR1 $d; build/obrec -d 3s -p $(pgrep -P $d) -o /tmp/a.obz
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

enum { WRITE_MAX = 4096, REQUEST_MAX = FUSE_MIN_READ_BUFFER + WRITE_MAX };

struct fs {
	int fuse;
	const char *file;
	size_t file_sz;
	int what; /* opcode without response; 0: all */
	bool stopped;
};

static void answer(const struct fs *fs, uint64_t unique, int err, const void *body, size_t len)
{
	struct fuse_out_header h = {.len = sizeof(h) + len, .error = -err, .unique = unique};
	struct iovec v[] = {{&h, sizeof(h)}, {(void *)body, len}};

	if (writev(fs->fuse, v, len ? 2 : 1) < 0 && errno != ENOENT) /* the requester has exited */
		perror("stuckfs: answer");
}

static struct fuse_attr attr_of(const struct fs *fs, uint64_t id)
{
	return (struct fuse_attr){.ino = id,
				  .size = id != FUSE_ROOT_ID ? fs->file_sz : 0,
				  .blocks = fs->file_sz / 512,
				  .mode = id != FUSE_ROOT_ID ? S_IFREG | 0755 : S_IFDIR | 0755,
				  .nlink = 1,
				  .blksize = 4096};
}

static void init(const struct fs *fs, uint64_t unique, const struct fuse_init_in *in)
{
	struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION < in->minor
						     ? FUSE_KERNEL_MINOR_VERSION
						     : in->minor,
				    .max_readahead = 65536,
				    .max_write = WRITE_MAX};

	answer(fs, unique, 0, &out, sizeof(out));
}

static void read_file(const struct fs *fs, uint64_t unique, const struct fuse_read_in *in)
{
	size_t left = in->offset < fs->file_sz ? fs->file_sz - in->offset : 0;

	answer(fs, unique, 0, fs->file + in->offset, left < in->size ? left : in->size);
}

/* Each name has its own inode. */
static uint64_t id_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return 2 + (uint64_t)hash;
}

static void look_up(const struct fs *fs, uint64_t unique, const char *name)
{
	uint64_t id = id_of(name);
	struct fuse_entry_out entry = {.nodeid = id, .attr = attr_of(fs, id)};

	answer(fs, unique, 0, &entry, sizeof(entry));
}

/* The kernel caches only pages: each stat, path lookup and open sends a request. */
static void serve(const struct fs *fs, const struct fuse_in_header *h)
{
	struct fuse_attr_out attr = {.attr = attr_of(fs, h->nodeid)};
	struct fuse_open_out open = {.open_flags = FOPEN_KEEP_CACHE};

	switch (h->opcode) {
	case FUSE_INIT:
		init(fs, h->unique, (const void *)(h + 1));
		break;
	case FUSE_LOOKUP:
		look_up(fs, h->unique, (const char *)(h + 1));
		break;
	case FUSE_GETATTR:
		answer(fs, h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fs, h->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		read_file(fs, h->unique, (const void *)(h + 1));
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(fs, h->unique, 0, NULL, 0);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: /* these have no response */
		break;
	default:
		answer(fs, h->unique, ENOSYS, NULL, 0);
	}
}

static void take_request(const struct fs *fs)
{
	_Alignas(8) char buf[REQUEST_MAX];
	const struct fuse_in_header *h = (const void *)buf;
	ssize_t n = read(fs->fuse, buf, sizeof(buf));

	if (n < (ssize_t)sizeof(*h)) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT))
			return;
		exit(0); /* unmounted, or aborted */
	}
	if (!fs->stopped || h->opcode == FUSE_INIT || (fs->what && fs->what != (int)h->opcode))
		serve(fs, h);
}

static int opcode_of(const char *what)
{
	static const struct {
		const char *name;
		int opcode;
	} kinds[] = {{"all", 0},	  {"getattr", FUSE_GETATTR}, {"open", FUSE_OPEN},
		     {"read", FUSE_READ}, {"flush", FUSE_FLUSH},     {"lookup", FUSE_LOOKUP}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, what))
			return kinds[i].opcode;
	fprintf(stderr, "stuckfs: what is %s?\n", what);
	exit(2);
}

static void mount_at(struct fs *fs, const char *dir)
{
	char options[128];

	NEED(!unshare(CLONE_NEWNS));
	NEED(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL));
	fs->fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC | O_NONBLOCK);
	NEED(fs->fuse >= 0);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other",
		 fs->fuse);
	NEED(!mount("stuckfs", dir, "fuse", 0, options));
}

static pid_t start(char **command, const sigset_t *none)
{
	pid_t parent = getpid(), pid = fork();

	NEED(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(1);
	sigprocmask(SIG_SETMASK, none, NULL);
	execvp(command[0], command);
	NEED(!"exec");
	return 0;
}

/* Processes waiting for a response can be killed only when the connection is gone. */
static int end(const struct fs *fs, pid_t command)
{
	close(fs->fuse);
	kill(command, SIGKILL);
	waitpid(command, NULL, 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct fs fs = {0};
	struct pollfd p[2];
	sigset_t set, before;
	struct stat st;
	pid_t command;
	int fd;

	if (argc < 6 || strcmp(argv[4], "--"))
		return 2;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	fs.stopped = !strncmp(argv[3], "now,", 4);
	fs.what = opcode_of(argv[3] + (fs.stopped ? 4 : 0));
	fd = open(argv[2], O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0 && !fstat(fd, &st));
	fs.file_sz = st.st_size;
	fs.file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	NEED(fs.file != MAP_FAILED);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	mount_at(&fs, argv[1]);
	command = start(argv + 5, &before);
	p[0] = (struct pollfd){.fd = fs.fuse, .events = POLLIN};
	p[1] = (struct pollfd){.fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN};
	for (;;) {
		struct signalfd_siginfo si;

		if (poll(p, 2, -1) < 0)
			continue;
		if (p[1].revents && read(p[1].fd, &si, sizeof(si)) == sizeof(si)) {
			if (si.ssi_signo != SIGUSR1)
				return end(&fs, command);
			fs.stopped = true;
			puts("stopped");
			fflush(stdout);
			continue;
		}
		if (p[0].revents)
			take_request(&fs);
	}
}
