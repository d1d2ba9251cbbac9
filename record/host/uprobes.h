/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches uprobes, in a process of its own. The kernel attaches and detaches a uprobe under the
 * mmap_lock of each process that maps the file, one after the other (register_for_each_vma() in
 * kernel/events/uprobes.c), and reads the file. A target can hold its mmap_lock for ever, by
 * reading its own memory through /proc/self/mem from a file system that does not respond. Then this
 * process blocks, where even SIGKILL has no effect; obrec abandons it and ends without it.
 * Meanwhile no process of the host can fork: the kernel holds dup_mmap_sem, too.
 *
 * Single-threaded.
 */
#ifndef RECORD_UPROBES_H
#define RECORD_UPROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct features;
struct uprobes;

/* Returns true if the kernel has uprobes, and one link can attach many, else the reason in one
 * line. */
bool uprobes__possible(const struct features *f, char *why, size_t why_sz);
bool uprobes__multi_possible(const struct features *f, char *why, size_t why_sz);

/* Forks the process. Call it while obrec has a single thread. multi: only such places will be
 * attached. */
int uprobes__new(struct uprobes **u, bool multi);
/* Waits for the process at most `wait_ms`, or until a signal arrives. Returns false if it is left
 * behind: it goes on detaching. */
bool uprobes__free(struct uprobes *u, int wait_ms);

/* One program at many places of a file, in all processes that execute it now or later. */
struct uprobe_places {
	int prog_fd;
	const uint64_t *offsets, *cookies; /* cookies: only with `multi` */
	/* Offsets of 16-bit numbers in the file that count who has attached, in each process that
	 * maps it; 0: none. NULL: none of all. */
	const uint64_t *counters;
	uint32_t cnt;
	bool at_return;
	bool multi;   /* one link for all places: uprobe_multi.h */
	bool session; /* with `multi`: the program was chosen by uprobe_multi__choose_session() */
};

/* 0 for NULL. */
pid_t uprobes__pid(const struct uprobes *u);

/* Returns a new set: uprobes that are detached together. */
uint32_t uprobes__set(struct uprobes *u);
/* The file may be an O_PATH descriptor. -ETIMEDOUT: the kernel is still at it, or at an earlier
 * request; it may succeed later. */
int uprobes__attach(struct uprobes *u, uint32_t set, int file_fd, const struct uprobe_places *p);
/* fn(ctx) is called again and again while uprobes__attach() waits. */
void uprobes__breathe(struct uprobes *u, void (*fn)(void *ctx), void *ctx);
/* Recording begins: from now on uprobes__attach() does not wait for long. */
void uprobes__hurry(struct uprobes *u);
/* Does not wait. */
void uprobes__detach(struct uprobes *u, uint32_t set);
/* Begins to detach all. Nothing can be attached afterwards. */
void uprobes__stop(struct uprobes *u);

#endif
