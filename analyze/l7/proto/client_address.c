/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/proto/client_address.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "format/text.h"

static const struct span none = {"", 0};

static bool is_text(struct span s, struct span text)
{
	return s.len == text.len && !strncasecmp(s.p, text.p, s.len);
}

static struct span until(struct span s, const char *ends)
{
	size_t n = 0;

	while (n < s.len && !memchr(ends, s.p[n], strlen(ends)))
		n++;
	return (struct span){s.p, n};
}

/* Strips everything but the address: "[2001:db8::17]:4711", 192.0.2.43:47011 */
static struct span bare(struct span s)
{
	const char *colon;

	while (s.len && strchr(" \t\"[", *s.p))
		s.p++, s.len--;
	s = until(s, " \t\"]");
	colon = memchr(s.p, ':', s.len);
	if (colon && !memchr(colon + 1, ':', s.p + s.len - colon - 1))
		s.len = colon - s.p;
	return is_text(s, span_of("unknown")) ? none : s;
}

static struct span first_listed(struct span v)
{
	return until(v, ",");
}

/* The first element of "for=192.0.2.43;proto=http, for=198.51.100.17" */
static struct span forwarded_for(struct span v)
{
	v = until(v, ",");
	while (v.len) {
		struct span pair = until(v, ";");

		v.p += pair.len + (pair.len < v.len);
		v.len -= pair.len + (pair.len < v.len);
		while (pair.len && *pair.p == ' ')
			pair.p++, pair.len--;
		if (pair.len > 4 && !strncasecmp(pair.p, "for=", 4))
			return (struct span){pair.p + 4, pair.len - 4};
	}
	return none;
}

struct span client_address(struct span name, struct span value, unsigned *rank)
{
	static const struct {
		struct span name;
		struct span (*find)(struct span value);
	} headers[] = {
#define NAMED(text, find) {{text, sizeof(text) - 1}, find}
		NAMED("forwarded", forwarded_for),
		NAMED("x-real-ip", first_listed),
		NAMED("x-forwarded-for", first_listed),
#undef NAMED
	};

	for (unsigned i = *rank; i < sizeof(headers) / sizeof(*headers); i++) {
		struct span address;

		if (!is_text(name, headers[i].name))
			continue;
		address = bare(headers[i].find(value));
		if (address.len)
			*rank = i + 1;
		return address;
	}
	return none;
}
