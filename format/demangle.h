/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of C++ and Rust functions, from symbols that may be hostile. */
#ifndef FORMAT_DEMANGLE_H
#define FORMAT_DEMANGLE_H

#include <stdbool.h>

/* Demangled C++ or Rust name, malloc'ed. NULL: not mangled. */
char *demangle(const char *name);
/* Likewise, without the return type of functions made from templates. */
char *demangle_scope(const char *name);
/* Likewise, without the parameters: "app::Server::handle<int>". */
char *demangle_function(const char *name);
/* What distinguishes constructors and destructors of one name: " [base]", " [deleting]"; else "".
 */
const char *demangle_variant(const char *name);
/* Whether it looks like a mangled name. */
bool demangle_is_mangled(const char *name);

#endif
