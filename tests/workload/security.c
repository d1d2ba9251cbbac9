/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A known number of events for the probes exec, bind, oom, mount, cap, tcp, file. Each mode waits
 * for a byte on stdin before it starts, and prints its pid and what it did.
 *
 *   security exec N    N programs run that exit with 3, N calls that fail with ENOENT, N with
 *                      EACCES; and one each of: arguments of 40 KB, run and not found; run by a
 *                      thread; run by a descriptor; not found at a path that is not in memory;
 *                      killed; crashed; threads that use CPU time and memory
 *   security bind N    N listeners with SO_REUSEADDR and SO_REUSEPORT, N calls that fail with
 *                      EADDRINUSE; and one each of bind_once()
 *   security oom N     N processes in a cgroup of their own that use more than its limit, and one
 *                      that does, of which another process there is killed
 *   security mount N   in a mount namespace of its own: N file systems mounted and unmounted, N
 *                      that fail with ENODEV; and one each of mount_once() and mount_in_steps()
 *   security cap N     N calls that need CAP_SYS_BOOT; N by another user, denied, who reads
 *                      /proc/1/stat; N in a user namespace of its own, denied, and N that need
 * CAP_SYS_CHROOT in that
 *   security tcp N     in a network namespace of its own: N connections that move TCP_ASKED and
 *                      TCP_ANSWERED bytes, N connects refused; and those of tcp_once()
 *   security file N    N writes and reads of f-plain, N more of a pipe and of memory, N reads that
 *                      fail with EINVAL; and those of file_once(). Prints the account of each file
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <linux/types.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
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

/* ---- bind ---- */

enum { BACKLOG = 7 };

/* Returns errno of a bind to an address of 4 or 16 bytes; *port: asked for, then got. */
static int bind_to(int fd, int family, const char *text, int *port)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(*port)};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(*port)};
	struct sockaddr *a = family == AF_INET ? (void *)&in : (void *)&in6;
	socklen_t len = family == AF_INET ? sizeof(in) : sizeof(in6);

	inet_pton(family, text, family == AF_INET ? (void *)&in.sin_addr : (void *)&in6.sin6_addr);
	if (bind(fd, a, len))
		return errno;
	getsockname(fd, a, &len);
	*port = ntohs(family == AF_INET ? in.sin_port : in6.sin6_port);
	return 0;
}

static int bind_unix(int fd, const char *name, size_t len)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	memcpy(un.sun_path, name, len);
	return bind(fd, (void *)&un, offsetof(struct sockaddr_un, sun_path) + len) ? errno : 0;
}

static void set(int fd, int level, int option)
{
	int on = 1;

	if (setsockopt(fd, level, option, &on, sizeof(on)))
		printf("no option %d: %s\n", option, strerror(errno));
}

/* One call of each kind, in this order. */
static void bind_once(const char *dir)
{
	int udp6 = socket(AF_INET6, SOCK_DGRAM, 0), free4 = socket(AF_INET, SOCK_STREAM, 0);
	int other = socket(AF_INET, SOCK_STREAM, 0), mapped = socket(AF_INET6, SOCK_STREAM, 0);
	int stream = socket(AF_UNIX, SOCK_STREAM, 0), abstract = socket(AF_UNIX, SOCK_DGRAM, 0);
	int port = 0, none = 0, any = 0;
	char path[100];

	set(udp6, SOL_IP, IP_TRANSPARENT);
	setsockopt(udp6, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
	printf("once %d", bind_to(udp6, AF_INET6, "::1", &port));
	set(free4, SOL_IP, IP_FREEBIND);
	set(free4, SOL_IP, IP_BIND_ADDRESS_NO_PORT);
	printf(" %d", bind_to(free4, AF_INET, "192.0.2.1", &none));
	printf(" %d", bind_to(other, AF_INET, "192.0.2.1", &none));
	printf(" %d", bind_to(mapped, AF_INET6, "::ffff:127.0.0.1", &any));
	snprintf(path, sizeof(path), "%s/known", dir);
	printf(" %d", bind_unix(stream, path, strlen(path) + 1));
	printf(" %d", listen(stream, BACKLOG) ? errno : 0);
	unlink(path);
	printf(" %d", bind_unix(abstract, "\0known", 6));
	printf(" %d", bind_unix(socket(AF_UNIX, SOCK_STREAM, 0), "/missing/known", 14));
	printf(" %d", listen(udp6, BACKLOG) ? errno : 0);
	printf(" %d", bind_to(-1, AF_INET, "127.0.0.1", &none));
	printf(" %d\nports %d %d\n", bind_to(0, AF_INET, "127.0.0.1", &none), port, any);
}

static int do_bind(int cnt, char *dir)
{
	int bound = 0, listening = 0, in_use = 0;

	for (int i = 0; i < cnt; i++) {
		int a = socket(AF_INET, SOCK_STREAM, 0), b = socket(AF_INET, SOCK_STREAM, 0),
		    port = 0;

		set(a, SOL_SOCKET, SO_REUSEADDR);
		set(a, SOL_SOCKET, SO_REUSEPORT);
		bound += !bind_to(a, AF_INET, "127.0.0.1", &port) && port;
		listening += !listen(a, BACKLOG);
		in_use += bind_to(b, AF_INET, "127.0.0.1", &port) == EADDRINUSE;
		close(a);
		close(b);
	}
	printf("bind %d %d %d\n", bound, listening, in_use);
	bind_once(dir);
	return 0;
}

/* ---- tcp ---- */

enum { TCP_ASKED = 1000, TCP_ANSWERED = 30000, TCP_TIMEOUTS = 3, TCP_PATIENCE_MS = 500 };

static int tcp_bound(int family, const char *address, int *port)
{
	int fd = socket(family, SOCK_STREAM, 0);

	*port = 0;
	return bind_to(fd, family, address, port) ? -1 : fd;
}

/* Returns errno of connect(). */
static int tcp_connect(int fd, int family, const char *address, int port)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool v4 = family == AF_INET;

	inet_pton(family, address, v4 ? (void *)&in.sin_addr : (void *)&in6.sin6_addr);
	return connect(fd, v4 ? (void *)&in : (void *)&in6, v4 ? sizeof(in) : sizeof(in6)) ? errno
											   : 0;
}

static bool tcp_move(int from, int to, size_t len)
{
	static char bytes[TCP_ANSWERED];

	return send(from, bytes, len, 0) == (ssize_t)len &&
	       recv(to, bytes, len, MSG_WAITALL) == (ssize_t)len;
}

/* The client closes first, or the server by a reset. */
static bool tcp_talk(int listener, int family, const char *address, int port, bool reset)
{
	struct linger at_once = {.l_onoff = 1};
	int client = socket(family, SOCK_STREAM, 0), server;
	bool good = !tcp_connect(client, family, address, port);
	char end;

	server = accept(listener, NULL, NULL);
	good = tcp_move(client, server, TCP_ASKED) && tcp_move(server, client, TCP_ANSWERED) &&
	       good;
	if (reset) {
		setsockopt(server, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
		close(server);
		good &= recv(client, &end, 1, 0) < 0 && errno == ECONNRESET;
		close(client);
	} else {
		close(client);
		good &= !recv(server, &end, 1, 0);
		close(server);
	}
	return good;
}

static uint16_t tcp_checksum(const void *data, size_t len, uint32_t sum)
{
	for (const uint16_t *w = data; len > 1; len -= 2)
		sum += *w++;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Sends cnt segments outside of the window on loopback, of an even number of bytes. Returns how
 * many it sent. */
static int tcp_forge(int from, int to, size_t len, bool damaged, int cnt)
{
	struct {
		struct tcphdr tcp;
		char payload[64];
	} s = {.tcp = {.source = htons(from),
		       .dest = htons(to),
		       .seq = htonl(12345),
		       .doff = sizeof(struct tcphdr) / 4,
		       .ack = 1}};
	struct sockaddr_in lo = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int raw = socket(AF_INET, SOCK_RAW, IPPROTO_TCP), sent = 0;
	size_t sz = sizeof(s.tcp) + len;
	uint16_t pseudo[] = {htons(IPPROTO_TCP), htons(sz), htons(INADDR_LOOPBACK >> 16),
			     htons(INADDR_LOOPBACK & 0xffff)};

	s.tcp.check = tcp_checksum(&s, sz,
				   pseudo[0] + pseudo[1] + 2 * pseudo[2] + 2 * pseudo[3] + damaged);
	for (int i = 0; i < cnt; i++)
		sent += sendto(raw, &s, sz, 0, (void *)&lo, sizeof(lo)) == (ssize_t)sz;
	close(raw);
	return sent;
}

static int tcp_state_of(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) ? -1 : info.tcpi_state;
}

/* Connects to a listener with a full queue, which drops what comes: TCP_TIMEOUTS fail, one is given
 * up; and forges segments for the one that is connected. Returns the number of ETIMEDOUT. */
static int tcp_time_out(int forge)
{
	struct sockaddr_in own = {0};
	socklen_t own_len = sizeof(own);
	int port, listener = tcp_bound(AF_INET, "127.0.0.1", &port), cnt = 0, error;
	int full = socket(AF_INET, SOCK_STREAM, 0), given_up = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd waiting[TCP_TIMEOUTS];
	socklen_t len = sizeof(error);
	unsigned patience = TCP_PATIENCE_MS;

	listen(listener, 0);
	tcp_connect(full, AF_INET, "127.0.0.1", port);
	getsockname(full, (void *)&own, &own_len);
	printf("forged %d %d\n", tcp_forge(port, ntohs(own.sin_port), 10, true, forge),
	       tcp_forge(port, ntohs(own.sin_port), 20, false, forge));
	fcntl(given_up, F_SETFL, O_NONBLOCK);
	tcp_connect(given_up, AF_INET, "127.0.0.1", port);
	close(given_up);
	for (int i = 0; i < TCP_TIMEOUTS; i++) {
		waiting[i].fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		waiting[i].events = POLLOUT;
		setsockopt(waiting[i].fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience,
			   sizeof(patience));
		tcp_connect(waiting[i].fd, AF_INET, "127.0.0.1", port);
	}
	for (int i = 0; i < TCP_TIMEOUTS; i++) {
		if (poll(&waiting[i], 1, 60000) != 1)
			continue;
		/* The kernel sets the error first: who takes it from there before the connection is
		 * closed leaves none to be seen. */
		while (tcp_state_of(waiting[i].fd) != TCP_CLOSE)
			sched_yield();
		error = 0;
		getsockopt(waiting[i].fd, SOL_SOCKET, SO_ERROR, &error, &len);
		cnt += error == ETIMEDOUT;
		close(waiting[i].fd);
	}
	close(full);
	close(listener);
	return cnt;
}

/* Another two connections: by IPv6, and ended by a reset. */
static void tcp_once(int listener, int port, int forge)
{
	int port6, listener6 = tcp_bound(AF_INET6, "::1", &port6);
	bool by6;

	listen(listener6, BACKLOG);
	by6 = tcp_talk(listener6, AF_INET6, "::1", port6, false);
	printf("once %d %d %d\n", by6, tcp_talk(listener, AF_INET, "127.0.0.1", port, true),
	       tcp_time_out(forge));
}

/* A value of /proc/net/netstat, which has a line of names and one of values for each prefix. */
static unsigned long net_count(const char *name)
{
	char names[8192], values[8192], *n, *v, *n_at, *v_at;
	FILE *f = fopen("/proc/thread-self/net/netstat", "r");
	unsigned long cnt = 0;

	while (f && fgets(names, sizeof(names), f) && fgets(values, sizeof(values), f)) {
		n = strtok_r(names, " ", &n_at);
		v = strtok_r(values, " ", &v_at);
		for (; n && v; n = strtok_r(NULL, " \n", &n_at), v = strtok_r(NULL, " \n", &v_at))
			if (!strcmp(n, name))
				cnt = strtoul(v, NULL, 10);
	}
	if (f)
		fclose(f);
	return cnt;
}

static int do_tcp(int cnt, char *dir)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
	int port, closed_port, listener, talked = 0, refused = 0;
	struct stat ns = {0};

	if (unshare(CLONE_NEWNET) || ioctl(socket(AF_INET, SOCK_DGRAM, 0), SIOCSIFFLAGS, &lo)) {
		printf("skip: no network namespace: %s\n", strerror(errno));
		return 0;
	}
	stat("/proc/thread-self/ns/net", &ns);
	listener = tcp_bound(AF_INET, "127.0.0.1", &port);
	tcp_bound(AF_INET, "127.0.0.1", &closed_port);
	listen(listener, BACKLOG);
	for (int i = 0; i < cnt; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		refused += tcp_connect(fd, AF_INET, "127.0.0.1", closed_port) == ECONNREFUSED;
		close(fd);
		talked += tcp_talk(listener, AF_INET, "127.0.0.1", port, false);
	}
	printf("tcp %d %d\nat %lu %d %d\n", talked, refused, ns.st_ino, port, closed_port);
	tcp_once(listener, port, cnt);
	printf("full %lu %lu\n", net_count("ListenOverflows"), net_count("ListenDrops"));
	return 0;
}

/* ---- oom ---- */

enum { OOM_LIMIT = 24 << 20, OOM_FAT = 12 << 20, OOM_THIN = 16 << 20 };

/* Two cgroups: the outer one has a limit, in the inner one are the processes. Version 1 where it
 * has the memory controller, else version 2, mounted at `root`. */
struct oom_cgroups {
	bool v1;
	char root[300], outer[400], inner[500];
};

static int write_text(const char *dir, const char *name, const char *text)
{
	char path[600];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void no_cgroup(const char *what, int err)
{
	printf("skip: no memory cgroup: %s: %s\n", what, strerror(err));
	exit(0);
}

static void oom_make(struct oom_cgroups *c, const char *dir)
{
	char limit[20];
	int err;

	snprintf(c->root, sizeof(c->root), "/sys/fs/cgroup/memory");
	c->v1 = !access("/sys/fs/cgroup/memory/memory.limit_in_bytes", F_OK);
	if (!c->v1) {
		snprintf(c->root, sizeof(c->root), "%s/cgroups", dir);
		mkdir(c->root, 0700);
		if (mount("none", c->root, "cgroup2", 0, NULL))
			no_cgroup("mount", errno);
		write_text(c->root, "cgroup.subtree_control", "+memory");
	}
	snprintf(c->outer, sizeof(c->outer), "%s/obrec-known-%d", c->root, getpid());
	snprintf(c->inner, sizeof(c->inner), "%s/inner", c->outer);
	if (mkdir(c->outer, 0700))
		no_cgroup(c->outer, errno);
	snprintf(limit, sizeof(limit), "%d", OOM_LIMIT);
	err = write_text(c->outer, c->v1 ? "memory.limit_in_bytes" : "memory.max", limit);
	/* Without swap, or with no accounting of it. */
	write_text(c->outer, c->v1 ? "memory.memsw.limit_in_bytes" : "memory.swap.max",
		   c->v1 ? limit : "0");
	if (!c->v1)
		write_text(c->outer, "cgroup.subtree_control", "+memory");
	if (err || mkdir(c->inner, 0700))
		no_cgroup(c->inner, err ? err : errno);
}

static void oom_remove(struct oom_cgroups *c)
{
	rmdir(c->inner);
	rmdir(c->outer);
	if (!c->v1) {
		umount(c->root);
		rmdir(c->root);
	}
}

/* Kills that the kernel itself has counted. */
static long oom_kills(struct oom_cgroups *c)
{
	char path[600], line[100];
	long cnt = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", c->inner,
		 c->v1 ? "memory.oom_control" : "memory.events");
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "oom_kill %ld", &cnt);
	if (f)
		fclose(f);
	return cnt;
}

static void use_memory(struct oom_cgroups *c, size_t sz)
{
	char *memory;

	if (write_text(c->inner, "cgroup.procs", "0"))
		_exit(1);
	memory = mmap(NULL, sz, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(2);
	memset(memory, 1, sz);
}

static void be_hungry(void *cgroups)
{
	use_memory(cgroups, 2 * OOM_LIMIT);
	_exit(3);
}

static void be_thin(void *cgroups)
{
	use_memory(cgroups, OOM_THIN);
	_exit(0);
}

/* Uses less than the limit; chosen before others for its oom_score_adj. Returns its pid. */
static pid_t start_fat(struct oom_cgroups *c)
{
	int ready[2];
	pid_t pid;
	char go;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		close(ready[0]);
		prctl(PR_SET_NAME, "fat");
		write_text("/proc/self", "oom_score_adj", "900");
		use_memory(c, OOM_FAT);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &go, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static int do_oom(int cnt, char *dir)
{
	int killed = 0, status = 0, thin;
	struct oom_cgroups c;
	pid_t fat;

	oom_make(&c, dir);
	for (int i = 0; i < cnt; i++)
		killed += run("hungry", be_hungry, &c, NULL) == SIGKILL;
	fat = start_fat(&c);
	thin = run("thin", be_thin, &c, NULL);
	if (fat > 0)
		waitpid(fat, &status, 0);
	printf("oom %d thin %d fat %d\n", killed, thin, status);
	printf("fat %d\n", fat);
	printf("cgroup %s max %d\n", strrchr(c.outer, '/'), OOM_LIMIT);
	printf("counted %ld\n", oom_kills(&c));
	oom_remove(&c);
	return 0;
}

/* ---- mount ---- */

static int mount_it(const char *source, const char *target, const char *type, unsigned long flags,
		    const char *data)
{
	return mount(source, target, type, flags, data) ? errno : 0;
}

static int unmount_it(const char *target, int flags)
{
	return umount2(target, flags) ? errno : 0;
}

static void mount_unprivileged(void *nothing)
{
	if (setuid(65534))
		_exit(0);
	_exit(mount_it("known", "/", "tmpfs", 0, NULL));
}

/* The target is in a page of a file that was not touched yet. */
static int mount_paged_out(const char *dir)
{
	char name[400], *path;
	int fd;

	snprintf(name, sizeof(name), "%s/page", dir);
	fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, "/missing/paged-out", 19) != 19)
		return -1;
	path = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	unlink(name);
	return unmount_it(path, 0);
}

/* One call of each kind, in this order. */
static void mount_once(const char *dir, char *at)
{
	printf("once %d", mount_it("known", at, "tmpfs", MS_NOSUID | MS_RDONLY, "size=64k"));
	printf(" %d", mount_it(NULL, at, NULL, MS_REMOUNT | MS_BIND | MS_NODEV, NULL));
	printf(" %d", mount_it(at, at, NULL, MS_BIND | MS_REC, NULL));
	printf(" %d", unmount_it(at, MNT_DETACH));
	printf(" %d", unmount_it(at, 0));
	printf(" %d", unmount_it(at, 0));
	printf(" %d", unmount_it(at, 0x1000));
	printf(" %d", mount_it("known", "/missing/known", "tmpfs", 0, NULL));
	printf(" %d", mount_it("known", at, "tmpfs", 0, "size=64k,password=hidden,user=visible"));
	printf(" %d", run("denied", mount_unprivileged, NULL, NULL) >> 8);
	printf(" %d", syscall(SYS_pivot_root, at, at) ? errno : 0);
	printf(" %d\n", mount_paged_out(dir));
}

static int result_of(long ret)
{
	return ret < 0 ? errno : 0;
}

/* The calls of 5.2; mount_setattr() is of 5.12. */
static void mount_in_steps(const char *at)
{
	enum { SET_FLAG, SET_STRING, SET_FD = 5, CREATE, CLOEXEC = 1, FROM_FD = 4, CLONE = 1 };
	__u64 change[4] = {MS_NOEXEC, MS_NOSUID, MS_PRIVATE, 0};
	int fs, mnt, tree, picked;

	fs = syscall(SYS_fsopen, "tmpfs", CLOEXEC);
	printf("steps %d", result_of(fs));
	printf(" %d", result_of(syscall(SYS_fsconfig, fs, SET_STRING, "source", "known", 0)));
	printf(" %d", result_of(syscall(SYS_fsconfig, fs, SET_STRING, "password", "hidden", 0)));
	printf(" %d", result_of(syscall(SYS_fsconfig, fs, SET_FLAG, "ro", NULL, 0)));
	printf(" %d", result_of(syscall(SYS_fsconfig, fs, CREATE, NULL, NULL, 0)));
	mnt = syscall(SYS_fsmount, fs, CLOEXEC, MS_NOSUID | MS_NODEV);
	printf(" %d", result_of(mnt));
	printf(" %d", result_of(syscall(SYS_move_mount, mnt, "", AT_FDCWD, at, FROM_FD)));
	tree = syscall(SYS_open_tree, AT_FDCWD, at, CLONE);
	printf(" %d", result_of(tree));
	picked = syscall(SYS_fspick, AT_FDCWD, at, CLOEXEC);
	printf(" %d", result_of(picked));
	printf(" %d", result_of(syscall(442, AT_FDCWD, at, 0, change, sizeof(change))));
	printf(" %d\n", result_of(syscall(SYS_fsopen, "nofs", 0)));
	printf("fds %d %d %d %d\n", fs, mnt, tree, picked);
	unmount_it(at, MNT_DETACH);
}

static int do_mount(int cnt, char *dir)
{
	int mounted = 0, unmounted = 0, failed = 0;
	struct stat ns = {0};
	char at[300];

	snprintf(at, sizeof(at), "%s/known-%d", dir, getpid());
	mkdir(at, 0700);
	if (unshare(CLONE_NEWNS) || mount_it(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		printf("skip: no mount namespace: %s\n", strerror(errno));
		return 0;
	}
	for (int i = 0; i < cnt; i++) {
		mounted +=
			!mount_it("known", at, "tmpfs", MS_NODEV | MS_NOEXEC, "size=64k,mode=700");
		unmounted += !unmount_it(at, 0);
		failed += mount_it("known", at, "nofs", 0, NULL) == ENODEV;
	}
	stat("/proc/self/ns/mnt", &ns);
	printf("mount %d %d %d\n", mounted, unmounted, failed);
	mount_once(dir, at);
	mount_in_steps(at);
	printf("at %s mntns %lu\n", at, ns.st_ino);
	rmdir(at);
	return 0;
}

/* ---- cap ---- */

/* Without its magic numbers, reboot() fails after the check of CAP_SYS_BOOT, for which no other
 * call asks. Returns the number of calls that were denied. */
static int no_reboot(int cnt)
{
	int denied = 0;

	for (int i = 0; i < cnt; i++)
		denied += syscall(SYS_reboot, 0, 0, 0, NULL) && errno == EPERM;
	return denied;
}

static void cap_denied(void *cnt)
{
	char c;

	if (setuid(65534))
		_exit(255);
	/* Some of its numbers need CAP_SYS_PTRACE; without it they are 0, and nobody is told. */
	if (read(open("/proc/1/stat", O_RDONLY), &c, 1) != 1)
		_exit(254);
	_exit(no_reboot(*(int *)cnt));
}

/* In a user namespace of its own, a process has capabilities for that only. */
static void cap_own(void *cnt)
{
	struct stat ns = {0};
	int allowed = 0;

	if (unshare(CLONE_NEWUSER))
		_exit(255);
	for (int i = 0; i < *(int *)cnt; i++)
		allowed += !chroot("/");
	stat("/proc/self/ns/user", &ns);
	printf("own %d userns %lu\n", allowed, ns.st_ino);
	_exit(no_reboot(*(int *)cnt));
}

static int do_cap(int cnt, char *dir)
{
	int own = run("own", cap_own, &cnt, NULL) >> 8;
	struct stat ns = {0};

	stat("/proc/self/ns/user", &ns);
	printf("cap %d %d %d userns %lu\n", no_reboot(cnt),
	       run("denied", cap_denied, &cnt, NULL) >> 8, own, ns.st_ino);
	return 0;
}

/* ---- file ---- */

/* What was done to a file under one of its names. */
struct account {
	const char *name;
	long reads, read_bytes, writes, written_bytes, syncs;
};

static void did_read(struct account *a, long n)
{
	a->reads++;
	a->read_bytes += n;
}

static void did_write(struct account *a, long n)
{
	a->writes++;
	a->written_bytes += n;
}

static void did_sync(struct account *a, long failed)
{
	a->syncs += !failed;
}

static void account_print(const struct account *a)
{
	printf("%s %ld %ld %ld %ld %ld\n", a->name, a->reads, a->read_bytes, a->writes,
	       a->written_bytes, a->syncs);
}

static int file_new(const char *name)
{
	return open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
}

/* Each of the other calls once; a file that is renamed and removed while it is open; copies within
 * the kernel, the last one to a pipe. */
static void file_once(int to_pipe)
{
	struct account a = {.name = "f-a"}, b = {.name = "f-b"}, c = {.name = "f-c"},
		       gone = {.name = "f-b (deleted)"};
	char room[3000] = {0};
	struct iovec v[] = {{room, 100}, {room + 100, 400}};
	int fd = file_new("f-a"), to = file_new("f-c");

	did_write(&a, write(fd, room, sizeof(room)));
	did_write(&a, writev(fd, v, 2));
	did_write(&a, pwritev(fd, v, 2, 1000));
	did_write(&a, pwritev2(fd, v, 2, 2000, 0));
	lseek(fd, 0, SEEK_SET);
	did_read(&a, readv(fd, v, 2));
	did_read(&a, preadv(fd, v, 2, 10));
	did_read(&a, preadv2(fd, v, 2, 20, 0));
	did_sync(&a, fsync(fd));
	did_sync(&a, fdatasync(fd));
	did_sync(&a, sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE));
	rename("f-a", "f-b");
	for (int i = 0; i < 7; i++)
		did_write(&b, pwrite(fd, room, 2, i));
	unlink("f-b");
	for (int i = 0; i < 5; i++)
		did_read(&gone, pread(fd, room, 30, i));
	lseek(fd, 0, SEEK_SET);
	did_read(&gone, sendfile(to, fd, NULL, 1000));
	did_write(&c, 1000);
	did_read(&gone, copy_file_range(fd, NULL, to, NULL, 700, 0));
	did_write(&c, 700);
	did_read(&gone, sendfile(to_pipe, fd, NULL, 600));
	account_print(&a);
	account_print(&b);
	account_print(&gone);
	account_print(&c);
}

/* Pages that are not in memory, then twice more when they are: $CACHED, a disk, or a file. */
static int file_cached(void)
{
	enum { PAGES = 500 };
	long page = sysconf(_SC_PAGESIZE);
	struct account a = {.name = "f-cached"};
	const char *disk = getenv("CACHED");
	char *room = calloc(1, page);
	int fd = disk ? open(disk, O_RDONLY) : file_new("f-cached");

	if (!room || fd < 0)
		return 1;
	for (int i = 0; !disk && i < PAGES; i++)
		did_write(&a, write(fd, room, page));
	if (!disk)
		did_sync(&a, fsync(fd));
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) ||
	    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM)) /* nothing is read ahead */
		return 1;
	for (int i = 0; i < 3 * PAGES; i++)
		did_read(&a, pread(fd, room, page, i % PAGES * page));
	if (!disk)
		account_print(&a);
	printf("cached %d\n", PAGES);
	return 0;
}

static int do_file(int cnt, char *dir)
{
	struct account plain = {.name = "f-plain"}, memory = {.name = "memfd:f-memory (deleted)"};
	int pipes[2], fd, failed = 0, mem = memfd_create("f-memory", 0);
	char room[100] = {0};

	if (chdir(dir) || pipe(pipes))
		return 1;
	fd = file_new("f-plain");
	for (int i = 0; i < cnt; i++) {
		did_write(&plain, write(fd, room, sizeof(room)));
		did_read(&plain, pread(fd, room, 50, i));
		did_write(&memory, write(mem, room, 10));
		failed += pread(fd, room, 50, -2) < 0 && errno == EINVAL;
		if (write(pipes[1], room, 1) != 1 || read(pipes[0], room, 1) != 1)
			return 1;
	}
	file_once(pipes[1]);
	if (file_cached())
		return 1;
	account_print(&plain);
	account_print(&memory);
	printf("failed %d\n", failed);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int cnt, char *dir);
	} modes[] = {
		{"exec", do_exec}, {"bind", do_bind}, {"oom", do_oom},	 {"mount", do_mount},
		{"cap", do_cap},   {"tcp", do_tcp},   {"file", do_file},
	};

	struct stat net = {0};

	if (argc > 2 && !strcmp(argv[1], "exit"))
		return atoi(argv[2]);
	setlinebuf(stdout);
	self = realpath("/proc/self/exe", NULL);
	for (size_t i = 0; argc > 2 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		await();
		stat("/proc/self/ns/net", &net);
		printf("pid %d netns %lu\n", getpid(), net.st_ino);
		return modes[i].run(atoi(argv[2]), argc > 3 ? argv[3] : ".");
	}
	return 2;
}
