/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
