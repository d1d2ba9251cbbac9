/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The set of BPF links of a capture, and how they are detached. For most links the kernel waits for
 * an RCU grace period when the link is closed, which takes tens of milliseconds. A capture with
 * many TLS libraries has hundreds of links. Several threads detach them, so the waits overlap.
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
	atomic_size_t next; /* index of the next link that no thread detaches yet */
	pthread_t *threads;
	size_t thread_cnt;
	bool closed; /* detaching has begun */
};

/* Take ownership of a link or descriptor. Return the error of a NULL link or of a negative
 * descriptor. After links__detach() the link is detached at once and -ECANCELED is returned. */
int links__keep(struct links *l, struct bpf_link *link);
int links__keep_fd(struct links *l, int fd);
/* Detaches one link. Does nothing after links__detach(). */
void links__drop(struct links *l, struct bpf_link *link);

/* Moves all links of `from` to `to`; `from` is left empty. A link for which memory is short is
 * detached. */
void links__take(struct links *to, struct links *from);
/* Detaches all links in a separate thread. The set is empty on return. */
void links__let_go(struct links *l);

/* Starts to detach all links and returns. No link can be added afterwards. */
void links__detach(struct links *l);
/* Detaches the remaining links and waits until all are detached. May be called in any state and
 * repeatedly. */
void links__fini(struct links *l);

#endif
