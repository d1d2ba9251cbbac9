/* SPDX-License-Identifier: BSD-2-Clause */
/* One reader process: both sides. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/clock.h"
#include "record/reader/reader_process.h"

/* ---- in obrec ---- */

/* Reads /proc/PID/schedstat: time on a CPU and time waiting for one. If it is missing
 * (CONFIG_SCHED_INFO), all time not on a CPU counts as blocked. */
static void read_use(pid_t pid, uint64_t *cpu_ns, uint64_t *delay_ns)
{
	char path[40], text[80];
	ssize_t n;
	int fd;

	*cpu_ns = *delay_ns = 0;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = 0;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, cpu_ns, delay_ns) != 2)
		*cpu_ns = *delay_ns = 0;
}

int reader_send(struct reader *r, const struct parcel *request)
{
	r->since_ns = clock_now_ns();
	read_use(r->pid, &r->cpu_ns, &r->delay_ns);
	return parcel_send(request, r->socket);
}

struct reader_use reader_use(const struct reader *r)
{
	uint64_t wall_ns = clock_now_ns() - r->since_ns, cpu_ns, delay_ns;
	struct reader_use use = {0};

	read_use(r->pid, &cpu_ns, &delay_ns);
	if (cpu_ns > r->cpu_ns)
		use.cpu_ns = cpu_ns - r->cpu_ns;
	if (delay_ns > r->delay_ns)
		delay_ns -= r->delay_ns;
	else
		delay_ns = 0;
	if (wall_ns > use.cpu_ns + delay_ns)
		use.blocked_ns = wall_ns - use.cpu_ns - delay_ns;
	return use;
}

void reader_end(struct reader *r, int *left)
{
	if (r->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0);
		if (left)
			*left = r->pidfd;
		else
			close(r->pidfd);
	}
	if (r->socket >= 0)
		close(r->socket);
	*r = (struct reader){.socket = -1, .pidfd = -1};
}

/* ---- in the reader ---- */

int reader_reopen(int path_fd, int flags)
{
	char self[40];
	int fd;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	fd = open(self, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

#define READING(name, serve) int serve(int proc, struct parcel *request, struct parcel *answer);
#include "record/reader/readings.def"
#undef READING

static int (*const serve[READING_CNT])(int proc, struct parcel *request, struct parcel *answer) = {
#define READING(name, serve) [READING_##name] = serve,
#include "record/reader/readings.def"
#undef READING
};

void reader_serve(int socket, int proc)
{
	struct parcel request, answer;

	while (!parcel_receive(&request, socket, 0)) {
		parcel_init(&answer, request.kind);
		answer.rc = request.kind < READING_CNT
				    ? serve[request.kind](proc, &request, &answer)
				    : -ENOSYS;
		if (answer.bad || parcel_send(&answer, socket)) {
			/* The answer is too large: send an error instead. */
			parcel_fini(&answer);
			answer.rc = -ENOMEM;
			if (parcel_send(&answer, socket))
				break;
		}
		parcel_fini(&answer);
		parcel_fini(&request);
	}
}
