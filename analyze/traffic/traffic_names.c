/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/traffic_names.h"

#include <stdio.h>
#include <string.h>

#include "format/text.h"
#include "analyze/load/detail.h"
#include "analyze/traffic/services.h"
#include "analyze/traffic/traffic_distance.h"

enum { NAME_SZ = 512, ARG_NAMES_MAX = 1 << 17 };

/* The last part of a cgroup's path that systemd made for a service or session, else all of it. */
static struct span unit_of(const char *cgroup)
{
	struct span unit = span_of(cgroup);

	for (const char *p = cgroup; *p;) {
		size_t len;

		p += *p == '/';
		len = strcspn(p, "/");
		if ((len > 8 && !memcmp(p + len - 8, ".service", 8)) ||
		    (len > 6 && !memcmp(p + len - 6, ".scope", 6)))
			unit = (struct span){p, len};
		p += len;
	}
	return unit;
}

static void add_pid(const struct traffic *t, const struct conn *c, uint32_t pid, char *name,
		    size_t sz)
{
	size_t len = strlen(name);
	bool hosts = false;

	for (size_t i = 0; i < t->load->captures->cnt; i++)
		hosts |= t->boot[i] != 0;
	snprintf(name + len, sz - len, "(%u%s%s)", pid, hosts ? "@" : "",
		 hosts ? t->load->captures->v[c->capture].host : "");
}

/* Name of the process selected by the statement: its columns are comm, container, pid, cgroup. */
static void process_name(const struct traffic *t, sqlite3_stmt *s, char *buf, size_t sz)
{
	const char *comm, *container, *cgroup;

	*buf = 0;
	if (sqlite3_step(s) == SQLITE_ROW) {
		comm = (const char *)sqlite3_column_text(s, 0);
		container = (const char *)sqlite3_column_text(s, 1);
		cgroup = (const char *)sqlite3_column_text(s, 3);
		if (t->load->opts.traffic.by == BY_CALLER_unit && cgroup && *cgroup)
			snprintf(buf, sz, "%.*s", (int)unit_of(cgroup).len, unit_of(cgroup).p);
		else if (container && *container)
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
	char name[NAME_SZ] = "";

	if (service)
		return service;
	if (c->rec.process) {
		sqlite3_bind_int64(t->process, 1, capture_row(c->capture, c->rec.process));
		process_name(t, t->process, name, sizeof(name));
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
	char name[NAME_SZ];

	sqlite3_bind_int64(t->process_of_pid, 1, c->rec.peer_pid);
	sqlite3_bind_int64(t->process_of_pid, 2, capture_id(c->capture));
	process_name(t, t->process_of_pid, name, sizeof(name));
	if (!*name)
		snprintf(name, sizeof(name), "pid %u", c->rec.peer_pid);
	else if (t->load->opts.traffic.by == BY_CALLER_process)
		add_pid(t, c, c->rec.peer_pid, name, sizeof(name));
	return strings__add(t->strings, span_of(name));
}

uint32_t traffic_split_name(struct traffic *t, const struct conn *c, uint32_t name)
{
	char text[NAME_SZ];
	uint32_t pid;

	switch (t->load->opts.traffic.by) {
	case BY_CALLER_process:
		pid = traffic_pid(t, c);
		if (!pid)
			return name;
		snprintf(text, sizeof(text) / 2, "%s", strings__get(t->strings, name));
		add_pid(t, c, pid, text, sizeof(text));
		return strings__add(t->strings, span_of(text));
	case BY_CALLER_client:
		return c->rec.role == ROLE_CLIENT && !traffic_is_unix(c) &&
				       looks_clean(c->rec.local_addr)
			       ? strings__add(t->strings, c->rec.local_addr)
			       : name;
	default:
		return name;
	}
}

/* Beyond ARG_NAMES_MAX values further ones are not distinguished. */
static uint32_t name_of_value(struct traffic *t, uint32_t name, struct span text)
{
	uint32_t known = strings__find(t->strings, text);

	if (known)
		return known;
	if (t->arg_names == ARG_NAMES_MAX)
		message_warn("--by: too many values of arguments: later ones are not distinguished");
	if (t->arg_names++ >= ARG_NAMES_MAX)
		return name;
	return strings__add(t->strings, text);
}

uint32_t traffic_name_with_args(struct traffic *t, uint32_t name, struct span detail)
{
	const struct traffic_opts *o = &t->load->opts.traffic;
	struct strbuf b = {0};

	for (size_t i = 0; i < o->arg_cnt && i < 32; i++) {
		struct span value;

		if (!(o->by_args & 1u << i) ||
		    !detail_find(detail, span_of(o->args[i].name), &value))
			continue;
		if (!b.len)
			strbuf_addf(&b, "%s", strings__get(t->strings, name));
		strbuf_addf(&b, " %s=%.*s", o->args[i].name,
			    (int)(value.len < 256 ? value.len : 256), value.p);
	}
	if (b.len && !b.failed)
		name = name_of_value(t, name, (struct span){b.p, b.len});
	strbuf_fini(&b);
	return name;
}
