/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short function names: library types by their usual names, without default arguments, ABI tags,
 * hashes and long lists.
 *
 *   bool eq<A>(A, A)                                       eq<A>(A, A)
 *   std::vector<int, std::allocator<int> >::size() const   std::vector<int>::size() const
 *   core::fmt::write::h01dd8abc4cb8cd39                    core::fmt::write
 */
#ifndef ANALYZE_NAME_SHORT_H
#define ANALYZE_NAME_SHORT_H

#include "format/text.h"

/*
 * Appends the short form. It is not empty, is not longer than the name, and keeps brackets balanced
 * if they were. Names that are not C++ or Rust or cannot be parsed are appended unchanged.
 */
void name_short(struct strbuf *b, struct span name);

/* --names. The default is short on terminals and in drawings. */
enum name_style { NAMES_DEFAULT, NAMES_SHORT, NAMES_FULL };

#endif
