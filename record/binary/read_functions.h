/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of a file by name (func_find.h), and USDT probes (usdt_find.h), found by a reader
 * process. */
#ifndef RECORD_READ_FUNCTIONS_H
#define RECORD_READ_FUNCTIONS_H

#include "record/base/parcel.h"
#include "record/binary/func_find.h"
#include "record/binary/usdt_find.h"

int read_functions_serve(int proc, struct parcel *request, struct parcel *answer);
/* fd: O_PATH, dup'ed. how: as func_find(). */
void read_functions_ask(struct parcel *m, int fd, const char *const *patterns, size_t cnt,
			uint64_t how);
/* Gets the next function; its name points into the answer. False: there are no more. */
bool read_functions_next(struct parcel *answer, struct func_site *site);
/* After the last one: the number of functions left out; *indirect: as func_find(). */
uint64_t read_functions_left_out(struct parcel *answer, uint32_t *indirect);
/* Then the places of USDT probes, and the number of those left out. */
bool read_functions_next_usdt(struct parcel *answer, struct usdt_site *site);
uint64_t read_functions_left_out_usdt(struct parcel *answer);

#endif
