/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/index.h"

uint64_t index_seed;
