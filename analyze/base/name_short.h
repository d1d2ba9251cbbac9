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
 * Appends the short form: never empty nor longer than the name, its brackets as balanced as they
 * were. Names of other languages than C++ and Rust, and what cannot be parsed, are appended as they
 * are.
 */
void name_short(struct strbuf *b, struct span name);

/* --names. By default: short where somebody looks, on terminals and in drawings. */
enum name_style { NAMES_DEFAULT, NAMES_SHORT, NAMES_FULL };

#endif
