/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef BPF_MEM_H
#define BPF_MEM_H

#include "bpf/metric.h"

enum { SERIES_mem_faults = SERIES_OWN };
/* Key parts after the process name. */
enum { MEM_PART_MAPPED = 2, MEM_PART_MAJOR = 3 };

/* What is mapped at an address; from MEM_FIRST on a hash of a file's name, its key in mem_names. */
enum mem_mapped { MEM_OTHER, MEM_ANONYMOUS, MEM_HEAP, MEM_STACK, MEM_FIRST };

#define MEM_NAMES 4096
#define MEM_NAME_LEN 64
struct mem_name {
	char text[MEM_NAME_LEN];
};

#endif
