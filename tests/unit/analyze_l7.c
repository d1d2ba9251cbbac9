/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes in, messages out: each tests/l7/PROTOCOL/CASE.in is a conversation, CASE.out beside it what
 * obana makes of it.
 *
 *   role client|server     who recorded; default unknown
 *   port N                 the server's
 *   datagrams              each call is one
 *   > BYTES   < BYTES      a call that sent or received this (C escapes, \xNN; a line is a call)
 *   >N BYTES               the same, only the first N bytes were kept
 *   >! N                   N bytes that were lost
 *   # ...                  comment
 *
 * Each call is a millisecond after the one before. GOLDEN=write writes the .out files anew.
 */
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../analyze/l7/l7.h"
#include "../../format/text.h"

static void show(FILE *out, struct span s)
{
	struct strbuf b = {0};

	strbuf_escape(&b, ESCAPE_TERMINAL, s);
	fprintf(out, "%s", s.len ? b.p : "-");
	strbuf_fini(&b);
}

static void show_request(FILE *out, const struct l7_message *q)
{
	show(out, q->method);
	fputc(' ', out);
	show(out, q->target);
	fprintf(out, " %llu bytes", (unsigned long long)q->size);
	if (!q->status.len)
		return;
	fputc(' ', out);
	show(out, q->status);
}

static void show_response(FILE *out, const struct l7_message *q, const struct l7_message *a)
{
	fprintf(out, "%s", q ? " -> " : "");
	show(out, a->status);
	fprintf(out, "%s %llu bytes", a->is_error ? " error" : "", (unsigned long long)a->size);
	if (q)
		fprintf(out, " after %.0f..%.0f ms", (a->first_ns - (double)q->last_ns) / 1e6,
			(a->last_ns - (double)q->last_ns) / 1e6);
}

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
	const struct l7_message *q = x->request, *a = x->response;
	FILE *out = ctx;

	fprintf(out, "%s ",
		x->paired		    ? "pair"
		: q && q->type == L7_ONEWAY ? "oneway"
		: q			    ? "request"
					    : "response");
	if ((q ? q : a)->protocol)
		fprintf(out, "%s ", (q ? q : a)->protocol);
	if (q)
		show_request(out, q);
	if (a)
		show_response(out, q, a);
	for (int i = 0; i < 2; i++) {
		const struct l7_message *m = i ? a : q;

		if (m && m->detail.len)
			fprintf(out, " %.*s", (int)m->detail.len, m->detail.p);
	}
	fputc('\n', out);
}

/* C escapes; the result is never longer than the text. */
static size_t unescape(const char *s, char *dst)
{
	size_t n = 0;

	for (; *s && *s != '\n'; s++) {
		static const char from[] = "rnt0\\", to[] = "\r\n\t\0\\";
		const char *at;

		if (*s != '\\') {
			dst[n++] = *s;
		} else if (s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
			   isxdigit((unsigned char)s[3])) {
			char hex[3] = {s[2], s[3], 0};

			dst[n++] = strtoul(hex, NULL, 16);
			s += 3;
		} else if (s[1] && (at = strchr(from, s[1]))) {
			dst[n++] = to[at - from];
			s++;
		}
	}
	return n;
}

static void feed_line(struct l7_conn *c, char *text, bool datagram, uint64_t pos[2], uint64_t *now)
{
	enum l7_dir dir = *text == '>' ? L7_SENT : L7_RECEIVED;
	unsigned long long keep = -1ULL;
	struct l7_piece piece = {.dir = dir, .pos = pos[dir], .datagram = datagram};
	char *p = text + 1, *bytes;

	*now += 1000000;
	if (*p == '!') {
		pos[dir] += strtoull(p + 1, NULL, 10);
		return;
	}
	if (isdigit((unsigned char)*p))
		keep = strtoull(p, &p, 10);
	bytes = p + (*p == ' ');
	piece.ts_ns = *now;
	piece.len = piece.data.len = unescape(bytes, bytes);
	/* A copy of its own, so that a read past the end is seen. */
	piece.data.p = memcpy(malloc(piece.len + !piece.len), bytes, piece.len);
	if (piece.data.len > keep)
		piece.data.len = keep;
	l7_conn__feed(c, &piece);
	free((void *)piece.data.p);
	pos[dir] += piece.len;
}

static void converse(FILE *in, FILE *out)
{
	struct l7_conn_opts opts = {.sink = sink, .ctx = out};
	uint64_t pos[2] = {0, 0}, now = 0;
	struct l7_conn *c = NULL;
	size_t cap = 0;
	char *line = NULL;
	bool datagrams = false;

	while (getline(&line, &cap, in) > 0) {
		if (!strncmp(line, "role ", 5))
			opts.role = line[5] == 'c' ? L7_CLIENT : L7_SERVER;
		else if (!strncmp(line, "port ", 5))
			opts.server_port = atoi(line + 5);
		else if (!strncmp(line, "datagrams", 9))
			datagrams = true;
		if (*line != '>' && *line != '<')
			continue;
		if (!c && l7_conn__new(&c, &opts))
			exit(1);
		feed_line(c, line, datagrams, pos, &now);
	}
	free(line);
	if (!c)
		return;
	l7_conn__finish(c);
	struct l7_stats st = l7_conn__stats(c);

	fprintf(out, "%s, %s: %llu paired, %llu unpaired, %llu holes, %llu bad\n",
		l7_conn__protocol(c) ? l7_conn__protocol(c)->name : "unknown",
		(const char *[]){"role unknown", "client", "server"}[l7_conn__role(c)],
		(unsigned long long)st.paired, (unsigned long long)st.unpaired,
		(unsigned long long)st.holes, (unsigned long long)st.bad);
	l7_conn__free(c);
}

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;

	if (!f)
		return strdup("");
	if (getdelim(&text, &cap, 0, f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

static int one_case(const char *in_path, bool write)
{
	char out_path[4096], *got = NULL, *want;
	FILE *in = fopen(in_path, "r"), *out;
	size_t sz;
	int bad;

	snprintf(out_path, sizeof(out_path), "%.*s.out", (int)strlen(in_path) - 3, in_path);
	out = write ? fopen(out_path, "w") : open_memstream(&got, &sz);
	if (!in || !out)
		return printf("%s: cannot open\n", in_path), 1;
	converse(in, out);
	fclose(in);
	fclose(out);
	if (write)
		return 0;
	want = read_file(out_path);
	bad = strcmp(got, want) != 0;
	if (bad)
		printf("%s\n--- expected\n%s--- got\n%s", in_path, want, got);
	free(got);
	free(want);
	return bad;
}

int main(void)
{
	const char *golden = getenv("GOLDEN");
	int failed = 0;
	glob_t g;

	if (glob("tests/l7/*/*.in", 0, NULL, &g))
		return printf("no cases\n"), 1;
	for (size_t i = 0; i < g.gl_pathc; i++)
		failed += one_case(g.gl_pathv[i], golden && !strcmp(golden, "write"));
	printf("%zu cases, %d failed\n", g.gl_pathc, failed);
	globfree(&g);
	return failed != 0;
}
