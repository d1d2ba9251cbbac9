/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that attaches uprobes: uprobes.h. */
#ifndef RECORD_UPROBES_SERVE_H
#define RECORD_UPROBES_SERVE_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/base/parcel.h"

/* Only UPROBES_ATTACH is answered, by its result. */
enum uprobes_request { UPROBES_ATTACH, UPROBES_DETACH };
enum { UPROBES_PROGRAM, UPROBES_FILE }; /* descriptors of UPROBES_ATTACH */

/* Serves requests until the peer closes the socket; then detaches everything. Does not return. */
void uprobes_serve(int socket, pid_t parent, bool multi);

#endif
