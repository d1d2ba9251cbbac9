/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 100 */
/* Any records, as in a hostile archive: there must be no crash, and the views must match the
 * aggregates computed in memory. */
#include "../unit/load_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *views = loaded_text((struct bytes){data, size}, true);
	char *memory = loaded_text((struct bytes){data, size}, false);

	if (views && memory && strcmp(views, memory))
		abort();
	free(views);
	free(memory);
	return 0;
}
