/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/read_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/host/procfs.h"
#include "record/probe/series_key.h"
#include "record/reader/reader_process.h"

/* /proc/stat has a line for each CPU, and one with all interrupts. */
#define TEXT_SZ (256u << 10)
#define CGROUPS "/sys/fs/cgroup"

/* Without st_size of /proc/PID/fd (Linux 6.2) descriptors are counted one by one, up to this many.
 */
enum { DESCRIPTORS_MAX = 1024, CGROUPS_MAX = 128, DISK_FIELDS = 17, NET_FIELDS = 16 };

struct host_reading {
	int proc;
	struct parcel *to;
	char *text;
	uint64_t tick_ns;
	uint64_t born;		       /* of the process that is read */
	uint64_t cgroups[CGROUPS_MAX]; /* inodes of the directories read */
	unsigned cgroup_cnt;
};

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

__attribute__((format(printf, 5, 6))) static void put(struct host_reading *r,
						      enum host_series series, uint64_t count,
						      uint64_t sum, const char *fmt, ...)
{
	char key[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(key, sizeof(key), fmt, args);
	va_end(args);
	parcel_put_u64(r->to, series);
	parcel_put_u64(r->to, r->born);
	parcel_put_u64(r->to, count);
	parcel_put_u64(r->to, sum);
	parcel_put_string(r->to, key);
}

/* Reads a file below a directory; an empty span if that fails. */
static struct span read_at(struct host_reading *r, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	size_t len = 0;

	if (fd < 0)
		return (struct span){r->text, 0};
	while (len < TEXT_SZ - 1 && (n = read(fd, r->text + len, TEXT_SZ - 1 - len)) > 0)
		len += n;
	close(fd);
	r->text[len] = 0;
	return (struct span){r->text, len};
}

/* Removes the first line and makes it a string; NULL at the end. */
static char *take_line(struct span *text)
{
	struct span line;

	if (!next_line(text, &line))
		return NULL;
	((char *)line.p)[line.len] = 0; /* in r->text, which has room for one more */
	return (char *)line.p;
}

/* Returns how many numbers, at most cnt, follow each other. */
static unsigned numbers(const char *s, uint64_t *v, unsigned cnt)
{
	unsigned n = 0;
	char *end;

	for (; n < cnt; n++, s = end) {
		v[n] = strtoull(s, &end, 10);
		if (end == s)
			break;
	}
	return n;
}

/* Returns the number of a line "NAME NUMBER" or "NAME: NUMBER"; false: another name. */
static bool number_of(const char *line, const char *name, uint64_t *v)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len))
		return false;
	line += len + (line[len] == ':');
	return *line == ' ' && numbers(line, v, 1);
}

/* ---- the host */

static const char *const cpu_states[] = {"user", "nice",    "system", "idle",  "iowait",
					 "irq",	 "softirq", "steal",  "guest", "guest_nice"};
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, GUEST, GUEST_NICE, CPU_STATES };

/* Times of guests are in user and nice too. */
static void read_cpu(struct host_reading *r, const char *line)
{
	uint64_t v[CPU_STATES] = {0}, ns = r->tick_ns;
	bool all = line[3] == ' ';
	unsigned cpu = atoi(line + 3);

	numbers(strchr(line, ' ') ? strchr(line, ' ') : "", v, CPU_STATES);
	if (!all) {
		put(r, HOST_cpus, 0, (v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ]) * ns,
		    "%u\tbusy", cpu);
		put(r, HOST_cpus, 0, v[STEAL] * ns, "%u\tsteal", cpu);
		return;
	}
	v[USER] -= v[GUEST] < v[USER] ? v[GUEST] : v[USER];
	v[NICE] -= v[GUEST_NICE] < v[NICE] ? v[GUEST_NICE] : v[NICE];
	for (unsigned i = 0; i < CPU_STATES; i++)
		put(r, HOST_cpu, 0, v[i] * ns, "%s", cpu_states[i]);
}

static void read_stat(struct host_reading *r)
{
	static const char *const events[] = {"ctxt", "processes", "intr", NULL};
	struct span text = read_at(r, r->proc, "stat");
	uint64_t v;

	for (char *line; (line = take_line(&text));) {
		if (!strncmp(line, "cpu", 3))
			read_cpu(r, line);
		for (const char *const *e = events; *e; e++)
			if (number_of(line, *e, &v))
				put(r, HOST_activity, v, 0, "%s", *e);
		if (number_of(line, "procs_running", &v))
			put(r, HOST_tasks, 1, v, "running");
		if (number_of(line, "procs_blocked", &v))
			put(r, HOST_tasks, 1, v, "blocked");
	}
}

static void read_meminfo(struct host_reading *r)
{
	static const char *const parts[] = {
		"MemTotal",  "MemFree",	 "MemAvailable", "Buffers",	 "Cached",
		"SwapTotal", "SwapFree", "Dirty",	 "Writeback",	 "AnonPages",
		"Mapped",    "Shmem",	 "Slab",	 "SReclaimable", NULL};
	struct span text = read_at(r, r->proc, "meminfo");
	uint64_t v;

	for (char *line; (line = take_line(&text));)
		for (const char *const *p = parts; *p; p++)
			if (number_of(line, *p, &v))
				put(r, HOST_memory, 1, v << 10, "%s", *p);
}

static void read_vmstat(struct host_reading *r)
{
	static const char *const events[] = {"pgpgin",
					     "pgpgout",
					     "pswpin",
					     "pswpout",
					     "pgfault",
					     "pgmajfault",
					     "pgscan_kswapd",
					     "pgscan_direct",
					     "pgsteal_kswapd",
					     "pgsteal_direct",
					     "compact_stall",
					     "oom_kill",
					     NULL};
	struct span text = read_at(r, r->proc, "vmstat");
	uint64_t v;

	for (char *line; (line = take_line(&text));)
		for (const char *const *e = events; *e; e++)
			if (number_of(line, *e, &v))
				put(r, HOST_activity, v, 0, "%s", *e);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": microseconds. `of`: NULL for the host. */
static void read_pressure(struct host_reading *r, int dir, const char *file, const char *resource,
			  const char *of)
{
	struct span text = read_at(r, dir, file);
	char kind[8];
	uint64_t us;

	for (char *line; (line = take_line(&text));) {
		const char *total = strstr(line, "total=");

		if (!total || sscanf(line, "%7s", kind) != 1 || !numbers(total + 6, &us, 1))
			continue;
		if (of)
			put(r, HOST_cgroup_pressure, 0, us * 1000, "%s\t%s\t%s", of, resource,
			    kind);
		else
			put(r, HOST_pressure, 0, us * 1000, "%s\t%s", resource, kind);
	}
}

static bool is_partition(const char *device)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/block/%s", device);
	for (char *p = path + strlen("/sys/block/"); (p = strchr(p, '/'));)
		*p = '!'; /* as sysfs names it */
	return access(path, F_OK);
}

/* Documentation/admin-guide/iostats.rst. Discards are there since 4.18, flushes since 5.5. */
static void put_disk(struct host_reading *r, const char *device, const uint64_t f[DISK_FIELDS])
{
	static const struct {
		const char *name;
		int cnt, sectors, ms; /* -1: none */
	} ops[] = {{"read", 0, 2, 3},
		   {"write", 4, 6, 7},
		   {"discard", 11, 13, 14},
		   {"flush", 15, -1, 16}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		uint64_t bytes = ops[i].sectors < 0 ? 0 : f[ops[i].sectors] * 512;

		put(r, HOST_disk, f[ops[i].cnt], bytes, "%s\t%s", device, ops[i].name);
		put(r, HOST_disk_time, f[ops[i].cnt], f[ops[i].ms] * 1000000, "%s\t%s", device,
		    ops[i].name);
	}
	put(r, HOST_disk_time, 0, f[9] * 1000000, "%s\tbusy", device);
	put(r, HOST_disk_time, 0, f[10] * 1000000, "%s\tqueued", device);
}

static void read_disks(struct host_reading *r)
{
	struct span text = read_at(r, r->proc, "diskstats");
	char device[64];

	for (char *line; (line = take_line(&text));) {
		uint64_t f[DISK_FIELDS] = {0};
		int at = 0;

		if (sscanf(line, "%*u %*u %63s%n", device, &at) != 1 || !at)
			continue;
		numbers(line + at, f, DISK_FIELDS);
		if (f[0] + f[4] + f[11] + f[15] && !is_partition(device))
			put_disk(r, device, f);
	}
}

/* Eight columns received, eight sent: bytes, packets, errors, drops, ... */
static void read_interfaces(struct host_reading *r)
{
	struct span text = read_at(r, r->proc, "net/dev");

	for (char *line; (line = take_line(&text));) {
		char *colon = strrchr(line, ':');
		uint64_t f[NET_FIELDS];

		if (!colon || numbers(colon + 1, f, NET_FIELDS) < NET_FIELDS)
			continue;
		*colon = 0;
		line += strspn(line, " ");
		for (int out = 0; out < 2; out++) {
			const char *way = out ? "sent" : "received";
			const uint64_t *v = f + 8 * out;

			put(r, HOST_net, v[1], v[0], "%s\t%s", line, way);
			put(r, HOST_net_errors, v[2], 0, "%s\t%s\terror", line, way);
			put(r, HOST_net_errors, v[3], 0, "%s\t%s\tdrop", line, way);
		}
	}
}

static void read_all_host(struct host_reading *r)
{
	static const char *const resources[] = {"cpu", "memory", "io", NULL};
	char file[32];

	read_stat(r);
	read_meminfo(r);
	read_vmstat(r);
	read_disks(r);
	read_interfaces(r);
	for (const char *const *p = resources; *p; p++) {
		snprintf(file, sizeof(file), "pressure/%s", *p);
		read_pressure(r, r->proc, file, *p, NULL);
	}
}

/* ---- cgroups */

/* cpu.stat: v2 counts microseconds, v1 nanoseconds of throttling only. */
static void read_cpu_stat(struct host_reading *r, int dir, const char *cgroup)
{
	struct span text = read_at(r, dir, "cpu.stat");
	uint64_t v, throttled = 0, throttled_ns = 0;

	for (char *line; (line = take_line(&text));) {
		if (number_of(line, "user_usec", &v))
			put(r, HOST_cgroup_cpu, 0, v * 1000, "%s\tuser", cgroup);
		if (number_of(line, "system_usec", &v))
			put(r, HOST_cgroup_cpu, 0, v * 1000, "%s\tsystem", cgroup);
		if (number_of(line, "nr_periods", &v))
			put(r, HOST_cgroup_periods, v, 0, "%s\tall", cgroup);
		if (number_of(line, "nr_throttled", &v))
			throttled = v;
		if (number_of(line, "throttled_usec", &v))
			throttled_ns = v * 1000;
		if (number_of(line, "throttled_time", &v))
			throttled_ns = v;
	}
	put(r, HOST_cgroup_periods, throttled, throttled_ns, "%s\tthrottled", cgroup);
}

static void read_number(struct host_reading *r, int dir, const char *file, enum host_series series,
			uint64_t count, const char *key)
{
	struct span text = read_at(r, dir, file);
	uint64_t v;

	if (text.len && numbers(text.p, &v, 1))
		put(r, series, count, v, "%s", key);
}

static void read_cgroup2(struct host_reading *r, int dir, const char *cgroup)
{
	read_cpu_stat(r, dir, cgroup);
	read_number(r, dir, "memory.current", HOST_cgroup_memory, 1, cgroup);
	read_pressure(r, dir, "cpu.pressure", "cpu", cgroup);
	read_pressure(r, dir, "memory.pressure", "memory", cgroup);
	read_pressure(r, dir, "io.pressure", "io", cgroup);
}

static void read_cgroup1_memory(struct host_reading *r, int dir, const char *cgroup)
{
	read_number(r, dir, "memory.usage_in_bytes", HOST_cgroup_memory, 1, cgroup);
}

static void read_cgroup1_cpuacct(struct host_reading *r, int dir, const char *cgroup)
{
	char key[1024];

	snprintf(key, sizeof(key), "%s\tuser", cgroup);
	read_number(r, dir, "cpuacct.usage_user", HOST_cgroup_cpu, 0, key);
	snprintf(key, sizeof(key), "%s\tsystem", cgroup);
	read_number(r, dir, "cpuacct.usage_sys", HOST_cgroup_cpu, 0, key);
}

static const struct {
	const char *controller, *at;
	void (*read)(struct host_reading *r, int dir, const char *cgroup);
} controllers[] = {{"", CGROUPS, read_cgroup2},
		   {"", CGROUPS "/unified", read_cgroup2},
		   {"cpu", CGROUPS "/cpu", read_cpu_stat},
		   {"cpuacct", CGROUPS "/cpuacct", read_cgroup1_cpuacct},
		   {"memory", CGROUPS "/memory", read_cgroup1_memory}};

static bool has_controller(struct span list, const char *name)
{
	size_t len = strlen(name);

	if (!len || !list.len)
		return len == list.len;
	for (size_t i = 0; i + len <= list.len; i++)
		if ((!i || list.p[i - 1] == ',') && !memcmp(list.p + i, name, len) &&
		    (i + len == list.len || list.p[i + len] == ','))
			return true;
	return false;
}

/* Returns false if it was seen in this reading. */
static bool is_first(struct host_reading *r, int dir)
{
	struct stat st;
	uint64_t id;

	if (fstat(dir, &st) || r->cgroup_cnt == CGROUPS_MAX)
		return false;
	id = (uint64_t)st.st_dev << 40 ^ st.st_ino;
	for (unsigned i = 0; i < r->cgroup_cnt; i++)
		if (r->cgroups[i] == id)
			return false;
	r->cgroups[r->cgroup_cnt++] = id;
	return true;
}

static void read_controller(struct host_reading *r, size_t i, const char *cgroup)
{
	char path[4096];
	int dir;

	snprintf(path, sizeof(path), "%s%s", controllers[i].at, cgroup);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && is_first(r, dir))
		controllers[i].read(r, dir, cgroup);
	if (dir >= 0)
		close(dir);
}

static void read_cgroups(struct host_reading *r, uint32_t pid)
{
	char buf[4096], path[512];
	long n = procfs_read(r->proc, pid, "cgroup", buf, sizeof(buf));
	struct span text = {buf, n > 0 ? n : 0}, line;
	struct cgroup_line c;

	while (next_line(&text, &line)) {
		if (cgroup_line_parse(line, &c) || c.path.len < 2 || c.path.len >= sizeof(path))
			continue; /* the root is the host */
		snprintf(path, sizeof(path), "%.*s", (int)c.path.len, c.path.p);
		for (size_t i = 0; i < sizeof(controllers) / sizeof(*controllers); i++)
			if (has_controller(c.controllers, controllers[i].controller))
				read_controller(r, i, path);
	}
}

/* ---- processes */

/* Returns false if they cannot be counted, or are too many to. */
static bool count_descriptors(int proc, uint32_t pid, uint64_t *cnt)
{
	char name[32];
	struct stat st;
	DIR *d;
	int fd;

	snprintf(name, sizeof(name), "%u/fd", pid);
	*cnt = fstatat(proc, name, &st, 0) ? 0 : st.st_size;
	if (*cnt)
		return true;
	fd = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (struct dirent *e; *cnt <= DESCRIPTORS_MAX && (e = readdir(d));)
		*cnt += e->d_name[0] != '.';
	closedir(d);
	return *cnt <= DESCRIPTORS_MAX;
}

/* proc(5), /proc/PID/stat: "PID (COMM) STATE ...". Returns false if it is gone. */
static bool read_process(struct host_reading *r, uint32_t pid)
{
	unsigned long long minor, major, user, system, threads, born, rss, cnt;
	uint64_t descriptors;
	char buf[1024], *comm, *end;
	long n = procfs_read(r->proc, pid, "stat", buf, sizeof(buf));

	comm = n > 0 ? strchr(buf, '(') : NULL;
	end = comm ? strrchr(comm, ')') : NULL;
	cnt = end ? sscanf(end + 1,
			   " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d "
			   "%*d %llu %*d %llu %*u %llu",
			   &minor, &major, &user, &system, &threads, &born, &rss)
		  : 0;
	if (cnt != 7)
		return false;
	*end = 0;
	series_key_clean(++comm);
	r->born = born ? born : 1;
	put(r, HOST_process_cpu, 0, user * r->tick_ns, "%s\t%u\tuser", comm, pid);
	put(r, HOST_process_cpu, 0, system * r->tick_ns, "%s\t%u\tsystem", comm, pid);
	put(r, HOST_process_memory, 1, rss * sysconf(_SC_PAGESIZE), "%s\t%u", comm, pid);
	put(r, HOST_process_faults, minor, 0, "%s\t%u\tminor", comm, pid);
	put(r, HOST_process_faults, major, 0, "%s\t%u\tmajor", comm, pid);
	put(r, HOST_process_objects, 1, threads, "%s\t%u\tthreads", comm, pid);
	if (count_descriptors(r->proc, pid, &descriptors))
		put(r, HOST_process_objects, 1, descriptors, "%s\t%u\tdescriptors", comm, pid);
	r->born = 0;
	return true;
}

/* ---- requests */

int read_host_serve(int proc, struct parcel *request, struct parcel *answer)
{
	uint64_t from = cpu_now(), bound = parcel_get_u64(request), cnt = parcel_get_u64(request);
	struct host_reading r = {
		.proc = proc,
		.to = answer,
		.text = malloc(TEXT_SZ),
		.tick_ns = 1000000000 / sysconf(_SC_CLK_TCK),
	};
	uint64_t done = 0;

	if (!r.text)
		return -ENOMEM;
	read_all_host(&r);
	for (; done < cnt && !request->bad && (!done || cpu_now() - from < bound); done++) {
		uint32_t pid = parcel_get_u64(request);

		if (read_process(&r, pid))
			read_cgroups(&r, pid);
	}
	free(r.text);
	parcel_put_u64(answer, HOST_SERIES_CNT);
	parcel_put_u64(answer, done);
	parcel_put_u64(answer, cpu_now() - from);
	return request->bad ? -EBADMSG : 0;
}

void read_host_ask(struct parcel *m, const uint32_t *pids, size_t cnt, uint64_t cpu_ns)
{
	parcel_init(m, READING_host);
	parcel_put_u64(m, cpu_ns);
	parcel_put_u64(m, cnt);
	for (size_t i = 0; i < cnt; i++)
		parcel_put_u64(m, pids[i]);
}

bool read_host_next(struct parcel *answer, struct host_cell *c)
{
	*c = (struct host_cell){.series = parcel_get_u64(answer)};
	if (answer->bad || c->series >= HOST_SERIES_CNT)
		return false;
	c->born = parcel_get_u64(answer);
	c->count = parcel_get_u64(answer);
	c->sum = parcel_get_u64(answer);
	c->key = parcel_get_span(answer);
	return !answer->bad;
}

void read_host_end(struct parcel *answer, uint64_t *pid_cnt, uint64_t *cpu_ns)
{
	*pid_cnt = parcel_get_u64(answer);
	*cpu_ns = parcel_get_u64(answer);
}
