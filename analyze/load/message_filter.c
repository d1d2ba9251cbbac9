/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/load/message_filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { MAX_TEXT = 1024 };

static void copy(char *to, struct span s)
{
	size_t len = s.p ? strnlen(s.p, s.len < MAX_TEXT - 1 ? s.len : MAX_TEXT - 1) : 0;

	if (len)
		memcpy(to, s.p, len);
	to[len] = 0;
}

/* "5xx" matches "503" */
static bool is_class(const char *pattern, const char *text)
{
	return strlen(pattern) == 3 && isdigit((unsigned char)*pattern) &&
	       !strcasecmp(pattern + 1, "xx") && *text == *pattern && strlen(text) == 3;
}

static bool matches(const char *list, struct span s)
{
	char text[MAX_TEXT], pattern[MAX_TEXT];

	if (!list)
		return true;
	copy(text, s);
	for (size_t len; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		copy(pattern, (struct span){list, len});
		if (!fnmatch(pattern, text, FNM_CASEFOLD) || is_class(pattern, text))
			return true;
	}
	return false;
}

/* Also matches the part after the last slash: nginx for the nginx of a container. */
static bool matches_name(const char *list, struct span s)
{
	const char *slash = s.p ? memrchr(s.p, '/', s.len) : NULL;

	return matches(list, s) ||
	       (slash && matches(list, (struct span){slash + 1, s.p + s.len - slash - 1}));
}

bool message_filter_any(const struct message_filter *f)
{
	return f->protocol || f->method || f->target || f->peer || f->role || f->service ||
	       f->status || f->slower_ns || f->errors || f->one_connection;
}

bool message_filter_wants_side(const struct message_filter *f, const struct message_facts *m)
{
	return (!f->one_connection || f->connection == m->connection) &&
	       matches(f->role, m->role) && matches_name(f->service, m->service) &&
	       (matches_name(f->peer, m->peer) || matches(f->peer, m->peer_addr));
}

bool message_filter_wants(const struct message_filter *f, const struct message_facts *m)
{
	return (!f->errors || m->error) &&
	       (!f->slower_ns || (m->timed && m->latency_ns >= f->slower_ns)) &&
	       matches(f->protocol, m->protocol) && matches(f->method, m->method) &&
	       matches(f->status, m->status) && matches(f->target, m->target) &&
	       message_filter_wants_side(f, m);
}
