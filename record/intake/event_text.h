/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the strings of an event, as its record's fields say (format/record.h): masks secrets,
 * converts what the kernel side sends in binary form. */
#ifndef RECORD_EVENT_TEXT_H
#define RECORD_EVENT_TEXT_H

#include "bpf/event.h"
#include "format/record.h"

/* The changed strings of one event; `used` is 0 before the first. */
struct event_texts {
	size_t used;
	char p[EVENT_TEXT_MAX];
};

/* Returns `sent` itself, or a string in `t`. */
struct span event_text(struct event_texts *t, enum rec_text how, struct span sent);

#endif
