/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaches many uprobes of a file with one link (Linux 6.6, 89ae89f53d20, "bpf: Add multi uprobe
 * link"). The kernel waits for a grace period when it removes a uprobe; with one link it waits once
 * for all. libbpf supports this since 1.3; obrec is built with an older one.
 */
#ifndef RECORD_UPROBE_MULTI_H
#define RECORD_UPROBE_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * UPROBE_MULTI_SESSION: one program runs at the entry of each place, where it returns 1, or 0 to be
 * run at the return of that call too (Linux 6.13, d920179b3d48, "bpf: Add support for uprobe multi
 * session attach"). If it returns 1 the call is not prepared for a probe at its return.
 */
enum uprobe_multi_how { UPROBE_MULTI_ENTRY, UPROBE_MULTI_RETURN, UPROBE_MULTI_SESSION };

bool uprobe_multi__possible(enum uprobe_multi_how how);

/* Call before loading. The program can then be attached only by uprobe_multi__attach(). */
void uprobe_multi__choose(struct bpf_program *prog);
void uprobe_multi__choose_session(struct bpf_program *prog);

/* Attaches at the given offsets, each with a cookie, in all processes that execute the file now or
 * later. counters: as struct uprobe_places. Returns a descriptor (closing it detaches) or -errno.
 */
int uprobe_multi__attach(int prog_fd, const char *path, const uint64_t *offsets,
			 const uint64_t *cookies, const uint64_t *counters, uint32_t cnt,
			 enum uprobe_multi_how how);

#endif
