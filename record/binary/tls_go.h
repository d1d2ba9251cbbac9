/* SPDX-License-Identifier: BSD-2-Clause */
/* crypto/tls in a Go program, found by the runtime's own table of functions, which strip keeps. */
#ifndef RECORD_TLS_GO_H
#define RECORD_TLS_GO_H

#include "record/binary/tls_sites.h"

/* Whether (*Conn).Read or Write was found and added. */
bool tls_go_find(int fd, Elf *elf, struct tls_sites *sites);

#endif
