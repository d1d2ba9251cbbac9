/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion scripts for bash, zsh and fish, from the option tables. */
#include <string.h>

#include "format/option_table.h"

/* Completion of an option's argument depends on its metavar: FILE, PATH, DIR; or "a|b|c". */
static bool takes_file(const struct option_def *d)
{
	return d->metavar && (strstr(d->metavar, "FILE") || strstr(d->metavar, "PATH") ||
			      strstr(d->metavar, "DIR"));
}

static bool takes_words(const struct option_def *d)
{
	return d->metavar && strchr(d->metavar, '|') != NULL;
}

/* "a|b|c" as "a b c" */
static void words(FILE *out, const struct option_def *d)
{
	for (const char *p = d->metavar; *p; p++)
		fputc(*p == '|' ? ' ' : *p, out);
}

static const char *last_word(const struct cli *cli)
{
	const char *space = strrchr(cli->program, ' ');

	return space ? space + 1 : cli->program;
}

typedef void (*entry_fn)(FILE *out, const struct option_def *d, void *arg);

static void each_shown(const struct cli *cli, FILE *out, entry_fn fn, void *arg)
{
	const struct option_def *tables[] = {cli->options, option_builtins};

	for (int t = 0; t < 2; t++)
		for (const struct option_def *d = tables[t]; d && option_any(d); d++)
			if (d->name && d->help)
				fn(out, d, arg);
}

/* Prints s without the characters in `drop`, and with '\'' escaped for single quotes. */
static void quoted(FILE *out, const char *s, const char *drop)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", out);
		else if (!strchr(drop, *s))
			fputc(*s, out);
	}
}

/* ---- bash ---- */

static void bash_name(FILE *out, const struct option_def *d, void *arg)
{
	fprintf(out, "--%s ", d->name);
	if (d->letter)
		fprintf(out, "-%c ", d->letter);
}

static void bash_case(FILE *out, const struct option_def *d, void *arg)
{
	const char *command = arg;

	if (d->arg != ARG_REQUIRED)
		return;
	fprintf(out, "\t%s:--%s", command, d->name);
	if (d->letter)
		fprintf(out, " | %s:-%c", command, d->letter);
	fputs(") ", out);
	if (takes_file(d))
		fputs("compopt -o default; return ;;\n", out);
	else if (takes_words(d)) {
		fputs("COMPREPLY=($(compgen -W '", out);
		words(out, d);
		fputs("' -- \"$cur\")); return ;;\n", out);
	} else
		fputs("return ;;\n", out);
}

static void bash(const struct cli *const *commands, size_t cnt, FILE *out)
{
	const char *program = commands[0]->program;

	fprintf(out, "# bash completion for %s\n_%s()\n{\n", program, program);
	fputs("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=\n",
	      out);
	fputs("\tCOMPREPLY=()\n", out);
	if (cnt > 1)
		fputs("\t[ \"$COMP_CWORD\" -gt 1 ] && command=${COMP_WORDS[1]}\n", out);
	fputs("\tcase $command:$prev in\n", out);
	for (size_t i = 0; i < cnt; i++)
		each_shown(commands[i], out, bash_case, (void *)(i ? last_word(commands[i]) : ""));
	fputs("\tesac\n\tcase $command:$cur in\n", out);
	for (size_t i = 0; i < cnt; i++) {
		fprintf(out, "\t%s:-*) COMPREPLY=($(compgen -W '", i ? last_word(commands[i]) : "");
		each_shown(commands[i], out, bash_name, NULL);
		fputs("' -- \"$cur\")); return ;;\n", out);
	}
	if (cnt > 1) {
		fputs("\t:*) COMPREPLY=($(compgen -W '", out);
		for (size_t i = 1; i < cnt; i++)
			fprintf(out, "%s ", last_word(commands[i]));
		fputs("' -- \"$cur\")); return ;;\n", out);
	}
	fprintf(out, "\tesac\n\tcompopt -o default\n}\ncomplete -F _%s %s\n", program, program);
}

/* ---- zsh ---- */

static void zsh_entry(FILE *out, const struct option_def *d, void *arg)
{
	static const char drop[] = "[]:\\";
	const char *eq = d->arg == ARG_REQUIRED ? "=" : d->arg == ARG_OPTIONAL ? "=-" : "";

	for (int letter = d->letter ? 1 : 0; letter >= 0; letter--) {
		if (letter)
			fprintf(out, "\t\t'-%c%s[", d->letter, d->arg == ARG_REQUIRED ? "+" : "");
		else
			fprintf(out, "\t\t'--%s%s[", d->name, eq);
		quoted(out, d->help, drop);
		fputc(']', out);
		if (d->arg != ARG_NONE && !(letter && d->arg == ARG_OPTIONAL)) {
			fputs(d->arg == ARG_OPTIONAL ? "::" : ":", out);
			quoted(out, d->metavar ? d->metavar : "argument", drop);
			fputc(':', out);
			if (takes_file(d))
				fputs("_files", out);
			else if (takes_words(d)) {
				fputc('(', out);
				words(out, d);
				fputc(')', out);
			}
		}
		fputs("' \\\n", out);
	}
}

static void zsh(const struct cli *const *commands, size_t cnt, FILE *out)
{
	fprintf(out, "#compdef %s\n", commands[0]->program);
	if (cnt == 1) {
		fputs("_arguments \\\n", out);
		each_shown(commands[0], out, zsh_entry, NULL);
		fputs("\t\t'*:file:_files'\n", out);
		return;
	}
	fputs("if (( CURRENT == 2 )); then\n\t_values command \\\n", out);
	for (size_t i = 1; i < cnt; i++) {
		fprintf(out, "\t\t'%s[", last_word(commands[i]));
		quoted(out, commands[i]->summary ? commands[i]->summary : "", "[]:\\");
		fprintf(out, "]'%s\n", i + 1 < cnt ? " \\" : "");
	}
	fputs("\treturn\nfi\ncase $words[2] in\n", out);
	for (size_t i = 1; i < cnt; i++) {
		fprintf(out, "%s)\n\tshift words; (( CURRENT-- ))\n\t_arguments \\\n",
			last_word(commands[i]));
		each_shown(commands[i], out, zsh_entry, NULL);
		fputs("\t\t'*:archive:_files' ;;\n", out);
	}
	fputs("esac\n", out);
}

/* ---- fish ---- */

struct fish_where {
	const char *program;
	const char *condition;
	const char *command; /* NULL: the program itself */
};

static void fish_entry(FILE *out, const struct option_def *d, void *arg)
{
	const struct fish_where *w = arg;

	fprintf(out, "complete -c %s", w->program);
	if (w->command)
		fprintf(out, " -n '__fish_seen_subcommand_from %s'", w->command);
	else if (w->condition)
		fprintf(out, " -n '%s'", w->condition);
	fprintf(out, " -l %s", d->name);
	if (d->letter)
		fprintf(out, " -s %c", d->letter);
	if (d->arg == ARG_REQUIRED)
		fputs(takes_file(d) ? " -r -F" : " -x", out);
	if (takes_words(d)) {
		fputs(" -a '", out);
		words(out, d);
		fputc('\'', out);
	}
	fputs(" -d '", out);
	for (const char *p = d->help; *p; p++) {
		if (*p == '\'' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
	fputs("'\n", out);
}

static void fish(const struct cli *const *commands, size_t cnt, FILE *out)
{
	struct fish_where w = {commands[0]->program, cnt > 1 ? "__fish_use_subcommand" : NULL,
			       NULL};

	each_shown(commands[0], out, fish_entry, &w);
	for (size_t i = 1; i < cnt; i++) {
		w.command = last_word(commands[i]);
		fprintf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d '", w.program,
			w.command);
		quoted(out, commands[i]->summary ? commands[i]->summary : "", "'\\");
		fputs("'\n", out);
		each_shown(commands[i], out, fish_entry, &w);
	}
}

void cli_completion(const struct cli *const *commands, size_t cnt, const char *shell, FILE *out)
{
	if (!strcmp(shell, "bash"))
		bash(commands, cnt, out);
	else if (!strcmp(shell, "zsh"))
		zsh(commands, cnt, out);
	else
		fish(commands, cnt, out);
}
