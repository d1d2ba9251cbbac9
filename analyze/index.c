/* SPDX-License-Identifier: BSD-2-Clause */
#include "index.h"

uint64_t index_seed;
