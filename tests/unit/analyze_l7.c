/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes in, messages out: each tests/l7/PROTOCOL/CASE.in is a conversation, CASE.out beside it what
 * obana makes of it.
 *
 *   role client|server     who recorded; default unknown
 *   port N                 the server's
 *   datagrams              each call is one
 *   open                   when the recording ends, too
 *   arg METHOD PATH NAME   as --thrift-arg METHOD:PATH=NAME
 *   also NAME              for analyze_l7_cross.c: a part of it may be this, too
 *   > BYTES   < BYTES      a call that sent or received this (C escapes, \xNN; a line is a call)
 *   >N BYTES               the same, only the first N bytes were kept
 *   >! N                   N bytes that were lost
 *   # ...                  comment
 *
 * Each call is a millisecond after the one before. GOLDEN=write writes the .out files anew.
 */
#include <glob.h>

#include "format/text.h"
#include "l7_case.h"

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

static void converse(const char *path, FILE *out)
{
	struct l7_case k;
	struct l7_conn *c;

	if (!l7_case_read(&k, path))
		exit(1);
	const struct l7_conn_opts opts = {.sink = sink,
					  .ctx = out,
					  .role = k.role,
					  .server_port = k.port,
					  .open = k.open,
					  .args = k.args,
					  .arg_cnt = k.arg_cnt};

	if (l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = 0; i < k.cnt; i++)
		if (!k.v[i].lost)
			l7_conn__feed(c, &k.v[i].piece);
	l7_conn__finish(c);
	struct l7_stats st = l7_conn__stats(c);

	fprintf(out, "%s, %s: %llu paired, %llu unpaired, %llu holes, %llu bad\n",
		l7_conn__protocol(c) ? l7_conn__protocol(c)->name : "unknown",
		(const char *[]){"role unknown", "client", "server"}[l7_conn__role(c)],
		(unsigned long long)st.paired, (unsigned long long)st.unpaired,
		(unsigned long long)st.holes, (unsigned long long)st.bad);
	l7_conn__free(c);
	l7_case_fini(&k);
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
	FILE *out;
	size_t sz;
	int bad;

	snprintf(out_path, sizeof(out_path), "%.*s.out", (int)strlen(in_path) - 3, in_path);
	out = write ? fopen(out_path, "w") : open_memstream(&got, &sz);
	if (!out)
		return printf("%s: cannot open\n", out_path), 1;
	converse(in_path, out);
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

/* The list names the protocols as their parsers do: completion offers these names. */
static int names_that_differ(void)
{
	static const char *const shown[] = {
#define PROTOCOL(name, shown) shown,
#include "format/protocols.def"
#undef PROTOCOL
	};
	int failed = 0;

	for (size_t i = 0; l7_protocols[i]; i++)
		if (strcmp(l7_protocols[i]->name, shown[i]))
			failed += printf("'%s' is listed as '%s'\n", l7_protocols[i]->name,
					 shown[i]) > 0;
	return failed;
}

int main(void)
{
	const char *golden = getenv("GOLDEN");
	int failed = names_that_differ();
	glob_t g;

	if (glob("tests/l7/*/*.in", 0, NULL, &g))
		return printf("no cases\n"), 1;
	for (size_t i = 0; i < g.gl_pathc; i++)
		failed += one_case(g.gl_pathv[i], golden && !strcmp(golden, "write"));
	printf("%zu cases, %d failed\n", g.gl_pathc, failed);
	globfree(&g);
	return failed != 0;
}
