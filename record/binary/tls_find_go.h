/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds crypto/tls in a Go program through .gopclntab, which strip keeps. */
#ifndef RECORD_TLS_FIND_GO_H
#define RECORD_TLS_FIND_GO_H

#include "record/binary/tls_sites.h"

/* Returns true if (*Conn).Read or Write was found and added. */
bool tls_go_find(int fd, Elf *elf, struct tls_sites *sites);

#endif
