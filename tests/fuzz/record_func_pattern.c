/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a pattern and as a symbol: "*" matches all, "*::*" none that is not mangled. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/demangle.h"
#include "record/binary/func_pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	/* fnmatch() takes long with many wildcards, which only the user can give */
	char *pattern = strndup((const char *)data, sz < 8 ? sz : 8), *symbol;
	struct func_pattern p;
	size_t len;

	if (!pattern)
		abort();
	len = strlen(pattern);
	symbol = len < sz ? strndup((const char *)data + len + 1, sz - len - 1) : strdup("_ZN1aE");
	if (!symbol)
		abort();
	func_pattern_init(&p, pattern);
	func_pattern_matches(&p, symbol);
	func_pattern_init(&p, "*::*");
	if (func_pattern_matches(&p, symbol) && !demangle_is_mangled(symbol) &&
	    !strstr(symbol, "::"))
		abort();
	func_pattern_init(&p, "*");
	if (!func_pattern_matches(&p, symbol))
		abort();
	free(symbol);
	free(pattern);
	return 0;
}
