/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many uprobes in a file by one link (6.6, 89ae89f53d20, "bpf: Add multi uprobe link"). Removing a
 * uprobe makes the kernel wait for all processors; here it waits once for all. libbpf has it since
 * 1.3, which is newer than what is built with.
 */
#ifndef RECORD_UPROBE_MULTI_H
#define RECORD_UPROBE_MULTI_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool uprobe_multi__possible(void);

/* Before loading: it can be attached by uprobe_multi__attach() only. */
void uprobe_multi__choose(struct bpf_program *prog);

/* At these places, each with a cookie, in processes that run it now or later. A descriptor: closing
 * it detaches; or -errno. */
int uprobe_multi__attach(const struct bpf_program *prog, const char *path, const uint64_t *offsets,
			 const uint64_t *cookies, uint32_t cnt, bool at_return);

#endif
