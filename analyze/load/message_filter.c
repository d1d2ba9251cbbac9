/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/message_filter.h"

#include <stdio.h>

#include "analyze/load/detail.h"
#include "analyze/load/patterns.h"

bool message_filter_any(const struct message_filter *f)
{
	return f->protocol || f->method || f->target || f->peer || f->role || f->service ||
	       f->detail || f->status || f->slower_ns || f->errors || f->one_connection;
}

bool message_filter_wants_side(const struct message_filter *f, const struct message_facts *m)
{
	return (!f->one_connection || f->connection == m->connection) &&
	       patterns_match(f->role, m->role) && patterns_match_name(f->service, m->service) &&
	       (patterns_match_name(f->peer, m->peer) || patterns_match(f->peer, m->peer_addr));
}

static bool has_field(const char *list, struct span object)
{
	struct span key, value;
	char text[1024];

	while (detail_next(&object, &key, &value)) {
		int len = snprintf(text, sizeof(text), "%.*s=%.*s",
				   (int)(key.len < 256 ? key.len : 256), key.p,
				   (int)(value.len < 700 ? value.len : 700), value.p);

		if (patterns_match(list, (struct span){text, len}))
			return true;
	}
	return false;
}

bool message_filter_wants(const struct message_filter *f, const struct message_facts *m)
{
	return (!f->errors || m->error) &&
	       (!f->slower_ns || (m->timed && m->latency_ns >= f->slower_ns)) &&
	       patterns_match(f->protocol, m->protocol) && patterns_match(f->method, m->method) &&
	       patterns_match(f->status, m->status) && patterns_match(f->target, m->target) &&
	       (!f->detail || has_field(f->detail, m->detail[0]) ||
		has_field(f->detail, m->detail[1])) &&
	       message_filter_wants_side(f, m);
}
