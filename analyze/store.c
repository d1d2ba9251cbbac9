/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"
#include "flamegraph.h"
#include "symbol/symbol.h"
