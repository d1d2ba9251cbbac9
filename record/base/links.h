/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is attached, and its end. The kernel lets nearly each link that goes wait until nothing runs
 * its program any more: tens of milliseconds, of which a recording of many TLS libraries needs
 * hundreds. Those of many at once are one wait.
 */
#ifndef RECORD_LINKS_H
#define RECORD_LINKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct bpf_link;

struct links {
	struct attached *all;
	size_t cnt;
	atomic_size_t next; /* that nobody detaches yet */
	pthread_t *threads;
	size_t thread_cnt;
	bool closed; /* they are being detached, or have been */
};

/* Take it over; -errno of a NULL link, or the descriptor itself when that is negative; -ECANCELED
 * once they are closed: it is detached at once. */
int links__keep(struct links *l, struct bpf_link *link);
int links__keep_fd(struct links *l, int fd);
/* Detaches one, unless they are closed. */
void links__drop(struct links *l, struct bpf_link *link);

/* Takes all of `from` over, which is left empty; what there is no room for is detached. */
void links__take(struct links *to, struct links *from);
/* Detaches all in a thread of its own and is empty at once. */
void links__let_go(struct links *l);

/* Begins to detach all, and returns: they are closed for good. */
void links__detach(struct links *l);
/* Detaches what still is, waits for it. May be called in any state, any number of times. */
void links__fini(struct links *l);

#endif
