/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"
#include "debuginfo.h"
#include "kallsyms.h"
