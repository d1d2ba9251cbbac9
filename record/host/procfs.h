/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads /proc with bounds; the parsers accept any bytes. /proc is given as a directory descriptor
 * so that tests can use their own tree. Functions return a negative errno on error. */
#ifndef RECORD_PROCFS_H
#define RECORD_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/records.h"

int procfs_open(const char *root); /* NULL: /proc; returns a directory descriptor */

/* Reads at most cap-1 bytes of /proc/PID/NAME, NUL-terminated. Returns the length. */
long procfs_read(int proc, uint32_t pid, const char *name, char *buf, size_t cap);
/* Reads the target of the link /proc/PID/NAME, NUL-terminated. Returns its length. */
long procfs_link(int proc, uint32_t pid, const char *name, char *buf, size_t cap);

struct procfs_stat {
	char comm[64];
	char state;
	uint32_t ppid, threads, flags; /* flags: PF_* of the kernel */
	uint64_t start_ticks;	       /* since boot */
};
#define PROCFS_PF_KTHREAD 0x00200000u

int procfs_stat_parse(const char *text, size_t len, struct procfs_stat *st);
int procfs_stat(int proc, uint32_t pid, struct procfs_stat *st);
/* Returns true if all threads of the process have exited. */
bool procfs_gone(int proc, uint32_t pid);

/* From /proc/PID/status: thread group id, and pid in the innermost pid namespace. */
int procfs_status_parse(const char *text, uint32_t *tgid, uint32_t *ns_pid);
int procfs_status(int proc, uint32_t pid, uint32_t *tgid, uint32_t *ns_pid);

/*
 * Returns true if obrec is in the initial namespace of this kind: "pid", "user", "cgroup", "time".
 */
bool procfs_in_initial_ns(const char *kind);

struct maps_line {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool exec;
	struct span path; /* as printed: "\012" stands for a newline */
};

/* Parses one line without its newline. -EBADMSG if it is malformed. */
int maps_line_parse(struct span line, struct maps_line *m);

/* Calls fn for each line of /proc/PID/maps until it returns non-zero; returns that value. */
int procfs_each_map(int proc, uint32_t pid, int (*fn)(void *ctx, const struct maps_line *m),
		    void *ctx);

/* Replaces "\012" by a newline in place; returns the new length. */
size_t maps_path_unescape(char *path, size_t len);

struct cgroup_line {
	struct span controllers; /* "" for v2; else e.g. "name=systemd", "cpu,cpuacct" */
	struct span path;
};
int cgroup_line_parse(struct span line, struct cgroup_line *c);

/* Removes the first line from *text. Returns false at the end. */
bool next_line(struct span *text, struct span *line);

/* Returns the most specific path: that of v2, else of systemd, else the first one below the root.
 * Empty if there is none. */
struct span cgroup_pick(struct span text);

/* Calls fn for each numeric entry of a directory of /proc ("." or "PID/task"). */
int procfs_each_id(int proc, const char *dir, int (*fn)(void *ctx, uint32_t id), void *ctx);

#endif
