/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/intake/event_text.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/un.h>

#include "format/redact/redact_command.h"

static void replace(char *p, size_t len, char from, char to)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] == from)
			p[i] = to;
}

/* Each of these converts `len` bytes in place, into `room` at most, and returns the new length. */

static size_t command(char *p, size_t len, size_t room)
{
	while (len && !p[len - 1])
		len--;
	redact_command(p, len);
	replace(p, len, 0, ' ');
	return len;
}

static size_t settings(char *p, size_t len, size_t room)
{
	redact_settings(p, len);
	replace(p, len, 0, '=');
	return len;
}

static size_t inet(char *p, int family, const void *addr, size_t room)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (family == AF_INET6 && !memcmp(addr, mapped, sizeof(mapped)))
		return inet(p, AF_INET, (const char *)addr + sizeof(mapped), room);
	return inet_ntop(family, addr, p, room) ? strlen(p) : 0;
}

/* unix(7): a name that begins with NUL is abstract, others end at a NUL. */
static size_t unix_name(char *p, size_t len)
{
	if (!len || *p)
		return strnlen(p, len);
	replace(p, len, 0, '@');
	return len;
}

static size_t address(char *p, size_t len, size_t room)
{
	union {
		sa_family_t family;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} a = {0};

	memcpy(&a, p, len < sizeof(a) ? len : sizeof(a));
	if (a.family == AF_INET && len >= sizeof(a.in))
		return inet(p, AF_INET, &a.in.sin_addr, room);
	if (a.family == AF_INET6 && len >= offsetof(struct sockaddr_in6, sin6_scope_id))
		return inet(p, AF_INET6, &a.in6.sin6_addr, room);
	if (a.family != AF_UNIX || len <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	len -= offsetof(struct sockaddr_un, sun_path);
	memmove(p, p + offsetof(struct sockaddr_un, sun_path), len);
	return unix_name(p, len);
}

struct span event_text(struct event_texts *t, enum rec_text how, struct span sent)
{
	static size_t (*const change[])(char *p, size_t len, size_t room) = {
		[REC_TEXT_command] = command,
		[REC_TEXT_settings] = settings,
		[REC_TEXT_address] = address,
	};
	size_t room = sizeof(t->p) - t->used, len;
	char *to = t->p + t->used;

	if (!change[how])
		return sent;
	if (sent.len > room)
		return (struct span){0};
	memcpy(to, sent.p, sent.len);
	len = change[how](to, sent.len, room);
	t->used += len;
	return (struct span){to, len};
}
