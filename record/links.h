/* SPDX-License-Identifier: BSD-2-Clause */
/* Detaching: the kernel lets each link wait until nothing runs its program (up to a quarter of a
 * second), many at once wait together. */
#ifndef RECORD_LINKS_H
#define RECORD_LINKS_H

#include <stddef.h>

struct bpf_link;

void links_destroy(struct bpf_link **links, size_t cnt);

#endif
