/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function names as people say them: library types by their usual names, without arguments that
 * are defaults, compiler marks and long lists.
 *
 *   void std::sort<char**, Less>(char**, char**, Less)   std::sort<char**, Less>(char**, char**,
 * Less) std::vector<int, std::allocator<int> >::size() const std::vector<int>::size() const
 *   core::fmt::write::h01dd8abc4cb8cd39                  core::fmt::write
 */
#ifndef ANALYZE_NAME_SHORT_H
#define ANALYZE_NAME_SHORT_H

#include "format/text.h"

/*
 * Appends the short form: never empty nor longer than the name, its brackets as balanced as they
 * were. Names of other languages than C++ and Rust, and what cannot be parsed, are appended as they
 * are.
 */
void name_short(struct strbuf *b, struct span name);

#endif
