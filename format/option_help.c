/* SPDX-License-Identifier: BSD-2-Clause */
/* --help and the manual page, from the option table. */
#include <string.h>

#include "format/option_table.h"
#include "version.h"

enum { HELP_COLUMN = 30, HELP_WIDTH = 90 };

/* Prints `len` bytes of text, wrapped, with every line starting at column `from`. */
static void wrap(FILE *out, const char *text, size_t len, int from)
{
	const char *end = text + len;
	int at = from;

	while (text < end) {
		int word = strcspn(text, " \n");

		if (at > from && at + 1 + word > HELP_WIDTH) {
			fprintf(out, "\n%*s", from, "");
			at = from;
		}
		at += fprintf(out, "%s%.*s", at > from ? " " : "", word, text);
		text += word;
		text += strspn(text, " \n");
	}
	fputc('\n', out);
}

void option_wrap(FILE *out, const char *text, int from)
{
	wrap(out, text, strlen(text), from);
}

/* "-d, --duration DURATION", "--flamegraph[=FILE]" */
static int names(FILE *out, const struct option_def *d)
{
	int n = d->letter ? fprintf(out, "    -%c, ", d->letter) : fprintf(out, "        ");

	n += fprintf(out, "--%s", d->name);
	if (d->arg == ARG_REQUIRED)
		n += fprintf(out, " %s", d->metavar ? d->metavar : "ARG");
	else if (d->arg == ARG_OPTIONAL)
		n += fprintf(out, "[=%s]", d->metavar ? d->metavar : "ARG");
	return n;
}

static void help_entry(FILE *out, const struct option_def *d)
{
	int n;

	if (!d->help)
		return;
	if (!d->name) {
		fprintf(out, "\n  %s\n", d->help);
		return;
	}
	n = names(out, d);
	if (n > HELP_COLUMN - 2) {
		fputc('\n', out);
		n = 0;
	}
	fprintf(out, "%*s", HELP_COLUMN - n, "");
	wrap(out, d->help, strlen(d->help), HELP_COLUMN);
}

/* A built-in option without its letter when the program uses that letter. */
static struct option_def builtin_of(const struct cli *cli, const struct option_def *b)
{
	struct option_def d = *b;

	for (const struct option_def *o = cli->options; o && option_any(o); o++)
		if (o->letter == d.letter)
			d.letter = 0;
	return d;
}

static const char *command_name(const struct cli *cli)
{
	const char *space = strrchr(cli->program, ' ');

	return space ? space + 1 : cli->program;
}

/* Prints the synopsis, which has one line per form of the command. */
static void usage(FILE *out, const struct cli *cli)
{
	const char *p = cli->synopsis ? cli->synopsis : "";
	const char *lead = "usage:";

	do {
		int len = strcspn(p, "\n");

		fprintf(out, "%s %s %.*s\n", lead, cli->program, len, p);
		lead = "      ";
		p += len + (p[len] == '\n');
	} while (*p);
}

/* Paragraphs are wrapped; lines that begin with a space are examples. */
static void help_details(FILE *out, const char *p)
{
	fputc('\n', out);
	while (*p) {
		size_t len = strcspn(p, "\n");

		if (*p == ' ')
			fprintf(out, "%.*s\n", (int)len, p);
		else
			wrap(out, p, len, 0);
		p += len + (p[len] == '\n');
	}
}

void cli_help(const struct cli *cli, FILE *out)
{
	usage(out, cli);
	if (cli->summary)
		fprintf(out, "\n%s\n", cli->summary);
	if (cli->commands) {
		fprintf(out, "\n  Commands\n");
		for (const struct cli *const *c = cli->commands; *c; c++) {
			int n = fprintf(out, "    %s", command_name(*c));
			const char *help;

			fprintf(out, "%*s", n < HELP_COLUMN ? HELP_COLUMN - n : 1, "");
			help = (*c)->summary ? (*c)->summary : "";
			wrap(out, help, strlen(help), HELP_COLUMN);
		}
	}
	if (!cli->options || cli->options->name) /* a heading prints its own blank line */
		fputc('\n', out);
	for (const struct option_def *d = cli->options; d && option_any(d); d++)
		help_entry(out, d);
	for (const struct option_def *b = option_builtins; b->name; b++) {
		struct option_def d = builtin_of(cli, b);

		help_entry(out, &d);
	}
	if (cli->details)
		help_details(out, cli->details);
}

/* ---- manual page (man(7)) ---- */

/* Prints text escaped for roff. Lines starting with '.' or '\'' are protected. */
static void roff(FILE *out, const char *s, size_t len, bool line_start)
{
	for (size_t i = 0; i < len; i++) {
		if (line_start && (s[i] == '.' || s[i] == '\''))
			fputs("\\&", out);
		line_start = s[i] == '\n';
		if (s[i] == '\\')
			fputs("\\e", out);
		else if (s[i] == '-')
			fputs("\\-", out);
		else
			fputc(s[i], out);
	}
}

static void roff_text(FILE *out, const char *s)
{
	roff(out, s, strlen(s), true);
}

static void man_entry(FILE *out, const struct option_def *d)
{
	if (!d->help)
		return;
	if (!d->name) {
		fputs(".SS ", out);
		roff_text(out, d->help);
		fputc('\n', out);
		return;
	}
	fputs(".TP\n", out);
	if (d->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", d->letter);
	fputs("\\fB\\-\\-", out);
	roff(out, d->name, strlen(d->name), false);
	fputs("\\fR", out);
	if (d->arg != ARG_NONE) {
		const char *m = d->metavar ? d->metavar : "ARG";

		fputs(d->arg == ARG_OPTIONAL ? "[=\\fI" : " \\fI", out);
		roff(out, m, strlen(m), false);
		fputs(d->arg == ARG_OPTIONAL ? "\\fR]" : "\\fR", out);
	}
	fputc('\n', out);
	roff_text(out, d->help);
	fputc('\n', out);
}

/* "- item" */
static void man_item(FILE *out, const char *p, size_t len)
{
	fputs(".IP \\(bu 2\n", out);
	roff(out, p + 2, len - 2, true);
	fputc('\n', out);
}

/* "tag\ttext" */
static void man_tagged(FILE *out, const char *p, size_t tag, size_t len)
{
	fputs(".TP\n\\fB", out);
	roff(out, p, tag, false);
	fputs("\\fR\n", out);
	roff(out, p + tag + 1, len - tag - 1, true);
	fputc('\n', out);
}

/* Text of a section (struct man_section); paragraphs are separated by blank lines. */
static void man_details(FILE *out, const char *p)
{
	bool example = false, listed = false;

	while (*p) {
		size_t len = strcspn(p, "\n"), tag = strcspn(p, "\t\n");
		bool indented = *p == ' ', item = len > 2 && p[0] == '-' && p[1] == ' ';

		if (indented != example && len)
			fputs(indented ? ".PP\n.EX\n" : ".EE\n.PP\n", out);
		else if (listed && len && !item && tag == len)
			fputs(".PP\n", out);
		if (len) {
			example = indented;
			listed = item || tag < len;
		}
		if (item) {
			man_item(out, p, len);
		} else if (tag < len) {
			man_tagged(out, p, tag, len);
		} else if (!len && !example) {
			fputs(listed ? "" : ".PP\n", out);
		} else {
			roff(out, p, len, true);
			fputc('\n', out);
		}
		p += len + (p[len] == '\n');
	}
	if (example)
		fputs(".EE\n", out);
}

static void man_section(FILE *out, const struct man_section *s)
{
	fprintf(out, ".SH %s\n", s->title);
	man_details(out, s->text);
}

static void man_synopsis(FILE *out, const struct cli *cli)
{
	const char *p = cli->synopsis ? cli->synopsis : "";

	do {
		size_t len = strcspn(p, "\n");

		fputs("\\fB", out);
		roff(out, cli->program, strlen(cli->program), false);
		fputs("\\fR ", out);
		roff(out, p, len, false);
		fputs("\n.br\n", out);
		p += len + (p[len] == '\n');
	} while (*p);
}

static void man_options(FILE *out, const struct cli *cli, bool builtins)
{
	for (const struct option_def *d = cli->options; d && option_any(d); d++)
		man_entry(out, d);
	for (const struct option_def *b = option_builtins; builtins && b->name; b++) {
		struct option_def d = builtin_of(cli, b);

		man_entry(out, &d);
	}
}

void cli_man(const struct cli *const *commands, size_t cnt, FILE *out)
{
	const struct cli *top = commands[0];

	fputs(".TH ", out);
	for (const char *p = top->program; *p; p++)
		fputc(*p >= 'a' && *p <= 'z' ? *p - 32 : *p, out);
	fprintf(out, " 1 \"\" \"%s %s\" \"User Commands\"\n.SH NAME\n", top->program,
		OBREC_VERSION);
	fprintf(out, "%s \\- ", top->program);
	roff_text(out, top->summary ? top->summary : "");
	fputs("\n.SH SYNOPSIS\n", out);
	man_synopsis(out, top);
	if (top->details) {
		fputs(".SH DESCRIPTION\n", out);
		man_details(out, top->details);
	}
	fputs(".SH OPTIONS\n", out);
	man_options(out, top, true);
	if (cnt > 1)
		fputs(".SH COMMANDS\n", out);
	for (size_t i = 1; i < cnt; i++) {
		fprintf(out, ".SS %s\n", command_name(commands[i]));
		man_synopsis(out, commands[i]);
		roff_text(out, commands[i]->summary ? commands[i]->summary : "");
		fputs("\n.PP\n", out);
		if (commands[i]->details)
			man_details(out, commands[i]->details);
		man_options(out, commands[i], false);
	}
	if (top->exit_status)
		man_section(out, &(struct man_section){"EXIT STATUS", top->exit_status});
	for (const struct man_section *s = top->sections; s && s->title; s++)
		man_section(out, s);
}
