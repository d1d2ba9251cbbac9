/* SPDX-License-Identifier: BSD-2-Clause */
/* Command line parser. Works like getopt_long, from the table that also provides the help texts. */
#include "format/option.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/option_table.h"
#include "format/text.h"
#include "version.h"

const char cli_exit_status[] = "0\tsuccess\n"
			       "1\tfailure\n"
			       "2\tusage error\n"
			       "3\tusable result, but the archive is truncated or partly corrupt; "
			       "counted event losses do not cause this status\n"
			       "4\tmissing privilege or kernel support, named in the message\n";

enum builtin { BUILTIN_HELP = 1, BUILTIN_VERSION, BUILTIN_MAN, BUILTIN_COMPLETION };

/* The hidden options are for packagers: `make install` uses them. */
const struct option_def option_builtins[] = {
	{"help", 'h', ARG_NONE, NULL, "show this help", NULL, BUILTIN_HELP},
	{"version", 'V', ARG_NONE, NULL, "show the version", NULL, BUILTIN_VERSION},
	{"man", 0, ARG_NONE, NULL, NULL, NULL, BUILTIN_MAN},
	{"completion", 0, ARG_REQUIRED, "bash|zsh|fish", NULL, NULL, BUILTIN_COMPLETION},
	{0},
};

int option_error(const struct option_def *def, const char *fmt, ...)
{
	va_list ap;
	char *p = NULL;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) >= 0)
		message_error("--%s: %s", def->name, p);
	va_end(ap);
	free(p);
	return -EINVAL;
}

const char *option_next_word(const char **at, size_t *len)
{
	const char *word = *at + strspn(*at, ", |");

	*len = strcspn(word, ", |");
	*at = word + *len;
	return *len ? word : NULL;
}

int option_choice(const struct option_def *def, const char *word, size_t len)
{
	const char *at = def->values, *value;
	size_t n;

	for (int i = 0; (value = option_next_word(&at, &n)); i++)
		if (n == len && !memcmp(value, word, len))
			return i;
	return option_error(def, "'%.*s' is none of %s", (int)len, word, def->values);
}

struct parse {
	const struct cli *cli;
	void *ctx;
	int argc, at; /* at: index of the current argument */
	char **argv;
};

static const struct option_def *by_letter(const struct option_def *table, char letter)
{
	for (const struct option_def *d = table; d && option_any(d); d++)
		if (d->letter == letter)
			return d;
	return NULL;
}

/* The option named name[0..len), or else the only one with that prefix. *many is set when several
 * have the prefix. Hidden options cannot be abbreviated. */
static const struct option_def *by_name(const struct cli *cli, const char *name, size_t len,
					bool *many)
{
	const struct option_def *tables[] = {cli->options, option_builtins}, *found = NULL;
	size_t cnt = 0;

	for (int t = 0; t < 2; t++)
		for (const struct option_def *d = tables[t]; d && option_any(d); d++) {
			if (!d->name || strncmp(d->name, name, len))
				continue;
			if (!d->name[len])
				return d;
			if (d->help) {
				found = d;
				cnt++;
			}
		}
	*many = cnt > 1;
	return cnt == 1 ? found : NULL;
}

static int usage_error(const struct parse *p, const char *what, const char *name, int len)
{
	message_error("%s '%.*s'; see %s --help", what, len, name, p->cli->program);
	return -EINVAL;
}

/* The program and its commands as one list, malloc'ed. */
static const struct cli **list_of(const struct cli *cli, size_t *cnt)
{
	const struct cli **list;
	size_t n = 0;

	while (cli->commands && cli->commands[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	list[0] = cli;
	for (size_t i = 0; i < n; i++)
		list[i + 1] = cli->commands[i];
	*cnt = n + 1;
	return list;
}

static int answer(const struct parse *p, const struct option_def *def, const char *arg)
{
	const struct cli **list;
	size_t cnt;

	if (def->data == BUILTIN_COMPLETION && strcmp(arg, "bash") && strcmp(arg, "zsh") &&
	    strcmp(arg, "fish"))
		return option_error(def, "'%s' is none of bash, zsh, fish", arg);
	list = list_of(p->cli, &cnt);
	if (!list)
		return -ENOMEM;
	switch ((enum builtin)def->data) {
	case BUILTIN_HELP:
		cli_help(p->cli, stdout);
		break;
	case BUILTIN_VERSION:
		printf("%.*s %s\n", (int)strcspn(p->cli->program, " "), p->cli->program,
		       OBREC_VERSION);
		break;
	case BUILTIN_MAN:
		cli_man(list, cnt, stdout);
		break;
	case BUILTIN_COMPLETION:
		cli_completion(list, cnt, arg, stdout);
		break;
	}
	free(list);
	return fflush(stdout) || ferror(stdout) ? -EIO : 1;
}

static int apply(const struct parse *p, const struct option_def *def, const char *arg)
{
	for (const struct option_def *b = option_builtins; b->name; b++)
		if (b == def)
			return answer(p, def, arg);
	return def->set(p->ctx, def, arg);
}

static int parse_long(struct parse *p, const char *s)
{
	const char *eq = strchr(s, '=');
	size_t len = eq ? (size_t)(eq - s) : strlen(s);
	const struct option_def *def;
	const char *arg = eq ? eq + 1 : NULL;
	bool many = false;

	def = len ? by_name(p->cli, s, len, &many) : NULL;
	if (!def)
		return usage_error(p, many ? "ambiguous option" : "unknown option", s - 2, len + 2);
	if (def->arg == ARG_NONE && arg)
		return option_error(def, "takes no argument");
	if (def->arg == ARG_REQUIRED && !arg) {
		if (p->at + 1 >= p->argc)
			return option_error(def, "needs %s",
					    def->metavar ? def->metavar : "an argument");
		arg = p->argv[++p->at];
	}
	return apply(p, def, arg);
}

/* "-qv", "-d10s", "-d 10s"; an optional argument is the rest of the word. */
static int parse_letters(struct parse *p, const char *s)
{
	for (; *s; s++) {
		const struct option_def *def = by_letter(p->cli->options, *s);
		const char *arg = NULL;
		int err;

		if (!def)
			def = by_letter(option_builtins, *s);
		if (!def) {
			char name[] = {'-', *s, 0};

			return usage_error(p, "unknown option", name, 2);
		}
		if (def->arg != ARG_NONE && s[1])
			arg = s + 1;
		else if (def->arg == ARG_REQUIRED) {
			if (p->at + 1 >= p->argc)
				return option_error(def, "needs %s",
						    def->metavar ? def->metavar : "an argument");
			arg = p->argv[++p->at];
		}
		err = apply(p, def, arg);
		if (err || arg)
			return err;
	}
	return 0;
}

/* Moves argv[from] to `to` <= from; the arguments between move up by one. */
static void rotate(char **argv, int to, int from)
{
	char *moved = argv[from];

	memmove(&argv[to + 1], &argv[to], (from - to) * sizeof(*argv));
	argv[to] = moved;
}

int cli_parse(const struct cli *cli, void *ctx, int argc, char **argv, bool permute, int *rest,
	      bool *after_dashes)
{
	struct parse p = {.cli = cli, .ctx = ctx, .argc = argc, .at = 1, .argv = argv};
	int options = 1; /* argv[1..options) are options already parsed; operands follow */
	bool dashes = false;
	int err = 0;

	for (; p.at < argc && !dashes && !err; p.at++) {
		const char *s = argv[p.at];
		int first = p.at;

		if (s[0] != '-' || !s[1]) {
			if (!permute)
				break;
			continue;
		}
		if (!strcmp(s, "--"))
			dashes = true;
		else
			err = s[1] == '-' ? parse_long(&p, s + 2) : parse_letters(&p, s + 1);
		for (int i = first; !err && i <= p.at; i++)
			rotate(argv, options++, i);
	}
	if (rest)
		*rest = options;
	if (after_dashes)
		*after_dashes = dashes;
	return err;
}
