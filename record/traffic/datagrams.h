/* SPDX-License-Identifier: BSD-2-Clause */
/* Who receives datagrams from anyone. */
#ifndef RECORD_DATAGRAMS_H
#define RECORD_DATAGRAMS_H

#include <stdbool.h>
#include <stdint.h>

/* Has the process a UDP socket that is bound and not connected? `proc`: see procfs.h. */
bool datagrams_received(int proc, uint32_t pid);

#endif
