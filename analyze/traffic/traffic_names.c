/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_names.h"

#include <stdio.h>

#include "format/text.h"
#include "analyze/traffic/services.h"

/* Name of the process selected by the statement: its first columns are comm and container. */
static void process_name(sqlite3_stmt *s, char *buf, size_t sz)
{
	const char *comm, *container;

	*buf = 0;
	if (sqlite3_step(s) == SQLITE_ROW) {
		comm = (const char *)sqlite3_column_text(s, 0);
		container = (const char *)sqlite3_column_text(s, 1);
		if (container && *container)
			snprintf(buf, sz, "%.12s/%s", container, comm ? comm : "");
		else
			snprintf(buf, sz, "%s", comm ? comm : "");
	}
	sqlite3_reset(s);
}

uint32_t traffic_pid(struct traffic *t, const struct conn *c)
{
	uint32_t pid = 0;

	sqlite3_bind_int64(t->process, 1, capture_row(c->capture, c->rec.process));
	if (c->rec.process && sqlite3_step(t->process) == SQLITE_ROW)
		pid = sqlite3_column_int64(t->process, 2);
	sqlite3_reset(t->process);
	return pid;
}

uint32_t traffic_service_name(struct traffic *t, struct span addr, uint32_t port)
{
	const struct service *s = services__find(t->load->opts.traffic.services, addr, port);

	return s ? strings__add(t->strings, span_of(s->name)) : 0;
}

uint32_t traffic_listener_name(struct traffic *t, const struct conn *c)
{
	const struct service *s = services__find(t->load->opts.traffic.services, c->rec.local_addr,
						 c->rec.local_port);

	return s && s->listener ? strings__add(t->strings, span_of(s->name)) : 0;
}

static bool looks_clean(struct span s)
{
	return s.p && s.len;
}

uint32_t traffic_own_name(struct traffic *t, const struct conn *c)
{
	uint32_t service = traffic_service_name(t, c->rec.local_addr, c->rec.local_port);
	char name[128] = "";

	if (service)
		return service;
	if (c->rec.process) {
		sqlite3_bind_int64(t->process, 1, capture_row(c->capture, c->rec.process));
		process_name(t->process, name, sizeof(name));
	}
	if (*name)
		return strings__add(t->strings, span_of(name));
	if (looks_clean(c->rec.local_addr))
		return strings__add(t->strings, c->rec.local_addr);
	return strings__add(t->strings, span_of("[unknown]"));
}

uint32_t traffic_address_name(struct traffic *t, const struct conn *c, struct span a, uint32_t port)
{
	char text[300];

	if (!looks_clean(a))
		return strings__add(t->strings, span_of("[unknown]"));
	if (c->rec.role == ROLE_SERVER || !port)
		return strings__add(t->strings, a);
	snprintf(text, sizeof(text), memchr(a.p, ':', a.len) ? "[%.*s]:%u" : "%.*s:%u",
		 (int)(a.len < 256 ? a.len : 256), a.p, port);
	return strings__add(t->strings, span_of(text));
}

uint32_t traffic_pid_name(struct traffic *t, const struct conn *c)
{
	char name[128];

	sqlite3_bind_int64(t->process_of_pid, 1, c->rec.peer_pid);
	sqlite3_bind_int64(t->process_of_pid, 2, capture_id(c->capture));
	process_name(t->process_of_pid, name, sizeof(name));
	if (!*name)
		snprintf(name, sizeof(name), "pid %u", c->rec.peer_pid);
	return strings__add(t->strings, span_of(name));
}
