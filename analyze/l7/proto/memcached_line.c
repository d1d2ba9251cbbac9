/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/memcached_line.h"

static const struct mc_command commands[] = {
	{"get", MC_READ},
	{"gets", MC_READ},
	{"gat", MC_READ_1},
	{"gats", MC_READ_1},
	{"set", MC_STORE},
	{"add", MC_STORE},
	{"replace", MC_STORE},
	{"append", MC_STORE},
	{"prepend", MC_STORE},
	{"cas", MC_CAS},
	{"delete", MC_KEY},
	{"incr", MC_KEY},
	{"decr", MC_KEY},
	{"touch", MC_KEY},
	{"mg", MC_META},
	{"md", MC_META},
	{"ma", MC_META},
	{"me", MC_META},
	{"ms", MC_META_STORE},
	{"mn", MC_BARE},
	{"stats", MC_BARE},
	{"version", MC_BARE},
	{"flush_all", MC_BARE},
	{"verbosity", MC_BARE},
	{"quit", MC_SILENT},
	{"shutdown", MC_SILENT},
	{"slabs", MC_BARE},
	{"lru", MC_BARE},
	{"lru_crawler", MC_BARE},
	{"watch", MC_BARE},
	{"cache_memlimit", MC_BARE},
	{"refresh_certs", MC_BARE},
	{"extstore", MC_BARE},
};

size_t mc_line_size(const uint8_t *p, size_t len)
{
	const uint8_t *nl = memchr(p, '\n', len < MC_LINE_MAX ? len : MC_LINE_MAX);

	return nl ? nl - p + 1 : 0;
}

bool mc_split(const uint8_t *p, size_t n, struct mc_words *w)
{
	*w = (struct mc_words){.cnt = 0};
	if (n && p[n - 1] == '\n')
		n -= n > 1 && p[n - 2] == '\r' ? 2 : 1;
	for (size_t i = 0; i < n;) {
		size_t begin = i;

		for (; i < n && p[i] != ' '; i++)
			if (p[i] < 0x20 || p[i] == 0x7f)
				return false;
		if (i > begin && w->total++ < MC_WORDS_MAX)
			w->v[w->cnt++] = (struct span){(const char *)p + begin, i - begin};
		i++;
	}
	return true;
}

bool mc_number(struct span s, uint64_t *v)
{
	*v = 0;
	if (!s.len || s.len > 19)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		*v = *v * 10 + (s.p[i] - '0');
	}
	return true;
}

bool mc_is_number(struct span s)
{
	uint64_t v;

	if (s.len && *s.p == '-')
		s.p++, s.len--;
	return mc_number(s, &v);
}

const struct mc_command *mc_command(struct span s)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (l7_is(s, commands[i].name))
			return &commands[i];
	return NULL;
}

static bool is_key(struct span s)
{
	return s.len && s.len <= MC_KEY_MAX;
}

bool mc_data_size(const struct mc_command *c, const struct mc_words *w, uint64_t *n)
{
	size_t at = c->form == MC_META_STORE ? 2 : 4;

	*n = 0;
	if (c->form != MC_STORE && c->form != MC_CAS && c->form != MC_META_STORE)
		return true;
	if (w->cnt <= at || !is_key(w->v[1]) || !mc_number(w->v[at], n) || *n > MC_VALUE_MAX) {
		*n = 0;
		return false;
	}
	*n += 2;
	return at == 2 || (mc_is_number(w->v[2]) && mc_is_number(w->v[3]));
}

bool mc_is_command(const struct mc_command *c, const struct mc_words *w)
{
	static const char *const flags = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	uint64_t n;

	switch (c->form) {
	case MC_READ:
		return w->cnt > 1 && is_key(w->v[1]);
	case MC_READ_1:
		return w->cnt > 2 && mc_is_number(w->v[1]) && is_key(w->v[2]);
	case MC_STORE:
	case MC_CAS:
		return mc_data_size(c, w, &n) && w->total >= (c->form == MC_CAS ? 6u : 5u) &&
		       w->total <= (c->form == MC_CAS ? 7u : 6u);
	case MC_KEY:
		if (*c->name != 'd' || c->name[2] == 'c')
			return (w->total == 3 || w->total == 4) && is_key(w->v[1]) &&
			       mc_is_number(w->v[2]);
		return w->total >= 2 && w->total <= 4 && is_key(w->v[1]);
	case MC_META_STORE:
		if (!mc_data_size(c, w, &n))
			return false;
		break;
	case MC_META:
		if (w->cnt < 2 || !is_key(w->v[1]))
			return false;
		break;
	case MC_BARE:
	case MC_SILENT:
		return w->total <= 4;
	}
	for (size_t i = c->form == MC_META ? 2 : 3; i < w->cnt; i++)
		if (!strchr(flags, *w->v[i].p))
			return false;
	return true;
}

static const char *const plain_words[] = {
	"STORED",  "NOT_STORED", "EXISTS",   "NOT_FOUND", "DELETED",	  "TOUCHED",	 "OK",
	"RESET",   "BUSY",	 "BADCLASS", "NOSPARE",	  "NOTFULL",	  "UNSAFE",	 "SAME",
	"VERSION", "MN",	 "ME",	     "HD",	  "EN",		  "NS",		 "EX",
	"NF",	   "END",	 "VA",	     "ERROR",	  "CLIENT_ERROR", "SERVER_ERROR"};

bool mc_is_row(const struct mc_words *w)
{
	static const char *const rows[] = {"STAT", "ITEM", "PREFIX"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (l7_is(w->v[0], rows[i]))
			return w->cnt > 1;
	return w->v[0].len > 4 && !memcmp(w->v[0].p, "key=", 4);
}

bool mc_is_value(const struct mc_words *w, uint64_t *bytes)
{
	if (!l7_is(w->v[0], "VALUE") || w->total < 4 || w->total > 5 || !mc_is_number(w->v[2]) ||
	    !mc_number(w->v[3], bytes) || *bytes > MC_VALUE_MAX)
		return false;
	*bytes += 2;
	return w->total == 4 || mc_is_number(w->v[4]);
}

bool mc_is_plain(const struct mc_words *w)
{
	struct span s = w->v[0];
	uint64_t v;

	for (size_t i = 0; i < sizeof(plain_words) / sizeof(plain_words[0]); i++) {
		if (!l7_is(s, plain_words[i]))
			continue;
		if (l7_is(s, "VA"))
			return w->cnt > 1 && mc_number(w->v[1], &v) && v <= MC_VALUE_MAX;
		return true;
	}
	return w->cnt == 1 && mc_number(s, &v);
}
