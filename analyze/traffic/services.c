/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/traffic/services.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/option.h"
#include "format/text.h"
#include "analyze/base/index.h"

#define FIELD_CNT 4

/* The lookup key of an entry; the address is masked to its prefix. */
struct place {
	uint8_t family; /* 4, 6; 0: a Unix path */
	uint8_t bits;
	uint16_t port; /* 0: any */
	uint8_t addr[16];
	const char *path;
};

struct entry {
	struct place at;
	struct service service;
	size_t line;
	char *text; /* owns all strings */
};

struct services {
	struct entry *v;
	size_t cnt, cap;
	uint8_t used[2][129]; /* prefix lengths in use, by family */
};

static int compare(const struct place *a, const struct place *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->bits != b->bits)
		return a->bits < b->bits ? -1 : 1;
	return a->family ? memcmp(a->addr, b->addr, sizeof(a->addr)) : strcmp(a->path, b->path);
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare(&x->at, &y->at);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void mask(uint8_t *addr, unsigned bits)
{
	for (unsigned i = 0; i < 16; i++) {
		unsigned keep = bits > 8 * i ? bits - 8 * i : 0;

		if (keep < 8)
			addr[i] &= 0xff00 >> keep;
	}
}

/* Parses an address. False: not an address. */
static bool read_address(const char *text, struct place *p)
{
	memset(p->addr, 0, sizeof(p->addr));
	if (inet_pton(AF_INET, text, p->addr) == 1)
		p->family = 4;
	else if (inet_pton(AF_INET6, text, p->addr) == 1)
		p->family = 6;
	else
		return false;
	p->bits = p->family == 4 ? 32 : 128;
	return true;
}

/* Parses ADDRESS[/BITS]; overwrites the slash. */
static bool read_network(char *text, struct place *p)
{
	char *slash = strchr(text, '/');
	uint64_t bits;

	if (slash)
		*slash = 0;
	if (!read_address(text, p))
		return false;
	if (!slash)
		return true;
	if (parse_u64(slash + 1, &bits) || bits > p->bits)
		return false;
	p->bits = bits;
	mask(p->addr, bits);
	return true;
}

/* Parses the first column. Returns an error message or NULL. */
static const char *read_place(char *text, struct place *p)
{
	char *port = NULL, *end;
	uint64_t n;

	if (*text == '@' || *text == '/') {
		p->path = text;
		return NULL;
	}
	if (*text == '[') {
		end = strchr(text++, ']');
		if (!end || (end[1] && end[1] != ':'))
			return "no address";
		*end = 0;
		port = end[1] ? end + 2 : NULL;
	} else if ((end = strchr(text, ':')) && !strchr(end + 1, ':')) {
		*end = 0;
		port = end + 1;
	}
	if (!read_network(text, p))
		return "no address or network";
	if (!port)
		return NULL;
	if (parse_u64(port, &n) || !n || n > UINT16_MAX)
		return "no port from 1 to 65535";
	p->port = n;
	return NULL;
}

/* Splits one line in place. Returns the number of fields; 0: unbalanced quotes. */
static size_t split(char *line, char **fields)
{
	size_t cnt = 0;

	for (char *from = line, *to;; from++) {
		bool quoted = *from == '"';

		from += quoted;
		to = from;
		if (cnt < FIELD_CNT)
			fields[cnt] = to;
		cnt++;
		for (; *from && (quoted || *from != ','); from++) {
			if (quoted && *from == '"' && *++from != '"')
				break;
			*to++ = *from;
		}
		if (quoted && from[-1] != '"')
			return 0;
		if (*from && *from != ',')
			return 0;
		quoted = !*from;
		*to = 0;
		if (quoted)
			return cnt;
	}
}

static bool is_heading(const char *field)
{
	static const char *const names[] = {"cidr-or-ip", "cidr-or-ip[:port]", "cidr", "ip",
					    "address"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcasecmp(field, names[i]))
			return true;
	return false;
}

static int bad_line(const char *path, size_t line, const char *what)
{
	message_error("%s:%zu: %s; a line is cidr-or-ip[:port],service[,region[,cluster]]", path,
		      line, what);
	return -EINVAL;
}

/* Takes ownership of `text`, on failure as well. */
static int add_line(struct services *s, const char *path, size_t line, char *text)
{
	struct entry e = {.line = line, .text = text};
	char *f[FIELD_CNT] = {"", "", "", ""};
	size_t cnt = split(text, f);
	const char *wrong;
	int err;

	if (!s->cnt && cnt && is_heading(f[0])) {
		free(text);
		return 0;
	}
	wrong = !cnt		  ? "quotes are not closed"
		: cnt == 1	  ? "a service is missing"
		: cnt > FIELD_CNT ? "too many columns"
		: !*f[1]	  ? "the service is empty"
				  : NULL;
	if (!wrong)
		wrong = read_place(f[0], &e.at);
	e.service = (struct service){f[1], f[2], f[3], e.at.port || e.at.path};
	err = wrong ? bad_line(path, line, wrong) : array_reserve(&s->v, &s->cap, s->cnt + 1);
	if (err) {
		free(text);
		return err;
	}
	if (e.at.family)
		s->used[e.at.family == 6][e.at.bits] = 1;
	s->v[s->cnt++] = e;
	return 0;
}

static char *trimmed(const char *line)
{
	size_t len;

	line += strspn(line, " \t");
	len = strcspn(line, "\r\n");
	return strndup(line, len);
}

static int read_lines(struct services *s, const char *path, FILE *in)
{
	char *line = NULL;
	size_t cap = 0, number = 0;
	ssize_t len;
	int err = 0;

	while (!err && (len = getline(&line, &cap, in)) > 0) {
		char *text;

		number++;
		if (strlen(line) != (size_t)len) {
			err = bad_line(path, number, "a NUL byte");
			break;
		}
		text = trimmed(line);
		if (!text)
			err = -ENOMEM;
		else if (!*text || *text == '#')
			free(text);
		else
			err = add_line(s, path, number, text);
	}
	free(line);
	return err;
}

int services__open(struct services **out, const char *path)
{
	struct services *s = calloc(1, sizeof(*s));
	FILE *in = fopen(path, "re");
	int err = !s ? -ENOMEM : !in ? -errno : 0;

	errno = 0;
	if (!err)
		err = read_lines(s, path, in);
	if (!err && ferror(in))
		err = errno ? -errno : -EIO;
	if (err && err != -EINVAL)
		message_error("%s: %s", path, strerror(-err));
	if (in)
		fclose(in);
	if (err) {
		services__free(s);
		return err;
	}
	if (s->cnt)
		qsort(s->v, s->cnt, sizeof(*s->v), by_place);
	*out = s;
	return 0;
}

void services__free(struct services *s)
{
	for (size_t i = 0; s && i < s->cnt; i++)
		free(s->v[i].text);
	if (s)
		free(s->v);
	free(s);
}

static const struct service *find_at(const struct services *s, const struct place *p)
{
	size_t lo = 0, hi = s->cnt;

	/* of equal entries take the first in the file */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(&s->v[mid].at, p) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->cnt && !compare(&s->v[lo].at, p) ? &s->v[lo].service : NULL;
}

static const struct service *find_ip(const struct services *s, struct place p)
{
	const struct service *found = NULL;

	for (int bits = p.bits; bits >= 0 && !found; bits--) {
		p.bits = bits;
		if (!s->used[p.family == 6][bits])
			continue;
		mask(p.addr, bits);
		found = find_at(s, &p);
	}
	return found;
}

const struct service *services__find(const struct services *s, struct span addr, uint32_t port)
{
	const struct service *found = NULL;
	struct place p = {.port = port};
	char text[256];

	if (!s || !addr.len || addr.len >= sizeof(text))
		return NULL;
	memcpy(text, addr.p, addr.len);
	text[addr.len] = 0;
	if (*text == '/' || *text == '@') {
		p.path = text;
		p.port = 0;
		return find_at(s, &p);
	}
	if (!read_address(text, &p))
		return NULL;
	if (port)
		found = find_ip(s, p);
	p.port = 0;
	return found ? found : find_ip(s, p);
}

void services__each(const struct services *s, void (*fn)(void *ctx, const struct service *service),
		    void *ctx)
{
	for (size_t i = 0; s && i < s->cnt; i++)
		fn(ctx, &s->v[i].service);
}
